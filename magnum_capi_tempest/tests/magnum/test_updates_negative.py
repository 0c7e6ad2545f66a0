# SPDX-License-Identifier: Apache-2.0

"""Updates that must be refused, and requests about what does not exist.

:mod:`.common.negative.bad_input` has the operations. Updates of clusters and
node groups are in :mod:`.test_living_cluster`.
"""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import refusals


class ClusterTemplateUpdatesNegativeTest(base.BaseMagnumCapiTest):

    @classmethod
    def resource_setup(cls):
        super().resource_setup()
        cls.template = cls.magnum.templates.show_cluster_template(
            cls.create_class_template(labels={'one': 'two'})['uuid'])

    def update(self, *operations):
        return self.magnum.templates.update_cluster_template(
            self.template['uuid'], [
                dict(zip(('op', 'path', 'value'), operation))
                for operation in operations])

    def assert_unchanged(self):
        self.assertEqual(
            self.template, self.magnum.templates.show_cluster_template(
                self.template['uuid']))

    @decorators.idempotent_id('2a7c2e3b-ca5f-46d9-b3bd-c5a901600a4a')
    @decorators.attr(type='negative')
    def test_every_operation(self):
        refusals.assert_refused_all(self, [
            ('cluster template update', kind, ' '.join(map(repr, operation)),
             lambda operation=operation: self.update(operation))
            for kind, operations in bad_input.UPDATES.items()
            for operation in operations])
        self.assert_unchanged()

    @decorators.idempotent_id('ea693415-98b9-404f-ac8e-1295bebe4f4a')
    @decorators.attr(type='negative')
    def test_all_of_it_is_refused_when_a_part_is(self):
        self.assertRaises(
            lib_exc.BadRequest, self.update,
            ('replace', '/tags', 'one'), ('replace', '/colour', 'blue'))
        self.assert_unchanged()

    @decorators.idempotent_id('45fdd91c-85d9-448b-94be-3d88e23ed952')
    @decorators.attr(type='negative')
    def test_member_does_not_publish(self):
        self.assertRaises(
            lib_exc.Forbidden, self.update, ('replace', '/public', 'true'))

    @decorators.idempotent_id('965290fc-f862-4620-82b3-f2eb9776b13a')
    @decorators.attr(type='negative')
    def test_member_does_not_hide(self):
        self.assertRaises(
            lib_exc.Forbidden, self.update, ('replace', '/hidden', 'true'))

    @decorators.idempotent_id('d991a283-ce97-4307-9c83-b139af5ef71f')
    @decorators.attr(type='negative')
    def test_a_name_of_two_is_none(self):
        name = self.rand_name('twin')
        for _ in range(2):
            self.create_template(name=name)
        templates = self.magnum.templates

        for ask in (templates.show_cluster_template,
                    templates.delete_cluster_template,
                    lambda ident: templates.update_cluster_template(
                        ident, [{'op': 'replace', 'path': '/tags',
                                 'value': 'one'}])):
            self.assertRaises(lib_exc.Conflict, ask, name)


class NothingThereTest(base.BaseMagnumCapiTest):

    # Resize came with 1.7.
    min_microversion = '1.7'
    required_options = ()

    def assert_not_found(self, asks):
        """Assert that all requests are answered with 404.

        :param asks: (method of a client, arguments...) each.
        """
        accepted = []
        for ask, *args in asks:
            try:
                ask(*args)
            except lib_exc.NotFound:
                continue
            accepted.append(f'{ask.__name__}{tuple(args)}')
        self.assertEqual([], accepted)

    @decorators.idempotent_id('8d9cff3f-5cc4-4dc9-9721-77e331ae2b80')
    @decorators.attr(type=['smoke', 'negative'])
    def test_cluster_template(self):
        own = self.magnum.templates
        rename = [{'op': 'replace', 'path': '/name', 'value': 'other'}]
        self.assert_not_found(
            request for ident in (data_utils.rand_uuid(),
                                  self.rand_name('nobody'))
            for request in (
                (own.show_cluster_template, ident),
                (own.update_cluster_template, ident, rename),
                (own.delete_cluster_template, ident)))

    @decorators.idempotent_id('6f44a07b-6714-4151-b973-601250e83f06')
    @decorators.attr(type=['smoke', 'negative'])
    def test_cluster(self):
        own, ident = self.magnum.clusters, data_utils.rand_uuid()
        resize = [{'op': 'replace', 'path': '/node_count', 'value': 2}]
        self.assert_not_found((
            (own.show_cluster, ident), (own.update_cluster, ident, resize),
            (lambda ident: own.resize_cluster(ident, node_count=2), ident),
            (own.delete_cluster, ident)))

    @decorators.idempotent_id('ebd61a1c-b78b-401c-814e-094c89f70d56')
    @decorators.attr(type='negative')
    def test_certificates(self):
        own = self.magnum.certificates
        self.assert_not_found((
            (own.show_ca_certificate, data_utils.rand_uuid()),
            (own.show_ca_certificate, self.rand_name('nobody')),
            (own.rotate_ca_certificate, data_utils.rand_uuid())))


class NoQuotaTest(base.BaseMagnumCapiTest):

    credentials = ['primary', 'admin']
    min_microversion = '1.6'
    required_options = ()

    @decorators.idempotent_id('985b647f-abde-4e08-a16f-4a8c52a80444')
    @decorators.attr(type='negative')
    def test_update_and_deletion(self):
        own, nobody = self.admin_magnum.quotas, data_utils.rand_uuid_hex()
        self.assertRaises(
            lib_exc.NotFound, own.update_quota, nobody, hard_limit=8)
        self.assertRaises(lib_exc.NotFound, own.delete_quota, nobody)
