# SPDX-License-Identifier: Apache-2.0

"""Defects of the desired state: requests do not reach the chart."""

import re

from magnum.common import clients
from magnum.common import context as contexts
import magnum.conf
import yaml

from magnum_capi_defects import taps


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


class NodeLabelsLost(_Without):
    """Nodes join without the labels of their node group."""

    key = 'nodeLabels'


class NodeTaintsLost(_Without):
    """Nodes join without the taints of their node group."""

    key = 'kubeadmConfigSpec'


class ExtraNetworkLost(_Without):
    """Nodes are only on the network of their cluster."""

    key = 'machineNetworking'


class BatchIgnored(_Without):
    """An upgrade replaces one node after the other."""

    key = 'rolloutStrategy'


class AllowListLost(taps.Tapped):
    """Everybody may reach the API of a cluster."""

    def values(self, method, cluster, values):
        for key in [key for key in values['apiServer']
                    if 'cidr' in key.lower()]:
            del values['apiServer'][key]
        return values


class FloatingIpForced(taps.Tapped):
    """The API of every cluster has a floating IP."""

    def values(self, method, cluster, values):
        values['apiServer']['associateFloatingIP'] = True
        return values


class NetworkIgnored(taps.Tapped):
    """Every cluster gets a network of its own, whichever is named."""

    def values(self, method, cluster, values):
        values['clusterNetworking']['internalNetwork'] = {
            'nodeCidr': '10.0.0.0/24'}
        return values


class OthersNetworksSeen(taps.Tapped):
    """Names are looked up with Magnum's rights, in all projects."""

    def sends(self, method, cluster, request):
        if request.method == 'GET' and re.search(
                r'/v2\.0/networks(/|$)', request.path):
            admin = contexts.make_admin_context(all_tenants=True)
            request.headers['X-Auth-Token'] = clients.OpenStackClients(
                admin).keystone().session.get_token()


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


class NotRepaired(taps.Tapped):
    """An unhealthy machine is not replaced."""

    def values(self, method, cluster, values):
        for part in (values['controlPlane'], *values['nodeGroups']):
            part['healthCheck'] = {'enabled': False}
        return values
