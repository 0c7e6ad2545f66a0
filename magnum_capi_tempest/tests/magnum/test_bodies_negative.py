# SPDX-License-Identifier: Apache-2.0

"""Bodies that are no JSON, parameters of lists, and what does not exist.

:mod:`.common.negative.bad_input` has them. The bodies refer to nothing that
exists: one that is wrongly accepted gets a 404.
"""

import collections.abc
import functools
import typing

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.services import base_client
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

_NOBODY = bad_input.NOBODY

#: Clients by HTTP method and URL.
Targets: typing.TypeAlias = dict[tuple[str, str], base_client.MagnumClient]


class BodiesNegativeTest(base.BaseMagnumCapiTest):

    # The highest microversion that added one of the resources.
    min_microversion = '1.9'
    uses_templates = False
    objects: Targets
    patches: Targets

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.objects = {
            ('POST', 'clustertemplates'): cls.magnum.templates,
            ('POST', 'clusters'): cls.magnum.clusters,
            ('POST', f'clusters/{_NOBODY}/actions/resize'):
                cls.magnum.clusters,
            ('POST', f'clusters/{_NOBODY}/actions/upgrade'):
                cls.magnum.clusters,
            ('POST', f'clusters/{_NOBODY}/nodegroups'):
                cls.magnum.nodegroups,
            ('POST', 'certificates'): cls.magnum.certificates,
        }
        cls.patches = {
            ('PATCH', f'clustertemplates/{_NOBODY}'): cls.magnum.templates,
            ('PATCH', f'clusters/{_NOBODY}'): cls.magnum.clusters,
            ('PATCH', f'clusters/{_NOBODY}/nodegroups/{_NOBODY}'):
                cls.magnum.nodegroups,
        }

    def cases(self, kind: str, targets: Targets,
              bodies: collections.abc.Mapping[str, str | bytes],
              headers: dict[str, str] | None = None
              ) -> collections.abc.Iterator[refusals.Case]:
        """Yield the cases of all bodies for all targets."""
        for target, client in targets.items():
            for name, text in bodies.items():
                yield (' '.join(target), kind, name,
                       functools.partial(client.send_text, *target, text,
                                         headers=headers))

    @decorators.idempotent_id('b8a72108-e28e-48d4-9123-339dcb530bfd')
    @decorators.attr(type='negative')
    def test_every_body(self) -> None:
        everything = {**self.objects, **self.patches}
        targets = {
            'body': everything, 'depth': everything,
            'no object': self.objects, 'no patch': self.patches,
            'empty object': self.objects}
        refusals.assert_refused_all(self, [
            case for kind, bodies in bad_input.BODIES.items()
            for case in self.cases(kind, targets[kind], bodies)])

    @decorators.idempotent_id('a8a07015-2893-420b-abf3-499f344463cb')
    @decorators.attr(type='negative')
    def test_another_content_type(self) -> None:
        refusals.assert_refused_all(self, [
            case for name, text in bad_input.CONTENT.items()
            for case in self.cases(
                'content type', {**self.objects, **self.patches},
                {name: text}, {'Content-Type': name})])


class ListsNegativeTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'alt']

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.require_project('alt', own=False)

    @decorators.idempotent_id('2bab16cd-d2e0-46eb-9c55-ecd15f12e7b7')
    @decorators.attr(type='negative')
    def test_every_parameter(self) -> None:
        clusters, templates = self.magnum.clusters, self.magnum.templates
        refusals.assert_refused_all(self, [
            *refusals.of_parameters(
                'clusters', clusters.list_clusters, bad_input.PARAMETERS),
            *refusals.of_parameters(
                'details of clusters', clusters.list_clusters_detail,
                bad_input.PARAMETERS),
            *refusals.of_parameters(
                'templates', templates.list_cluster_templates,
                bad_input.PARAMETERS),
            *refusals.of_parameters(
                'details of templates',
                templates.list_cluster_templates_detail,
                bad_input.PARAMETERS)])

    @decorators.idempotent_id('ee5baaf2-bb92-48e4-b171-182a9b4675ba')
    @decorators.attr(type='negative')
    def test_a_marker_of_another_project(self) -> None:
        template = self.create_template()
        other = factories.Magnum(self.os_alt, self.microversion)

        self.assertRaises(
            lib_exc.NotFound, other.templates.list_cluster_templates,
            marker=template['uuid'])


class NothingThereTest(base.BaseMagnumCapiTest):

    # Resize came with 1.7.
    min_microversion = '1.7'
    uses_templates = False

    @decorators.idempotent_id('8d9cff3f-5cc4-4dc9-9721-77e331ae2b80')
    @decorators.attr(type=['smoke', 'negative'])
    def test_every_request(self) -> None:
        templates, clusters = self.magnum.templates, self.magnum.clusters
        certificates = self.magnum.certificates
        patch = [{'op': 'replace', 'path': '/name', 'value': 'other'}]
        resize = [{'op': 'replace', 'path': '/node_count', 'value': 2}]
        name = self.rand_name('nobody')
        refusals.assert_refused_all(self, [
            (what, 'nothing there', ident,
             functools.partial(ask, ident))
            for what, ask, *idents in (
                ('show template', templates.show_cluster_template, name),
                ('update template', lambda ident: (
                    templates.update_cluster_template(ident, patch)), name),
                ('delete template', templates.delete_cluster_template, name),
                ('show cluster', clusters.show_cluster),
                ('update cluster', lambda ident: (
                    clusters.update_cluster(ident, resize))),
                ('resize cluster', lambda ident: (
                    clusters.resize_cluster(ident, node_count=2))),
                ('delete cluster', clusters.delete_cluster),
                ('show CA certificate', certificates.show_ca_certificate,
                 name),
                ('rotate CA certificate',
                 certificates.rotate_ca_certificate))
            for ident in (_NOBODY, *idents)], expected=bad_input.MISSING)
