# SPDX-License-Identifier: Apache-2.0

"""Lists with invalid pages, orders and filters."""

from tempest.lib.common.utils import data_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.negative import refusals


class ListsTest(refusals.BaseRefusalsTest):

    credentials = ['primary', 'alt']

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        cls.require_project('alt', own=False)

    def lists(self):
        """Return (name, method) of the lists of clusters and templates."""
        return (
            ('clusters', self.magnum.clusters.list_clusters),
            ('details of clusters', self.magnum.clusters.list_clusters_detail),
            ('templates', self.magnum.templates.list_cluster_templates),
            ('details of templates',
             self.magnum.templates.list_cluster_templates_detail))

    def assert_all_refused(self, *params):
        self.assert_refused_all(
            ('parameter', f'{key}={value!a} of {name}',
             lambda ask=ask, key=key, value=value: ask(**{key: value}))
            for name, ask in self.lists() for key, value in params)

    @decorators.idempotent_id('59ea3a82-dc50-4042-bfab-9340864b36da')
    @decorators.attr(type='negative')
    def test_limits(self):
        self.assert_all_refused(
            ('limit', '0'), ('limit', '-1'), ('limit', ''), ('limit', 'one'),
            ('limit', '1.5'), ('limit', '1e3'), ('limit', ['1', '2']))

    @decorators.idempotent_id('bd3584bb-72d6-4d10-ac57-d3e473c86d4c')
    @decorators.attr(type='negative')
    def test_markers(self):
        self.assert_all_refused(
            ('marker', 'one'), ('marker', ''), ('marker', '%00'),
            ('marker', '\0'), ('marker', data_utils.rand_uuid()),
            ('marker', "' OR 1=1 --"))

    @decorators.idempotent_id('43ccbc37-8d87-49b9-9dc3-40f777eb94d0')
    @decorators.attr(type='negative')
    def test_keys_to_sort_by(self):
        self.assert_all_refused(
            ('sort_key', 'colour'), ('sort_key', 'id;drop'),
            ('sort_key', 'id desc'), ('sort_key', '__class__'),
            ('sort_key', 'metadata'), ('sort_key', 'links'),
            ('sort_key', '\U0001f389'), ('sort_key', '\0'),
            ('sort_key', 'n' * 1000))

    @decorators.idempotent_id('dcae0264-0387-4d6b-b3aa-84278702200f')
    @decorators.attr(type='negative')
    def test_directions(self):
        self.assert_all_refused(
            ('sort_dir', 'up'), ('sort_dir', ''), ('sort_dir', 'ASC;'))

    @decorators.idempotent_id('52d7e41f-1de9-4c4b-91fb-b01aed43511b')
    @decorators.attr(type='negative')
    def test_parameters_that_do_not_exist(self):
        self.assert_all_refused(
            ('colour', 'blue'), ('name', 'one'), ('\U0001f389', 'one'))

    @decorators.idempotent_id('ee5baaf2-bb92-48e4-b171-182a9b4675ba')
    @decorators.attr(type='negative')
    def test_a_marker_of_another_project(self):
        template = self.create_template()
        other = factories.Magnum(self.os_alt, self.microversion)

        self.assertRaises(
            lib_exc.NotFound, other.templates.list_cluster_templates,
            marker=template['uuid'])
