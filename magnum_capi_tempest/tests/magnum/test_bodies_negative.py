# SPDX-License-Identifier: Apache-2.0

"""Bodies that are no JSON, or unexpected JSON, and parameters of lists.

:mod:`.common.negative.bad_input` has them. The bodies refer to nothing that
exists: one that is wrongly accepted gets a 404.
"""

from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals

_NOBODY = bad_input.NOBODY


class BodiesNegativeTest(base.BaseMagnumCapiTest):

    # The highest microversion that added one of the resources.
    min_microversion = '1.9'
    # Members cannot set quotas, whatever the body.
    credentials = ['primary', 'admin']
    required_options = ()

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        #: (HTTP method, URL) -> client.
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
            ('POST', 'quotas'): cls.admin_magnum.quotas,
            ('PATCH', f'quotas/{_NOBODY}/Cluster'): cls.admin_magnum.quotas,
        }
        cls.patches = {
            ('PATCH', f'clustertemplates/{_NOBODY}'): cls.magnum.templates,
            ('PATCH', f'clusters/{_NOBODY}'): cls.magnum.clusters,
            ('PATCH', f'clusters/{_NOBODY}/nodegroups/{_NOBODY}'):
                cls.magnum.nodegroups,
        }

    def cases(self, kind, targets, bodies, headers=None):
        """Yield the cases of all bodies for all targets."""
        for target, client in targets.items():
            for name, text in bodies.items():
                yield (' '.join(target), kind, name,
                       lambda client=client, target=target, text=text:
                       client.send_text(*target, text, headers=headers))

    @decorators.idempotent_id('b8a72108-e28e-48d4-9123-339dcb530bfd')
    @decorators.attr(type='negative')
    def test_every_body(self):
        everything = {**self.objects, **self.patches}
        targets = {
            'body': everything, 'depth': everything,
            'no object': self.objects, 'no patch': self.patches,
            # All fields of a quota have defaults.
            'empty object': {
                target: client for target, client in self.objects.items()
                if not target[1].startswith('quotas/')}}
        refusals.assert_refused_all(self, [
            case for kind, bodies in bad_input.BODIES.items()
            for case in self.cases(kind, targets[kind], bodies)])

    @decorators.idempotent_id('a8a07015-2893-420b-abf3-499f344463cb')
    @decorators.attr(type='negative')
    def test_another_content_type(self):
        refusals.assert_refused_all(self, [
            case for name, text in bad_input.CONTENT.items()
            for case in self.cases(
                'content type', {**self.objects, **self.patches},
                {name: text}, {'Content-Type': name})])


class ListsNegativeTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'alt']

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.require_project('alt', own=False)

    @decorators.idempotent_id('2bab16cd-d2e0-46eb-9c55-ecd15f12e7b7')
    @decorators.attr(type='negative')
    def test_every_parameter(self):
        clusters, templates = self.magnum.clusters, self.magnum.templates
        refusals.assert_refused_all(self, [
            (name, 'parameter', f'{key}={value!a}',
             lambda ask=ask, key=key, value=value: ask(**{key: value}))
            for name, ask in (
                ('clusters', clusters.list_clusters),
                ('details of clusters', clusters.list_clusters_detail),
                ('templates', templates.list_cluster_templates),
                ('details of templates',
                 templates.list_cluster_templates_detail))
            for key, value in bad_input.PARAMETERS])

    @decorators.idempotent_id('ee5baaf2-bb92-48e4-b171-182a9b4675ba')
    @decorators.attr(type='negative')
    def test_a_marker_of_another_project(self):
        template = self.create_template()
        other = factories.Magnum(self.os_alt, self.microversion)

        self.assertRaises(
            lib_exc.NotFound, other.templates.list_cluster_templates,
            marker=template['uuid'])


class QuotaListsNegativeTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.6'
    required_options = ()

    @decorators.idempotent_id('ed8a91a7-260a-4497-b5d1-f33bf4c89af7')
    @decorators.attr(type='negative')
    def test_parameters(self):
        refusals.assert_refused_all(self, [
            ('quotas', 'parameter', f'{key}={value}',
             lambda key=key, value=value:
             self.admin_magnum.quotas.list_quotas(**{key: value}))
            for key, value in (
                ('limit', '0'), ('limit', 'one'), ('marker', 'one'),
                ('marker', 2 ** 31 - 1), ('marker', 2 ** 64),
                ('sort_key', 'colour'), ('sort_dir', 'up'),
                ('all_tenants', 'maybe'), ('colour', 'blue'))])
