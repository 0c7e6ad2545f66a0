# SPDX-License-Identifier: Apache-2.0

"""Defects of the periodic status: what a driver does without a request."""

import time

from magnum_capi_defects import taps


@taps.seen_by('InvalidCredentialTest.'
              'test_it_was_deleted_behind_the_drivers_back', 'to be UNHEALTHY')
class AlwaysHealthy(taps.Tapped):
    """Every cluster is reported as healthy."""

    def polled(self, cluster, data):
        return {'health_status': 'HEALTHY', 'health_status_reason': {}}


@taps.seen_by('AutoscalingTest.test_node_count_follows_the_autoscaler',
              'node_count of')
class AutoscaledCountFrozen(taps.Tapped):
    """Magnum never learns about changes by the autoscaler."""

    def saves(self, method, cluster, row):
        return method != taps.POLL


@taps.seen_by('ObjectsTest.test_nothing_is_written_when_nothing_happens',
              'to come to rest|nothing to be written', build_interval='2')
class Restless(taps.Tapped):
    """Every check of a cluster records its time."""

    def polled(self, cluster, data):
        for found in taps.of_cluster(cluster, 'clusters'):
            taps.kube('PATCH', taps.path_of(found, 'clusters'), {
                'metadata': {'annotations': {
                    'example.com/last-look': str(time.time())}}})
        return data


@taps.seen_by('RotateAuthorityTest.'
              'test_a_refusal_is_no_failure_of_the_cluster', 'UPDATE_FAILED')
class FailedForGood(taps.Tapped):
    """A cluster that has failed never is complete again by itself."""

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if not cluster.status.endswith('_FAILED'):
            super().update_cluster_status(context, cluster, use_admin_ctx)

    def get_monitor(self, context, cluster):
        if cluster.status.endswith('_FAILED'):
            return None
        return super().get_monitor(context, cluster)


@taps.seen_by('WorkersTest.test_a_machine_that_is_deleted_comes_back',
              'another machine to replace')
class PausedWhenComplete(taps.Tapped):
    """A cluster that is complete is paused until its next request."""

    def pause(self, cluster, paused):
        for found in taps.of_cluster(cluster, 'clusters'):
            taps.kube('PATCH', taps.path_of(found, 'clusters'),
                      {'spec': {'paused': paused}})

    def values(self, method, cluster, values):
        self.pause(cluster, False)
        return values

    def delete_cluster(self, context, cluster):
        self.pause(cluster, False)
        super().delete_cluster(context, cluster)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        super().update_cluster_status(context, cluster, use_admin_ctx)
        if cluster.status.endswith('_COMPLETE'):
            self.pause(cluster, True)


@taps.seen_by('ObjectsTest.test_owner_references_come_back',
              'Cluster API to repair .*MachineDeployment')
class GroupsPaused(PausedWhenComplete):
    """The node groups of a complete cluster are paused."""

    def pause(self, cluster, paused):
        for found in taps.of_cluster(cluster, 'machinedeployments'):
            taps.kube('PATCH', taps.path_of(found, 'machinedeployments'), {
                'metadata': {'annotations': {
                    f'{taps.CAPI}/paused': 'true' if paused else None}}})


@taps.seen_by('LostGroupTest.test_it_is_shown_and_a_resize_brings_it_back',
              'to be UNHEALTHY')
class LostGroupsHidden(taps.Tapped):
    """Health tells of nodes that are there, not of groups that are gone."""

    def polled(self, cluster, data):
        reasons = data.get('health_status_reason') or {}
        there = {key: text for key, text in reasons.items()
                 if 'not in the management cluster' not in text}
        if there and len(there) < len(reasons):
            data = {'health_status': 'HEALTHY', 'health_status_reason': there}
        return data
