# SPDX-License-Identifier: Apache-2.0

import types

import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common import networks

PUBLIC = {'id': '1', 'name': 'public'}


def client(*found):
    def list_networks(**wanted):
        assert wanted == {'router:external': True}
        return {'networks': list(found)}

    return types.SimpleNamespace(list_networks=list_networks)


class ExternalTest(testtools.TestCase):

    def test_by_id_and_by_name(self):
        for name in PUBLIC.values():
            self.assertEqual(PUBLIC, networks.external(
                client({'id': '2', 'name': 'other'}, PUBLIC), name))

    def test_none_and_two(self):
        for found in ((), (PUBLIC, {'id': '2', 'name': 'public'})):
            error = self.assertRaises(
                errors.EnvironmentProblem, networks.external, client(*found),
                'public')
            self.assertIn(f'There are {len(found)} external', str(error))


class MeansTest(testtools.TestCase):

    def test_what_means_it(self):
        for parameter in ({'id': '1'}, {'filter': {'name': 'public'}},
                          {'filter': {'id': '1'}}, {'name': 'public'}):
            self.assertTrue(networks.means(parameter, PUBLIC), parameter)

    def test_what_does_not(self):
        for parameter in (None, {}, {'id': '2'}, {'filter': {}},
                          {'filter': {'tags': 'public'}}):
            self.assertFalse(networks.means(parameter, PUBLIC), parameter)
