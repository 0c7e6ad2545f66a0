# SPDX-License-Identifier: Apache-2.0

"""What drivers of third parties need beside their distributions."""

import pathlib

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi_sandbox import prerequisites
from magnum_capi_tempest import descriptions
from tests.unit.sandbox import samples

_ONE = {
    'apiVersion': 'conformance.magnum-capi/v1', 'kind': 'Driver',
    'organization': 'X', 'url': 'https://x', 'contact': 'x@x',
    'profiles': []}


class PrerequisitesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.layout = samples.a_layout(pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'box')
        self.known = []
        self.useFixture(fixtures.MockPatchObject(
            descriptions, 'known', lambda: self.known))
        self.describe('k8s_a', 'magnum-a', companions=['b<2', 'c'],
                      environment={'A': '1'},
                      magnum_conf={'nova_client': {'api_version': '2.15'}})
        self.describe('k8s_d', 'magnum-d', companions=['c', 'd'])
        self.describe('k8s_e', 'magnum-e', services=['load-balancer'])

    def describe(self, name, project, **more):
        self.known.append(driver_info.Description(
            {**_ONE, 'name': name, 'project': project, **more}, name))

    def test_companions_of_what_is_installed(self):
        for install, companions in (
                ((), ()), (('magnum-z',), ()), (('magnum-e',), ()),
                (('magnum_A==1.0',), ('b<2', 'c')),
                (('magnum-d', 'magnum-a'), ('b<2', 'c', 'd')),
                (('/x/magnum_a-1.0-py3-none-any.whl',), ('b<2', 'c'))):
            self.assertEqual(companions, prerequisites.companions(install))

    def test_services_for_what_is_installed(self):
        self.assertEqual(set(), prerequisites.services(('magnum-a',)))
        self.assertEqual({'load-balancer'}, prerequisites.services(
            ('magnum-a', 'magnum-e')))

    def test_options_for_what_is_installed(self):
        self.assertEqual({}, prerequisites.magnum_conf(('magnum-d',)))
        self.assertEqual(
            {('nova_client', 'api_version'): '2.15'},
            prerequisites.magnum_conf(('magnum-d', 'magnum-a')))

    def test_variables_of_what_is_installed(self):
        ours = {'KUBECONFIG': str(self.layout.kubeconfig),
                'TMPDIR': str(self.layout.directory / 'tmp')}
        for install, more in (((), {}), (('magnum-d',), {}),
                              (('magnum-a',), {'A': '1'})):
            self.assertEqual(
                ours | more, prerequisites.variables(self.layout, install, 20))

    def test_variables_of_newer_magnums(self):
        self.describe('k8s_f', 'magnum-f', environment={
            'A': {'value': '0', 'magnum': 23}})
        for magnum, value in ((22, None), (23, '0'), (24, '0')):
            self.assertEqual(value, prerequisites.variables(
                self.layout, ('magnum-f',), magnum).get('A'))
