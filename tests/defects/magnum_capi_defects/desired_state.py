# SPDX-License-Identifier: Apache-2.0

"""Defects of the desired state: requests do not reach the chart."""

import dataclasses

import yaml

from magnum_capi.driver.desired import label_registry
from magnum_capi.driver import reconcile
from magnum_capi_defects import parts


def _each(change):
    """Values with every node group changed; the first one is the default."""
    return parts.valued(lambda _release, values: values | {'nodeGroups': [
        change(group, values['nodeGroups'][0])
        for group in values['nodeGroups']]})


def _without(values, key):
    return {k: value for k, value in values.items() if k != key}


class GroupFlavorIgnored(parts.Seeded):
    """All node groups have the flavor of the first one."""

    Helm = _each(lambda group, first: group | {
        'machineFlavor': first['machineFlavor']})


class NodeLabelsLost(parts.Seeded):
    """Nodes join without the labels of their node group."""

    Helm = _each(lambda group, _first: _without(group, 'nodeLabels'))


class NodeTaintsLost(parts.Seeded):
    """Nodes join without the taints of their node group."""

    Helm = _each(lambda group, _first: _without(group, 'kubeadmConfigSpec'))


class AllowListLost(parts.Seeded):
    """Everybody may reach the API of a cluster."""

    Helm = parts.valued(lambda _release, values: values | {'apiServer': {
        key: value for key, value in values['apiServer'].items()
        if 'cidr' not in key.lower()}})


class FloatingIpForced(parts.Seeded):
    """The API of every cluster has a floating IP."""

    Helm = parts.valued(lambda _release, values: values | {
        'apiServer': values['apiServer'] | {'associateFloatingIP': True}})


class NetworkIgnored(parts.Seeded):
    """Every cluster gets a network of its own, whichever is named."""

    Helm = parts.valued(lambda _release, values: values | {
        'clusterNetworking': values['clusterNetworking'] | {
            'internalNetwork': {'nodeCidr': '10.0.0.0/24'}}})


class LabelsIgnored(parts.OwnReconciler):
    """Unknown labels are ignored instead of refused."""

    def divert(self, reconciler):
        settings = reconciler.runtime.settings
        labels = reconciler.cluster.labels or {}
        unknown = labels.keys() - label_registry.REGISTRY
        reconciler.runtime = dataclasses.replace(
            reconciler.runtime, settings=dataclasses.replace(
                settings, ignored_labels=(
                    *settings.ignored_labels, *unknown)))


class AttributesIgnored(parts.OwnReconciler):
    """Unsupported attributes are ignored instead of refused."""

    def divert(self, reconciler):
        plan = reconciler.plan
        reconciler.plan = lambda state, **options: plan(
            state, **options | {'creating': False})


class OthersNetworksSeen(parts.OwnReconciler):
    """Names are looked up with Magnum's rights, in all projects."""

    def divert(self, reconciler):
        all_eyes = reconcile.Reconciler(
            reconciler.runtime, self.of_no_project(), reconciler.cluster)
        reconciler.plan = all_eyes.plan

    def of_no_project(self):
        return self.Store(parts.admin(), parts.options(), None)


class ExtraNetworkLost(parts.Seeded):
    """Nodes are only on the network of their cluster."""

    Helm = _each(lambda group, _first: _without(group, 'machineNetworking'))


class BatchIgnored(parts.Seeded):
    """An upgrade replaces one node after the other."""

    Helm = _each(lambda group, _first: _without(group, 'rolloutStrategy'))


def _replaced(_release, values):
    """Values whose allow-list is replaced by that of an overlay."""
    known = values['apiServer'].get('allowedCIDRs') or []
    for path in parts.options().value_overlays.values():
        with open(path, encoding='utf-8') as file:
            theirs = yaml.safe_load(file)['apiServer']['allowedCIDRs']
        if set(theirs) <= set(known):
            return values | {'apiServer': values['apiServer'] | {
                'allowedCIDRs': theirs}}
    return values


class ListsReplaced(parts.Seeded):
    """A list in an overlay replaces what users requested."""

    Helm = parts.valued(_replaced)


_bounds = {}


def _as_it_was(release, group):
    """A node group with the autoscaler's first bounds."""
    return group | _bounds.setdefault((release, group['name']), {
        key: group[key] for key in ('machineCountMin', 'machineCountMax')
        if key in group})


class BoundsFrozen(parts.Seeded):
    """The autoscaler only gets the first bounds, not later ones."""

    Helm = parts.valued(lambda release, values: values | {'nodeGroups': [
        _as_it_was(release, group) for group in values['nodeGroups']]})


class NotRepaired(parts.Seeded):
    """An unhealthy machine is not replaced."""

    Helm = parts.valued(lambda _release, values: values | {
        'controlPlane': _unchecked(values['controlPlane']),
        'nodeGroups': [_unchecked(g) for g in values['nodeGroups']]})


def _unchecked(group):
    return group | {'healthCheck': {'enabled': False}}
