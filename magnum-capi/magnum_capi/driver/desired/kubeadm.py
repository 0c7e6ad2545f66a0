# SPDX-License-Identifier: Apache-2.0

"""Settings of kubeadm for which charts have no values. Pure.

Charts pass kubeadmConfigSpec on: extra arguments of the API server and of
kubelets, names in its certificate, the audit log.
"""

import typing

from magnum_capi.driver.desired import labels as label_rules

_Values: typing.TypeAlias = dict[str, typing.Any]

_POLICY = '/etc/kubernetes/audit-policy.yaml'
_LOGS = '/var/log/kubernetes/audit'

#: Logs who did what and when, but no request bodies, which contain secrets
#: (https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/).
_AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages:
- RequestReceived
rules:
- level: Metadata
"""

#: Labels that this module serves.
LABELS = ('api_server_cert_sans', 'api_server_tls_cipher_suites',
          'kubelet_tls_cipher_suites', 'kubelet_extra_args',
          'admission_control_list', 'audit_log_enabled',
          'container_infra_prefix')


def control_plane(labels: label_rules.Labels) -> _Values:
    """kubeadmConfigSpec of the control plane; may be empty."""
    arguments: _Values = {}
    if labels.api_server_tls_cipher_suites:
        arguments['tls-cipher-suites'] = ','.join(
            labels.api_server_tls_cipher_suites)
    if labels.admission_control_list:
        # kubeadm enables NodeRestriction, which isolates nodes.
        arguments['enable-admission-plugins'] = ','.join(dict.fromkeys(
            ('NodeRestriction', *labels.admission_control_list)))
    server: _Values = {}
    result: _Values = {}
    if labels.audit_log_enabled:
        arguments |= {
            'audit-policy-file': _POLICY,
            'audit-log-path': f'{_LOGS}/audit.log',
            'audit-log-maxage': str(labels.audit_log_max_age),
            'audit-log-maxbackup': str(labels.audit_log_max_backup),
            'audit-log-maxsize': str(labels.audit_log_max_size)}
        server['extraVolumes'] = [
            {'name': 'audit-policy', 'hostPath': _POLICY,
             'mountPath': _POLICY, 'readOnly': True, 'pathType': 'File'},
            {'name': 'audit-log', 'hostPath': _LOGS, 'mountPath': _LOGS,
             'readOnly': False, 'pathType': 'DirectoryOrCreate'}]
        result['files'] = [{
            'path': _POLICY, 'owner': 'root:root', 'permissions': '0600',
            'content': _AUDIT_POLICY}]
    if arguments:
        server['extraArgs'] = arguments
    if labels.api_server_cert_sans:
        server['certSANs'] = list(labels.api_server_cert_sans)
    configuration: _Values = {}
    if server:
        configuration['apiServer'] = server
    if labels.container_infra_prefix:
        configuration['imageRepository'] = (
            labels.container_infra_prefix.rstrip('/'))
    if configuration:
        result['clusterConfiguration'] = configuration
    for phase in ('initConfiguration', 'joinConfiguration'):
        result |= {phase: kubelet for kubelet in _kubelet(labels)}
    return result


def nodes(labels: label_rules.Labels) -> _Values:
    """kubeadmConfigSpec of all node groups; may be empty."""
    return {'joinConfiguration': kubelet for kubelet in _kubelet(labels)}


def _kubelet(labels: label_rules.Labels) -> typing.Iterator[_Values]:
    arguments = dict(labels.kubelet_extra_args)
    if labels.kubelet_tls_cipher_suites:
        arguments['tls-cipher-suites'] = ','.join(
            labels.kubelet_tls_cipher_suites)
    if arguments:
        yield {'nodeRegistration': {'kubeletExtraArgs': arguments}}
