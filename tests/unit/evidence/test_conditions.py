# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.evidence import conditions


def condition(type_, status, reason=None, message=None):
    return {'type': type_, 'status': status, 'reason': reason,
            'message': message}


class BadConditionsTest(testtools.TestCase):

    def bad(self, status, kind='Cluster'):
        return [str(c) for c in
                conditions.bad(kind, {
                    'metadata': {'name': 'c1'}, 'status': status})]

    def test_v1beta1(self):
        self.assertEqual(
            ['Cluster c1 ControlPlaneReady=False (NoQuota: too many)'],
            self.bad({'conditions': [
                condition('Ready', 'True'),
                condition('ControlPlaneReady', 'False', 'NoQuota',
                          'too\n  many')]}))

    def test_v1beta2_well_when_false(self):
        self.assertEqual(
            ['Cluster c1 RollingOut=True', 'Cluster c1 Available=Unknown'][
                ::-1],
            self.bad({'conditions': [
                condition('Available', 'Unknown'),
                condition('Paused', 'False'),
                condition('Deleting', 'False'),
                condition('RollingOut', 'True')]}))

    def test_v1beta2_inside_v1beta1(self):
        self.assertEqual(
            ['Cluster c1 Available=False'],
            self.bad({'conditions': [condition('Ready', 'True')],
                      'v1beta2': {'conditions': [
                          condition('Available', 'False')]}}))

    def test_node(self):
        self.assertEqual(
            ['Node c1 DiskPressure=True', 'Node c1 Ready=False'],
            self.bad({'conditions': [
                condition('MemoryPressure', 'False'),
                condition('DiskPressure', 'True'),
                condition('Ready', 'False')]}, 'Node'))

    def test_object_without_status(self):
        self.assertEqual([], self.bad(None))

    def test_failed_addon(self):
        self.assertEqual(
            ['HelmRelease c1 phase=Failed (no chart)'],
            self.bad({'phase': 'Failed', 'failureMessage': 'no chart'},
                     'HelmRelease'))

    def test_phases_of_others_do_not_count(self):
        self.assertEqual([], self.bad({'phase': 'Pending'}))
