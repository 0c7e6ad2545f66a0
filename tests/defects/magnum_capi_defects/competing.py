# SPDX-License-Identifier: Apache-2.0

"""Values for one thing that count for another, or before a better one."""

from magnum_capi_defects import taps


@taps.seen_by('LabelsTest.test_each_has_its_effect',
              'etcd_volume_size: .*3.* and not')
class EtcdForAll(taps.Tapped):
    """The volume for etcd is made for workers, too."""

    def values(self, method, cluster, values):
        device = (values.get('etcd') or {}).get('blockDevice')
        if device:
            for group in values['nodeGroups']:
                group['additionalBlockDevices'] = {'etcd': device}
        return values


@taps.seen_by('LabelsTest.test_each_has_its_effect',
              'boot_volume_size: .None. and not .12')
class BootVolumeOfMasters(taps.Tapped):
    """boot_volume_size only counts for the control plane."""

    def values(self, method, cluster, values):
        for group in (*values['nodeGroups'],
                      values.get('nodeGroupDefaults') or {}):
            group.pop('machineRootVolume', None)
        return values


@taps.seen_by('BoundsTest.test_bounds_of_a_node_group_count_before_labels',
              "'1', '6'.*'1', '6'")
class BoundsOfLabels(taps.Tapped):
    """The labels count before the bounds of a node group."""

    def values(self, method, cluster, values):
        for group in values['nodeGroups']:
            for label, key in (('min_node_count', 'machineCountMin'),
                               ('max_node_count', 'machineCountMax')):
                if key in group and label in cluster.labels:
                    group[key] = int(cluster.labels[label])
        return values


@taps.seen_by('LabelsTest.test_each_has_its_effect',
              'master_lb_floating_ip_enabled: True and not False')
class AttributeBeforeLabel(taps.Tapped):
    """floating_ip_enabled counts before master_lb_floating_ip_enabled."""

    def values(self, method, cluster, values):
        values['apiServer']['associateFloatingIP'] = bool(
            cluster.floating_ip_enabled)
        return values
