# SPDX-License-Identifier: Apache-2.0

import copy
import dataclasses

import testtools

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from tests.unit.driver.desired import test_values

GROUP = dataclasses.replace(test_values.GROUP, adopted_name='workers', count=5)

FOUND = {
    'machineImageId': 'old', 'kubernetesVersion': '1.34.2',
    'etcd': {'blockDevice': {'size': 7}},
    'clusterAnnotations': {'theirs': 'a', 'ours': 'old'},
    'controlPlane': {'machineFlavor': 'm1', 'machineCount': 1},
    'nodeGroups': [{'name': 'workers', 'machineFlavor': 'm1',
                    'machineCount': 2},
                   {'name': 'gone', 'machineFlavor': 'm1',
                    'machineCount': 1}]}


def computed(*groups, **changes):
    return {'machineImageId': 'old', 'kubernetesVersion': 'v1.34.2',
            'osDistro': 'ubuntu', 'clusterAnnotations': {'ours': 'new'},
            'apiServer': {'allowedCIDRs': ['192.0.2.0/24']},
            'controlPlane': {'machineFlavor': 'm2', 'machineCount': 3},
            'nodeGroups': list(groups), **changes}


def cluster(*groups):
    return dataclasses.replace(test_values.SPEC, node_groups=groups)


def resized(*groups, found=FOUND, specs=None, batch=None):
    specs = [dataclasses.replace(GROUP, adopted_name=group['name'])
             for group in groups] if specs is None else specs
    return desired_values.resized(
        found, computed(*groups), cluster(*specs), batch)


class ResizedTest(testtools.TestCase):

    def test_only_what_users_change_is_that_of_now(self):
        before = copy.deepcopy(FOUND)
        found = resized({
            'name': 'workers', 'machineFlavor': 'm2', 'machineCount': 5,
            'nodeLabels': {'a': 'b'}})
        self.assertEqual(3, found['controlPlane']['machineCount'])
        self.assertEqual([{'name': 'workers', 'machineFlavor': 'm1',
                           'machineCount': 5}], found['nodeGroups'])
        self.assertEqual({'theirs': 'a', 'ours': 'new'},
                         found['clusterAnnotations'])
        self.assertEqual(
            ('old', FOUND['etcd'], 'm1', None), (
                found['machineImageId'], found['etcd'],
                found['controlPlane']['machineFlavor'],
                found.get('osDistro')))
        self.assertEqual(before, FOUND)

    def test_bounds_come_and_go(self):
        bounds = {'autoscale': True, 'machineCountMin': 1,
                  'machineCountMax': 4}
        found = resized({'name': 'workers', 'machineCount': 2, **bounds})
        group = found['nodeGroups'][0]
        self.assertEqual(bounds, {key: group[key] for key in bounds})
        self.assertEqual({'workers': (1, 4)}, desired_values.bounds(found))
        back = resized({'name': 'workers', 'machineCount': 2}, found=found)
        self.assertEqual({'name', 'machineFlavor', 'machineCount'},
                         set(back['nodeGroups'][0]))

    def test_image_of_the_same_version_in_another_form_changes_nothing(self):
        own = {'name': 'workers', 'machineCount': 2}
        found = {**FOUND, 'nodeGroups': [
            {**own, 'machineImageId': 'old', 'kubernetesVersion': '1.34.2'}]}
        self.assertEqual(found['nodeGroups'],
                         resized(own, found=found)['nodeGroups'])

    def test_image_of_a_group_can_change(self):
        own = {'name': 'workers', 'machineCount': 2}
        other = {'machineImageId': 'i', 'kubernetesVersion': '1.34.1'}
        found = resized({**own, **other})
        self.assertEqual(other, {
            key: found['nodeGroups'][0][key] for key in other})
        back = resized(own, found=found)['nodeGroups'][0]
        self.assertNotIn('machineImageId', back)
        self.assertNotIn('kubernetesVersion', back)

    def test_labels_and_taints_of_nodes_come_and_go(self):
        # A user who removes the last ones leaves none, but for the driver's.
        group = dataclasses.replace(GROUP, adopted_name=None)
        own = {names.NODE_GROUP_ROLE: 'worker'}
        taints = {'kubeadmConfigSpec': {'joinConfiguration': {
            'nodeRegistration': {'taints': [
                {'key': 'a', 'effect': 'NoExecute'}]}}}}
        found = {**FOUND, 'nodeGroups': [
            {'name': group.kube_name, 'machineCount': 5,
             'nodeLabels': {**own, 'a': 'b'}, **taints}]}
        for labels, asked in (({}, {}), ({'c': 'd'}, taints)):
            now = {'name': group.kube_name, 'machineCount': 5, **asked}
            made, = resized(now, found=found, specs=[dataclasses.replace(
                group, node_labels=labels)])['nodeGroups']
            self.assertEqual({**own, **labels}, made['nodeLabels'])
            self.assertEqual(asked, {
                key: made[key] for key in taints if key in made})


class StrategyTest(testtools.TestCase):

    def strategy(self, group, before=None, batch=None):
        own = {'name': group.kube_name, 'machineCount': group.count}
        found = {**FOUND, 'nodeGroups': [
            {**own, **({'rolloutStrategy': before} if before else {})}]}
        return resized(own, found=found, specs=[group], batch=batch)[
            'nodeGroups'][0].get('rolloutStrategy')

    def test_batch_is_of_new_nodes_where_an_overlay_says_so(self):
        # The number is the user's, whether nodes go or come first is not.
        group = dataclasses.replace(GROUP, adopted_name=None)
        found = {**FOUND, 'nodeGroupDefaults': {'rolloutStrategy': {
            'rollingUpdate': {'maxUnavailable': 0, 'maxSurge': 1}}}}
        made, = resized({'name': group.kube_name}, found=found,
                        specs=[group], batch=4)['nodeGroups']
        self.assertEqual({'rollingUpdate': {'maxSurge': 4}},
                         made['rolloutStrategy'])

    def test_group_of_another_driver_keeps_its_own(self):
        theirs = {'rollingUpdate': {'maxSurge': 2}}
        self.assertEqual(theirs, self.strategy(GROUP, before=theirs))

    def test_group_of_another_driver_waits_for_its_turn(self):
        deferred = self.strategy(dataclasses.replace(GROUP, deferred=True))
        self.assertEqual({'type': 'OnDelete'}, deferred)
        self.assertIsNone(self.strategy(GROUP, before=deferred))


class UpgradedTest(testtools.TestCase):

    def test_storage_class_that_exists_stays(self):
        def cinder(default, *others):
            return {'openstack': {'csiCinder': {
                'enabled': True, 'defaultStorageClass': default,
                'additionalStorageClasses': list(others)}}}
        old = {'name': 'ssd', 'reclaimPolicy': 'Delete', 'fstype': 'xfs'}
        new = {'reclaimPolicy': 'Retain', 'allowVolumeExpansion': True}
        found = desired_values.upgraded({'addons': cinder(old)}, computed(
            addons=cinder({**new, 'name': 'hdd'}, {**new, 'name': 'ssd'})))
        self.assertEqual(cinder(
            {**new, 'name': 'hdd'},
            {**old, 'allowVolumeExpansion': True}), found['addons'])
        self.assertFalse(desired_values.reclaims_volumes(found))

    def test_volumes_of_one_storage_class_are_retained(self):
        for default, other in (('Delete', 'Retain'), ('Retain', 'Delete')):
            self.assertFalse(desired_values.reclaims_volumes({
                'addons': {'openstack': {'csiCinder': {
                    'defaultStorageClass': {'reclaimPolicy': default},
                    'additionalStorageClasses': [
                        {'name': 'b', 'reclaimPolicy': other}]}}}}))

    def test_overlay_may_have_removed_what_a_fixed_value_is_in(self):
        pods = {'cidrBlocks': ['10.1.0.0/16']}
        found = desired_values.upgraded(
            {'kubeNetwork': {'pods': pods}}, {'kubeNetwork': None})
        self.assertEqual({'kubeNetwork': {'pods': pods}}, found)


class DesiredValuesTest(testtools.TestCase):

    def test_fields_of_another_version_are_left_out(self):
        desired = desired_values.DesiredValues(FOUND, charts.Chart('c'))
        found = {**desired_values.dump(desired), 'colour': 'red'}
        found['chart']['colour'] = 'red'
        self.assertEqual(desired, desired_values.load(found))

    def test_digest_is_of_chart_and_values(self):
        one = desired_values.DesiredValues(
            FOUND, charts.Chart('c', None, '1.0.0'))
        others = [dataclasses.replace(one, chart=charts.Chart(
            'c', None, '1.0.1')), dataclasses.replace(one, values=resized())]
        self.assertEqual(3, len({found.digest for found in (one, *others)}))
        self.assertEqual(one.digest, dataclasses.replace(
            one, rows='d', template='t').digest)

    def test_digest_has_no_size_that_the_autoscaler_changes(self):
        def digest(count, **more):
            return desired_values.DesiredValues({'nodeGroups': [
                {'name': 'g', 'machineCount': count, **more}]}).digest
        self.assertNotEqual(digest(1), digest(2))
        self.assertEqual(digest(1, autoscale=True), digest(2, autoscale=True))

    def test_ids_of_server_groups(self):
        self.assertEqual({'a', 'b'}, desired_values.server_groups({
            'controlPlane': {'serverGroupId': 'a'}, 'nodeGroups': [
                {'name': 'g', 'serverGroupId': 'b'}, {'name': 'h'}]}))

    def test_ids_of_networks_but_no_names(self):
        self.assertEqual(
            spec.Networks('e', 'n', None), desired_values.networks({
                'clusterNetworking': {
                    'externalNetworkId': 'e', 'internalNetwork': {
                        'networkFilter': {'id': 'n'},
                        'subnetFilter': {'name': 's'}}}}))
        self.assertEqual(spec.Networks(), desired_values.networks({}))
