# SPDX-License-Identifier: Apache-2.0

"""Defects of the desired state: requests do not reach the chart."""

import re

from magnum.common import clients
from magnum.common import context as contexts
import magnum.conf
import yaml

from magnum_capi_defects import taps


@taps.seen_by('FailureTest.test_a_new_node_group',
              'UPDATE_FAILED.*UPDATE_COMPLETE')
class GroupFlavorIgnored(taps.Tapped):
    """All node groups have the flavor of the first one."""

    def values(self, method, cluster, values):
        first = values['nodeGroups'][0]['machineFlavor']
        for group in values['nodeGroups']:
            group['machineFlavor'] = first
        return values


class _Without(taps.Tapped):
    """A value of all node groups does not reach the chart.

    :cvar key: of the value.
    """

    key = ''

    def values(self, method, cluster, values):
        for group in values['nodeGroups']:
            group.pop(self.key, None)
        return values


@taps.seen_by('NodeGroupsTest.test_labels_and_taints', 'True, True.*!= ..$')
class NodeLabelsLost(_Without):
    """Nodes join without the labels of their node group."""

    key = 'nodeLabels'


@taps.seen_by('NodeGroupsTest.test_labels_and_taints', 'False, False')
class NodeTaintsLost(_Without):
    """Nodes join without the taints of their node group."""

    key = 'kubeadmConfigSpec'


@taps.seen_by('NetworksTest.test_workers_are_on_the_extra_network',
              'is not true')
class ExtraNetworkLost(_Without):
    """Nodes are only on the network of their cluster."""

    key = 'machineNetworking'


@taps.seen_by('RolloutTest.test_as_many_workers_are_away_as_the_batch',
              '2 != 1')
class BatchIgnored(_Without):
    """An upgrade replaces one node after the other."""

    key = 'rolloutStrategy'


@taps.seen_by('ApiServerTest.test_allow_list', '192.0.2.0/24')
class AllowListLost(taps.Tapped):
    """Everybody may reach the API of a cluster."""

    def values(self, method, cluster, values):
        for key in [key for key in values['apiServer']
                    if 'cidr' in key.lower()]:
            del values['apiServer'][key]
        return values


@taps.seen_by('ApiServerTest.test_no_floating_ip',
              'False is not True: disableAPIServerFloatingIP')
class FloatingIpForced(taps.Tapped):
    """The API of every cluster has a floating IP."""

    def values(self, method, cluster, values):
        values['apiServer']['associateFloatingIP'] = True
        return values


@taps.seen_by('NetworksTest.test_internal_network', 'is not true')
class NetworkIgnored(taps.Tapped):
    """Every cluster gets a network of its own, whichever is named."""

    def values(self, method, cluster, values):
        values['clusterNetworking']['internalNetwork'] = {
            'nodeCidr': '10.0.0.0/24'}
        return values


@taps.seen_by('NamesTest.test_own_network_is_meant',
              'Several networks are called')
class OthersNetworksSeen(taps.Tapped):
    """Names are looked up with Magnum's rights, in all projects."""

    def sends(self, method, cluster, request):
        if request.method == 'GET' and re.search(
                r'/v2\.0/networks(/|$)', request.path):
            admin = contexts.make_admin_context(all_tenants=True)
            request.headers['X-Auth-Token'] = clients.OpenStackClients(
                admin).keystone().session.get_token()


@taps.seen_by('OverlayTest.test_the_allow_list_of_a_user_stays',
              '192.0.2.0/24')
class ListsReplaced(taps.Tapped):
    """A list in an overlay replaces what users requested."""

    def values(self, method, cluster, values):
        known = values['apiServer'].get('allowedCIDRs') or []
        for path in magnum.conf.CONF.k8s_capi.value_overlays.values():
            with open(path, encoding='utf-8') as file:
                theirs = yaml.safe_load(file)['apiServer']['allowedCIDRs']
            if set(theirs) <= set(known):
                values['apiServer']['allowedCIDRs'] = theirs
        return values


@taps.seen_by('AutoscalingTest.test_bounds_follow_the_node_group',
              'to be the most that the autoscaler may make')
class BoundsFrozen(taps.Tapped):
    """The autoscaler only gets the first bounds, not later ones."""

    _bounds = {}

    def values(self, method, cluster, values):
        for group in values['nodeGroups']:
            group |= self._bounds.setdefault(
                (cluster.uuid, group['name']), {
                    key: group[key] for key in (
                        'machineCountMin', 'machineCountMax')
                    if key in group})
        return values


@taps.seen_by('WorkersTest.test_a_node_that_fails_is_replaced',
              'to be taken away')
class NotRepaired(taps.Tapped):
    """An unhealthy machine is not replaced."""

    def values(self, method, cluster, values):
        for part in (values['controlPlane'], *values['nodeGroups']):
            part['healthCheck'] = {'enabled': False}
        return values
