# SPDX-License-Identifier: Apache-2.0

"""Options of magnum-capi-helm and magnum-cluster-api, and their equivalents.

Read in magnum-capi-helm 1.4.0 (conf.py) and magnum-cluster-api 0.38.2
(conf.py). Their options are in groups of their own, so this driver does not
read any that stay in magnum.conf: the table says what to write instead.
"""

import dataclasses
import types
import typing

from magnum_capi.driver.desired import other_drivers
from magnum_capi.driver import options

_LABELS = 'capi_helm_cluster_labels'


@dataclasses.dataclass(frozen=True)
class Instead:
    """The equivalent of another driver's option.

    :param option: of this driver, None: it has none.
    :param label: in ``default_labels``, if that is the equivalent.
    :param text: what is different, or why there is no equivalent.
    """

    option: str | None = None
    label: str | None = None
    text: str = ''

    @property
    def told(self) -> str:
        """For users, reStructuredText."""
        if self.label:
            return f'``default_labels = {self.label}:...``'
        if self.option:
            return f'``{self.option}``{self.text and f", {self.text}"}'
        return f'none: {self.text}'


def _label(name: str) -> Instead:
    return Instead('default_labels', name)


_TLS = Instead(text='``[drivers]openstack_ca_file`` and ``verify_ca`` of '
               'Magnum apply to clusters, too')
_NO_CERTIFICATE = Instead(
    text='clusters log in with an application credential, not with a '
         'certificate')
_NO_MANILA = Instead(
    text='Manila itself is not called; its share type is a label '
         '(``manila_csi_share_type``)')

#: By group and option.
OTHERS: typing.Mapping[str, Instead] = types.MappingProxyType({
    '[capi_helm]kubeconfig_file': Instead('kubeconfig_file'),
    '[capi_helm]namespace_prefix': Instead('namespace_prefix'),
    '[capi_helm]helm_chart_repo': Instead('chart_repository'),
    '[capi_helm]helm_chart_name': Instead('chart_name'),
    '[capi_helm]default_helm_chart_version': Instead(
        'chart_version',
        text='apart from it only ``allowed_chart_versions`` can be chosen'),
    '[capi_helm]minimum_flavor_ram': Instead('minimum_flavor_ram'),
    '[capi_helm]minimum_flavor_vcpus': Instead('minimum_flavor_vcpus'),
    '[capi_helm]csi_cinder_default_volume_type': Instead(
        'csi_cinder_default_volume_type'),
    '[capi_helm]csi_cinder_allowed_topologies': Instead(
        'csi_cinder_allowed_topologies'),
    '[capi_helm]app_cred_interface_type': Instead('credential_interface'),
    '[capi_helm]api_resources': Instead(
        text='the API server is asked which versions it has'),
    '[capi_helm]k8s_control_plane_resource_conditions': Instead(
        text='a cluster is complete when all of it is'),
    **{f'[{group}]{name}': _label(name) for group, names in (
        # Deprecated there, and still read.
        ('capi_helm', (
            'etcd_volume_size', 'etcd_volume_type',
            'csi_cinder_availability_zone', 'csi_cinder_reclaim_policy',
            'csi_cinder_volume_binding_mode', 'csi_cinder_fstype',
            'csi_cinder_allow_volume_expansion')),
        (_LABELS, other_drivers.HELM),
    ) for name in names},
    # default_labels cannot set it.
    f'[{_LABELS}]capi_helm_chart_version': Instead('chart_version'),
    '[auto_scaling]image_repository': Instead(
        'value_overlays', text='with ``autoscaler.image.repository``'),
    '[capi_client]endpoint_type': Instead(
        'credential_interface', text='without "URL" at the end'),
    '[capi_client]ca_file': _TLS,
    '[capi_client]insecure': _TLS,
    '[capi_client]cert_file': _NO_CERTIFICATE,
    '[capi_client]key_file': _NO_CERTIFICATE,
    **{f'[manila_client]{name}': _NO_MANILA for name in (
        'region_name', 'endpoint_type', 'api_version', 'ca_file',
        'cert_file', 'key_file', 'insecure')},
    '[proxy]haproxy_pid_path': Instead(
        text='there is no proxy to private API servers; give the management '
             'cluster a route to them, and ``management_cidrs`` its '
             'networks'),
})


def documentation() -> str:
    """The table, a list-table of reStructuredText."""
    lines = ['.. list-table::', '   :header-rows: 1', '',
             '   * - Option', f'     - In ``[{options.GROUP}]``']
    for name, instead in OTHERS.items():
        lines += [f'   * - ``{name}``', f'     - {instead.told}']
    return '\n'.join(lines) + '\n'
