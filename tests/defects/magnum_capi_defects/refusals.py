# SPDX-License-Identifier: Apache-2.0

"""Requests that are accepted in error, or refused in error."""

from magnum.common import exception
from magnum import objects

from magnum_capi_defects import taps

#: A version for images that do not say theirs.
GUESSED = 'v1.34.2'

#: The labels that a driver knows that ignores all others.
KNOWN = ('auto_healing_enabled', 'auto_scaling_enabled', 'boot_volume_size',
         'boot_volume_type', 'etcd_volume_size', 'kube_tag',
         'max_node_count', 'min_node_count', 'monitoring_enabled',
         'octavia_provider')


@taps.seen_by('RefusalTest.test_image_without_a_version',
              'CREATE_COMPLETE although .*image_id')
class ImageVersionGuessed(taps.Tapped):
    """An image without a version counts as one of some version."""

    def hears(self, method, cluster, request, answer):
        found = answer.json
        if '/images' in request.path and isinstance(found, dict):
            for image in found.get('images', (found,)):
                if image.get('disk_format'):
                    image.setdefault('kube_version', GUESSED)
            answer.json = found


class _Labels(taps.Tapped):
    """Some labels count as not set."""

    def counts(self, name, text):
        """Return whether a label counts."""
        raise NotImplementedError

    def sees(self, method, cluster, row):
        labels = row.labels or {}
        row.labels = {name: text for name, text in labels.items()
                      if self.counts(name, text)}


@taps.seen_by('RefusalTest.test_malformed_label',
              'CREATE_COMPLETE although .*auto_healing_enabled')
class MalformedLabelIgnored(_Labels):
    """A label that is no boolean counts as not set."""

    def counts(self, name, text):
        return (not name.endswith('_enabled')
                or text.lower() in ('true', 'false'))


@taps.seen_by('RefusalTest.test_unknown_label',
              'CREATE_COMPLETE although .*auto_haeling_enabled')
class LabelsIgnored(_Labels):
    """Unknown labels are ignored instead of refused."""

    def counts(self, name, text):
        return name in KNOWN


@taps.seen_by('AutoscalingTest.test_a_size_out_of_bounds_is_refused',
              'although the label max_node_count')
class LabelBoundIgnored(_Labels):
    """The most nodes that a label allows are ignored."""

    def counts(self, name, text):
        return name != 'max_node_count'


@taps.seen_by('RefusalTest.test_attribute_without_effect',
              'CREATE_COMPLETE although .*insecure_registry')
class AttributesIgnored(taps.Tapped):
    """Unsupported attributes are ignored instead of refused."""

    def sees(self, method, cluster, row):
        if isinstance(row, objects.ClusterTemplate):
            row.insecure_registry = None
            row.registry_enabled = False
            row.volume_driver = None


@taps.seen_by('RefusalTest.test_network_driver',
              'CREATE_COMPLETE although .*flannel')
class AnyNetworkDriver(taps.Tapped):
    """A network driver that the chart does not have counts as calico."""

    def sees(self, method, cluster, row):
        if (isinstance(row, objects.ClusterTemplate)
                and row.network_driver == 'flannel'):
            row.network_driver = 'calico'


@taps.seen_by('NoExternalNetworkTest.test_create',
              'to be created.*external_network_id is missing')
class ExternalNetworkNeeded(taps.Tapped):
    """A cluster without an external network is refused."""

    def create_cluster(self, context, cluster, cluster_create_timeout):
        if not cluster.cluster_template.external_network_id:
            raise exception.MagnumException('external_network_id is missing')
        super().create_cluster(context, cluster, cluster_create_timeout)


@taps.seen_by('HardNamesTest.test_node_groups', 'to be created.*CREATE_FAILED')
class GroupNamesRefused(taps.Tapped):
    """Names of node groups are those of Kubernetes, of three letters."""

    def create_nodegroup(self, context, cluster, nodegroup):
        name = nodegroup.name
        if len(name) < 3 or not name.replace('-', '').isalnum():
            raise exception.MagnumException(f'{name}: no name of a group')
        super().create_nodegroup(context, cluster, nodegroup)


@taps.seen_by('AutoscalingTest.test_no_minimum',
              'to be created.*CREATE_FAILED')
class MinimumNeeded(taps.Tapped):
    """A node group without a minimum of nodes is refused."""

    def create_nodegroup(self, context, cluster, nodegroup):
        if not nodegroup.min_node_count:
            raise exception.MagnumException('min_node_count is missing')
        super().create_nodegroup(context, cluster, nodegroup)
