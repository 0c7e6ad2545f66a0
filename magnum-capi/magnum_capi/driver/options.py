# SPDX-License-Identifier: Apache-2.0

"""The options of ``[k8s_capi]`` in magnum.conf: one table.

``oslo-config-generator`` reads it as well. Importing this module registers
nothing, so importing the driver does not change any configuration.
"""

from oslo_config import cfg

GROUP = 'k8s_capi'

#: The chart that the driver is written and tested for. Nothing else in this
#: project names its version: the newest tag of
#: https://github.com/azimuth-cloud/capi-helm-charts.
CHART_REPOSITORY = 'https://azimuth-cloud.github.io/capi-helm-charts'
CHART_NAME = 'openstack-cluster'
CHART_VERSION = '0.27.0'

OPTIONS = (
    cfg.StrOpt(
        'kubeconfig_file', default='',
        help='Kubeconfig of the management cluster. When empty: the '
             'variable KUBECONFIG, else the service account of the pod that '
             'Magnum runs in, else ~/.kube/config. It may contain a token, a '
             'token file or a client certificate; login programs (exec) are '
             'refused.'),
    cfg.StrOpt(
        'namespace_prefix', default='magnum',
        help='The objects of a project are in the namespace '
             '<prefix>-<project id> of the management cluster. Two Magnums '
             'that share a management cluster need two prefixes. At most 30 '
             'characters of a-z, 0-9 and dashes, beginning with a letter.'),
    cfg.ListOpt(
        'management_cidrs', default=[],
        help='Networks, such as 192.0.2.0/24, from which the management '
             'cluster connects to API servers of clusters. They are added to '
             'the label api_master_lb_allowed_cidrs: a cluster that blocks '
             'them would never be ready.'),
    cfg.StrOpt(
        'chart_name', default=CHART_NAME,
        help='Helm chart for clusters: a name in chart_repository, an oci:// '
             'reference or the absolute path of a folder or package.'),
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
        help='Versions of chart_name, in addition to chart_version, that a '
             'cluster template may choose with the label '
             'capi_helm_chart_version. All others are refused: a chart is '
             'code that runs with the rights of Magnum in the management '
             'cluster, and a repository may have unreviewed versions. Each '
             'must be exact. Keep those that templates of existing clusters '
             'name.'),
    cfg.DictOpt(
        'extra_charts', default={},
        help='Other charts that a cluster template may choose by name, as '
             'name:chart. A chart is an absolute path, oci://HOST/CHART@'
             'VERSION, or CHART@VERSION of chart_repository. Templates '
             'cannot choose other charts, or other versions of these.'),
    cfg.DictOpt(
        'value_overlays', default={},
        help='Files of Helm values that a cluster template may add by name, '
             'as name:/path/to/values.yaml. They override what the driver '
             'computes. Templates cannot choose other files.'),
    cfg.ListOpt(
        'default_value_overlays', default=[],
        help='Names of value_overlays that every cluster gets, in this '
             'order, before those of its template.'),
    cfg.StrOpt(
        'registries_file',
        help='File with registries of container images, for containerd on '
             'all nodes: mirrors, certificate authorities and credentials by '
             'host. Other users must not be able to read it. New clusters '
             'get it at once, existing ones with an upgrade.'),
    cfg.ListOpt(
        'extra_os_distros', default=[],
        help='Values of os_distro, in addition to ubuntu, flatcar, debian, '
             'rocky and rockylinux, whose images this driver serves. The '
             'chart must support them.'),
    cfg.IntOpt(
        'minimum_flavor_ram', default=2048, min=0,
        help='Minimum memory of a flavor in MiB. kubeadm requires 2 GiB.'),
    cfg.IntOpt(
        'minimum_flavor_vcpus', default=2, min=0,
        help='Minimum number of virtual CPUs of a flavor. kubeadm requires 2 '
             'for the control plane.'),
    cfg.ListOpt(
        'credential_roles',
        default=['member', 'reader', 'load-balancer_member', 'creator'],
        help='Roles that the application credential of a cluster may have; '
             'it gets those of them that the user has. The role admin is '
             'refused: anyone who can read the credential in the cluster '
             'would be an administrator of the cloud.'),
    cfg.StrOpt(
        'credential_interface', default='public',
        choices=['public', 'internal', 'admin'],
        help='Interface of the service catalog that clusters use.'),
    cfg.BoolOpt(
        'delete_load_balancers', default=True,
        help='When a cluster is deleted, delete the load balancers, floating '
             'IPs and security groups that its Kubernetes Services created. '
             'They are recognized by the name and description that '
             'cloud-provider-openstack gives them.'),
    cfg.BoolOpt(
        'delete_volumes', default=True,
        help='When a cluster is deleted, delete the volumes of its '
             'persistent volume claims if its label '
             'csi_cinder_reclaim_policy says Delete. Volumes with snapshots, '
             'or attached to other servers, stay. False: all volumes stay.'),
    cfg.FloatOpt(
        'connect_timeout', default=5, min=0.1,
        help='Seconds to wait for a connection to the management cluster.'),
    cfg.FloatOpt(
        'read_timeout', default=30, min=0.1,
        help='Seconds to wait for a response of the management cluster.'),
    cfg.FloatOpt(
        'retry_time', default=30, min=0,
        help='Seconds for which a failed request to the management cluster '
             'is retried, including the time spent waiting for responses.'),
    cfg.FloatOpt(
        'openstack_timeout', default=60, min=1,
        help='Seconds to wait for a response of another OpenStack service, '
             'unless [keystone_auth]/timeout is set.'),
    cfg.StrOpt(
        'helm_binary', default='helm',
        help='The helm program, version 3: a name in PATH or a path.'),
    cfg.IntOpt(
        'helm_timeout', default=120, min=5,
        help='Seconds after which a helm command is killed. A release that '
             'has been pending for longer counts as stuck and is repaired.'),
    cfg.IntOpt(
        'helm_processes', default=4, min=1,
        help='Number of helm commands that each process of magnum-conductor '
             'runs at once; further requests wait, holding their locks. A '
             'command takes up to 100 MiB and a processor for about a '
             'second.'),
    cfg.FloatOpt(
        'answer_timeout', min=1,
        help='Seconds within which an upgrade request is answered. Magnum '
             'waits at most [DEFAULT]/rpc_response_timeout; after that its '
             'API answers 500 although the upgrade continues. A request that '
             'cannot be checked in time is refused; once checked, it '
             'continues in the background. Empty: five sixths of that '
             'option.'),
    cfg.IntOpt(
        'helm_history', default=10, min=2,
        help='Number of revisions that helm keeps of a release.'),
    cfg.StrOpt(
        'helm_registry_config',
        help='File with the credentials for OCI registries, as written by '
             '"helm registry login".'),
    cfg.StrOpt(
        'chart_cache',
        help='Cache folder for downloaded charts. With it, clusters can be '
             'changed while the chart repository is down. Empty: download '
             'the chart for every change.'),
    cfg.IntOpt(
        'lock_duration', default=30, min=6,
        help='Seconds after which the lock of a cluster becomes free when '
             'its holder stops renewing it. It is renewed while an operation '
             'runs, however long that takes.'),
    cfg.IntOpt(
        'lock_timeout', default=60, min=0,
        help='Seconds to wait for the lock of a cluster.'),
    cfg.IntOpt(
        'credential_settle', default=30, min=0,
        help='Minimum number of seconds for which both application '
             'credentials stay valid when one replaces the other.'),
    cfg.IntOpt(
        'credential_bound', default=900, min=0,
        help='Seconds after which a new application credential counts as '
             'adopted if its use cannot be observed, or as overdue if the '
             'cluster is seen not to use it yet.'),
    cfg.IntOpt(
        'credential_check_interval', default=300, min=0,
        help='Seconds between two checks with Keystone whether the '
             'application credential of a cluster is valid. They are part '
             'of its health checks.'),
    cfg.IntOpt(
        'failure_patience', default=300, min=0,
        help='Seconds for which self-healing may repair a failed machine or '
             'addon, counted from when it was first seen to have failed in '
             'an operation, before the operation fails. It also fails when '
             'replacing failed machines has been in vain for this long: '
             'three of them were replaced without any progress.'),
    cfg.IntOpt(
        'progress_timeout', default=60, min=0,
        help='Minutes without progress after which an update (a resize, an '
             'upgrade, a change of a node group) fails. Progress means that '
             'a machine of the desired version became ready, or that a '
             'surplus one is gone. Periods of more than half of this in '
             'which the cluster was not observed, because Magnum or the '
             'management cluster was down, do not count. 0: no limit. A '
             "creation is limited by the cluster's create_timeout instead, "
             'from its beginning, unless that is 0; a deletion is never given '
             'up.'),
    cfg.IntOpt(
        'lost_after', default=60, min=1,
        help='Seconds after which the creation of a cluster counts as lost '
             'if nothing of it has reached the management cluster and its '
             "user's token is needed to continue. A live request that waits "
             'for the management cluster reports this from time to time. A '
             'resize that Magnum has recorded but not passed on for this '
             'long is carried out.'),
    cfg.DictOpt(
        'default_labels', default={},
        help='Values of labels that neither the template nor the cluster '
             'sets.'),
    cfg.ListOpt(
        'ignored_labels', default=[],
        help='Labels to accept and ignore, such as those of another driver. '
             'All other unknown labels are refused.'),
    cfg.BoolOpt(
        'scale_from_zero', default=False,
        help='Allow autoscaled node groups to have no nodes. The driver '
             'describes the capacity of their nodes to the autoscaler in '
             'annotations of the MachineDeployment '
             '(capacity.cluster-autoscaler.kubernetes.io).'),
    cfg.StrOpt(
        'csi_cinder_default_volume_type',
        help='Volume type of the default storage class. Empty: the default '
             'of Cinder, or the newest one if that is none of those that '
             'the project may use.'),
    cfg.ListOpt(
        'csi_cinder_allowed_topologies', default=[],
        help='Availability zones of Cinder in which volumes may be created. '
             'Empty: all.'),
)


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """The options, for oslo-config-generator."""
    return [(GROUP, list(OPTIONS))]
