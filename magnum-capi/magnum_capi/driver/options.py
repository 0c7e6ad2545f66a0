# SPDX-License-Identifier: Apache-2.0

"""The options of ``[k8s_capi]`` in magnum.conf: one table.

``oslo-config-generator`` shows it as well. Importing it registers nothing,
so that importing the driver changes nobody's configuration.
"""

from oslo_config import cfg

GROUP = 'k8s_capi'

#: The chart that the driver is made and tested for. The only place in this
#: project that names its version: the newest tag of
#: https://github.com/azimuth-cloud/capi-helm-charts.
CHART_REPOSITORY = 'https://azimuth-cloud.github.io/capi-helm-charts'
CHART_NAME = 'openstack-cluster'
CHART_VERSION = '0.27.0'

OPTIONS = (
    cfg.StrOpt(
        'kubeconfig_file', default='',
        help='Kubeconfig of the management cluster. When empty: the '
             'variable KUBECONFIG, else the service account of the pod that '
             'Magnum runs in, else ~/.kube/config. It may hold a token, a '
             'token file or a client certificate; programs that log in '
             '(exec) are refused.'),
    cfg.StrOpt(
        'namespace_prefix', default='magnum',
        help='The objects of a project are in the namespace '
             '<prefix>-<project id> of the management cluster. Two Magnums '
             'that share a management cluster need two prefixes. At most 30 '
             'characters of a-z, 0-9 and dashes, beginning with a letter.'),
    cfg.ListOpt(
        'management_cidrs', default=[],
        help='Networks, such as 192.0.2.0/24, that requests of the management '
             'cluster to API servers of clusters come from. They are added '
             'to those of the label api_master_lb_allowed_cidrs: without '
             'them a cluster that keeps others away would never be ready.'),
    cfg.StrOpt(
        'chart_name', default=CHART_NAME,
        help='Helm chart that makes a cluster: a name in chart_repository, '
             'an oci:// reference or the absolute path of a folder or '
             'package.'),
    cfg.StrOpt(
        'chart_repository', default=CHART_REPOSITORY,
        help='URL of the Helm repository of chart_name. Not used when that '
             'is a path or an oci:// reference.'),
    cfg.StrOpt(
        'chart_version', default=CHART_VERSION,
        help='Exact version of the chart. Not used when chart_name is a '
             'path.'),
    cfg.ListOpt(
        'allowed_chart_versions', default=[],
        help='Versions of chart_name that a cluster template may choose with '
             'the label capi_helm_chart_version, beside chart_version. Any '
             'other one is refused: a chart is code that runs with the rights '
             'of Magnum in the management cluster, and a repository may serve '
             'versions that nobody has reviewed. Name each exactly, and keep '
             'those that templates of living clusters name.'),
    cfg.DictOpt(
        'extra_charts', default={},
        help='Other charts that a cluster template may choose by name, as '
             'name:chart. A chart is an absolute path, oci://HOST/CHART@'
             'VERSION, or CHART@VERSION of chart_repository. Templates '
             'cannot choose any other chart, nor another version of it.'),
    cfg.DictOpt(
        'value_overlays', default={},
        help='Files of Helm values that a cluster template may add by name, '
             'as name:/path/to/values.yaml. They win over what the driver '
             'computes. Templates cannot choose any other.'),
    cfg.ListOpt(
        'default_value_overlays', default=[],
        help='Names of value_overlays that every cluster gets, first to '
             'last, before those of its template.'),
    cfg.StrOpt(
        'registries_file',
        help='File with registries of container images, for containerd of '
             'all nodes: mirrors, certificate authorities and log-ins by '
             'host. Not to be read by others. New clusters get it, and '
             'living ones with an upgrade.'),
    cfg.ListOpt(
        'extra_os_distros', default=[],
        help='Values of os_distro beside ubuntu, flatcar, debian, rocky and '
             'rockylinux whose images this driver serves. The chart has to '
             'know them.'),
    cfg.IntOpt(
        'minimum_flavor_ram', default=2048, min=0,
        help='Least memory of a flavor in MiB. kubeadm wants 2 GiB.'),
    cfg.IntOpt(
        'minimum_flavor_vcpus', default=2, min=0,
        help='Least number of virtual CPUs of a flavor. kubeadm wants 2 for '
             'the control plane.'),
    cfg.ListOpt(
        'credential_roles',
        default=['member', 'reader', 'load-balancer_member', 'creator'],
        help='Roles that the application credential of a cluster may have; '
             'it gets those of them that the user has. The role admin is '
             'refused: whoever reads the credential in the cluster would be '
             'an administrator of the cloud.'),
    cfg.StrOpt(
        'credential_interface', default='public',
        choices=['public', 'internal', 'admin'],
        help='Interface of the service catalog that clusters use.'),
    cfg.BoolOpt(
        'delete_load_balancers', default=True,
        help='Delete the load balancers, floating IPs and security groups '
             'that Kubernetes Services of a cluster made, when the cluster '
             'is deleted. They are recognised by the name and description '
             'that cloud-provider-openstack gives them.'),
    cfg.BoolOpt(
        'delete_volumes', default=True,
        help='Delete the volumes that claims of a cluster made, when the '
             'cluster is deleted, if its label csi_cinder_reclaim_policy '
             'says Delete. Those with snapshots, or attached to other '
             'servers, stay. False: all volumes stay.'),
    cfg.FloatOpt(
        'connect_timeout', default=5, min=0.1,
        help='Seconds to wait for a connection to the management cluster.'),
    cfg.FloatOpt(
        'read_timeout', default=30, min=0.1,
        help='Seconds to wait for an answer of the management cluster.'),
    cfg.FloatOpt(
        'retry_time', default=30, min=0,
        help='Seconds in which a failed request to the management cluster '
             'is repeated, waiting for answers included.'),
    cfg.FloatOpt(
        'openstack_timeout', default=60, min=1,
        help='Seconds to wait for an answer of another OpenStack service, '
             'unless [keystone_auth]/timeout says something else.'),
    cfg.StrOpt(
        'helm_binary', default='helm',
        help='The program helm, version 3: a name in PATH or a path.'),
    cfg.IntOpt(
        'helm_timeout', default=120, min=5,
        help='Seconds after which a helm command is killed. A release that '
             'is pending for longer counts as stuck and is repaired.'),
    cfg.IntOpt(
        'helm_processes', default=4, min=1,
        help='Helm commands that each process of magnum-conductor runs at '
             'once; more requests than that wait, with their locks held. '
             'One takes up to 100 MiB and a processor for about a second.'),
    cfg.FloatOpt(
        'answer_timeout', min=1,
        help='Seconds in which the request for an upgrade is answered. '
             'Magnum waits for it, no longer than '
             '[DEFAULT]/rpc_response_timeout: then its API answers 500 '
             'although the upgrade goes on. What is not checked in time is '
             'refused; what was checked goes on behind the answer. Empty: '
             'five sixths of that option.'),
    cfg.IntOpt(
        'helm_history', default=10, min=2,
        help='Revisions of a release that helm keeps.'),
    cfg.StrOpt(
        'helm_registry_config',
        help='File with the log-in for OCI registries, as '
             '"helm registry login" writes it.'),
    cfg.StrOpt(
        'chart_cache',
        help='Folder where downloaded charts are kept. With it, clusters '
             'can be changed while the chart repository is down. Empty: '
             'download for every change.'),
    cfg.IntOpt(
        'lock_duration', default=30, min=6,
        help='Seconds after which the lock of a cluster is free when its '
             'holder does not renew it any more. It is renewed while an '
             'operation runs, however long that takes.'),
    cfg.IntOpt(
        'lock_timeout', default=60, min=0,
        help='Seconds to wait for the lock of a cluster.'),
    cfg.IntOpt(
        'credential_settle', default=30, min=0,
        help='Seconds for which both application credentials stay valid at '
             'least when one takes the place of the other.'),
    cfg.IntOpt(
        'credential_bound', default=900, min=0,
        help='Seconds after which a new application credential counts as '
             'taken up when nothing can tell, and as overdue when something '
             'tells that it is not.'),
    cfg.IntOpt(
        'credential_check_interval', default=300, min=0,
        help='Seconds for which an answer of Keystone, whether the '
             'application credential of a cluster is valid, counts. It is '
             'asked with the health of the cluster.'),
    cfg.IntOpt(
        'failure_patience', default=300, min=0,
        help='Seconds for which each failed machine or addon is left to '
             'self-healing, from when it was first seen to have failed in '
             'an operation, before the operation fails of it; and for '
             'which failed machines may be replaced in vain, three of them '
             'without any progress.'),
    cfg.IntOpt(
        'progress_timeout', default=60, min=0,
        help='Minutes without progress after which an update (a resize, an '
             'upgrade, a change of a node group) counts as failed. Progress '
             'is a machine of the wanted version that got ready, or one too '
             'many that is gone. Longer than half of it nobody may look: '
             'what is more, because Magnum or the management cluster was '
             'down, does not count. 0: updates never end so. Of a creation '
             'the create_timeout of the cluster counts instead, from its '
             'beginning; a deletion is never given up.'),
    cfg.IntOpt(
        'lost_after', default=60, min=1,
        help='Seconds after which the creation of a cluster counts as lost '
             'when nothing of it has reached the management cluster and its '
             "user's token is needed to go on. A request that is alive and "
             'waits for the management cluster says so in between. A resize '
             'that Magnum has noted and not passed on for as long is carried '
             'out.'),
    cfg.DictOpt(
        'default_labels', default={},
        help='Labels that count where neither template nor cluster sets '
             'them.'),
    cfg.ListOpt(
        'ignored_labels', default=[],
        help='Labels that may be set without having a meaning, such as those '
             'of another driver. All other unknown labels are refused.'),
    cfg.BoolOpt(
        'scale_from_zero', default=False,
        help='Let autoscaled node groups have no node. The driver tells the '
             'autoscaler what a node of theirs would have, by annotations of '
             'the MachineDeployment (capacity.cluster-autoscaler.kubernetes.'
             'io).'),
    cfg.StrOpt(
        'csi_cinder_default_volume_type',
        help='Volume type of the default storage class. Empty: the first '
             'that Cinder lists.'),
    cfg.ListOpt(
        'csi_cinder_allowed_topologies', default=[],
        help='Availability zones of Cinder in which volumes may be made. '
             'Empty: all.'),
)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """The options, for oslo-config-generator."""
    return [(GROUP, list(OPTIONS))]
