# SPDX-License-Identifier: Apache-2.0

"""What is counted of machines and of clusters."""

import testtools

from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.scenario import test_many_clusters


def machine(name, phase='Running', going=False, control_plane=False):
    return capi_objects.Machine(name, '', control_plane, phase, 'n', 'v1',
                                going)


class CountTest(testtools.TestCase):

    def test_who_is_in_service(self):
        machines = [machine('a'), machine('b', going=True),
                    machine('c', phase='Provisioned'),
                    machine('d', control_plane=True)]

        self.assertEqual((1, 1), (
            capi_objects.in_service(machines, False),
            capi_objects.in_service(machines, True)))

    def test_how_many_clusters_are_how(self):
        look = {str(n): observations.Look({'status': status}) for n, status in
                enumerate(('CREATE_COMPLETE', 'CREATE_IN_PROGRESS',
                           'CREATE_COMPLETE'))}

        self.assertEqual(
            '2 CREATE_COMPLETE, 1 CREATE_IN_PROGRESS',
            test_many_clusters.ManyClustersTest.counted(look))
