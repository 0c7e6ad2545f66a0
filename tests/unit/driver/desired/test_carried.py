# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.driver.desired import carried

FOUND = {
    'machineImageId': 'old', 'etcd': {'blockDevice': {'size': 7}},
    'controlPlane': {'machineFlavor': 'm1', 'machineCount': 1},
    'nodeGroups': [{'name': 'workers', 'machineFlavor': 'm1',
                    'machineCount': 2},
                   {'name': 'gone', 'machineFlavor': 'm1',
                    'machineCount': 1}]}


def computed(*groups):
    return {'machineImageId': 'new', 'osDistro': 'ubuntu',
            'controlPlane': {'machineFlavor': 'm2', 'machineCount': 3},
            'nodeGroups': list(groups)}


class CarriedTest(testtools.TestCase):

    def groups(self, *groups):
        return carried.carried(FOUND, computed(*groups))['nodeGroups']

    def test_what_users_do_not_change_stays(self):
        found = carried.carried(FOUND, computed())
        self.assertEqual(('old', FOUND['etcd'], 'm1'), (
            found['machineImageId'], found['etcd'],
            found['controlPlane']['machineFlavor']))
        self.assertNotIn('osDistro', found)

    def test_sizes_are_those_of_now(self):
        found = carried.carried(FOUND, computed({
            'name': 'workers', 'machineFlavor': 'm2', 'machineCount': 5,
            'nodeLabels': {'a': 'b'}}))
        self.assertEqual(3, found['controlPlane']['machineCount'])
        self.assertEqual([{'name': 'workers', 'machineFlavor': 'm1',
                           'machineCount': 5}], found['nodeGroups'])

    def test_bounds_come_and_go(self):
        bounds = {'autoscale': True, 'machineCountMin': 1,
                  'machineCountMax': 4}
        found = self.groups({'name': 'workers', 'machineCount': 2, **bounds})
        self.assertEqual(bounds, {key: found[0][key] for key in bounds})
        back = carried.carried({'nodeGroups': found}, computed(
            {'name': 'workers', 'machineCount': 2}))['nodeGroups'][0]
        self.assertEqual({'name', 'machineFlavor', 'machineCount'}, set(back))

    def test_new_group_is_what_this_driver_makes(self):
        new = {'name': 'g1', 'machineFlavor': 'm2', 'nodeLabels': {'a': 'b'}}
        self.assertEqual([new], self.groups(new))

    def test_nothing_given_is_changed(self):
        before = repr(FOUND)
        carried.carried(FOUND, computed({
            'name': 'workers', 'machineCount': 9}))
        self.assertEqual(before, repr(FOUND))
