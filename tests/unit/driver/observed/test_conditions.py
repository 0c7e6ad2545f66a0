# SPDX-License-Identifier: Apache-2.0

"""Objects of Cluster API read in both shapes."""

import testtools

from magnum_capi.driver.observed import conditions
from tests.unit.driver import objects

VERSIONS = (objects.V1BETA1, objects.V1BETA2)


class ShapeTest(testtools.TestCase):

    def test_an_object_without_a_version_shows_its_shape(self):
        # Items of some lists carry none.
        for version in VERSIONS:
            cluster = objects.cluster(version)
            del cluster['apiVersion']

            self.assertIn('ControlPlaneAvailable', conditions.newer(cluster))
        # Of a release that knows one vocabulary only, from 1.16 on.
        cluster = {'status': {'conditions': objects.conditions(['Ready'])}}
        self.assertEqual([['Ready'], {}], [
            list(conditions.newer(cluster)), conditions.older(cluster)])
        cluster['status']['v1beta2'] = {}
        cluster['status']['deprecated'] = {}
        self.assertEqual({}, conditions.newer(cluster))

    def test_an_old_control_plane_counts_the_unavailable(self):
        found = conditions.replicas({
            'apiVersion': 'x/v1beta1', 'spec': {'replicas': 3},
            'status': {'replicas': 3, 'updatedReplicas': 3,
                       'readyReplicas': 3, 'unavailableReplicas': 1}})

        self.assertEqual(2, found.available)
        self.assertFalse(found.settled)

    def test_counts_of_v1beta1_that_are_left_out(self):
        for status, expected in (
                ({}, (0, 0, 0, 0)),
                ({'replicas': 2, 'readyReplicas': None}, (2, 2, 0, 0)),
                ({'replicas': 2, 'readyReplicas': 1}, (2, 2, 1, 1)),
                ({'replicas': 2, 'updatedReplicas': 0}, (2, 0, 0, 0)),
                ({'replicas': 2, 'updatedReplicas': 1, 'readyReplicas': 2,
                  'availableReplicas': 1}, (2, 1, 2, 1)),
                ({'replicas': 2, 'unavailableReplicas': 3}, (2, 2, 0, -1))):
            self.assertEqual(
                conditions.Replicas(2, *expected), conditions.replicas({
                    'apiVersion': 'x/v1beta1', 'spec': {'replicas': 2},
                    'status': status}))

    def test_nothing_observed_is_not_observed(self):
        for generation, seen, expected in (
                (1, None, False), (1, 0, False), (1, 1, True), (2, 1, False),
                (1, 2, True), (None, None, True), (None, 0, True)):
            self.assertEqual(expected, conditions.observed({
                'metadata': {'generation': generation},
                'status': {'observedGeneration': seen}}))

    def test_a_phase_failed_is_told_with_the_first_problem(self):
        cluster = objects.cluster()
        for kind in ('Available', 'InfrastructureReady'):
            objects.condition(cluster, kind, status='False', reason='So')
        cluster['status']['phase'] = 'Failed'

        self.assertEqual(
            'phase Failed, InfrastructureReady is False (So)',
            conditions.failure(cluster))


class ProblemTest(testtools.TestCase):

    def test_negative_polarity(self):
        # B.4.13
        for kind in conditions.WELL_WHEN_FALSE:
            well = [conditions.Condition(kind, status).well
                    for status in ('True', 'False', 'Unknown')]
            self.assertEqual([False, True, True], well, kind)

    def test_messages_are_one_line_without_bullets(self):
        self.assertEqual(
            'Machine a: NodeHealthy: not ready, InfrastructureReady: no',
            conditions.one_line(
                '* Machine a:\n  * NodeHealthy: not ready\n'
                '  * InfrastructureReady: no'))
