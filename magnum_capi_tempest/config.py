# SPDX-License-Identifier: Apache-2.0

"""Every option of the Tempest plugin, in one table.

The table feeds Tempest's ``register_opts`` and ``get_opt_lists`` and the
sample configuration (entry point ``oslo.config.opts``), so that an option
cannot exist in one of them only.

``[service_available] magnum`` belongs to magnum-tempest-plugin; registering
it again with another help text is a DuplicateOptError that tempest swallows
together with the rest of the plugin's options
(tempest/test_discover/plugins.py, ``register_plugin_opts``). Ours is
``[service_available] magnum_capi``.
"""

from oslo_config import cfg

from magnum_capi_tempest import features
from magnum_capi_tempest import trials

SERVICE_AVAILABLE_GROUP = cfg.OptGroup(
    'service_available', title='Available OpenStack services')

SERVICE_AVAILABLE_OPTS = [
    cfg.BoolOpt(
        'magnum_capi', default=True,
        help='Run the tests of Magnum with a Cluster API driver. Set this to '
             'false on a cloud without Magnum; all of them are then skipped.'),
]

GROUP = cfg.OptGroup(
    'magnum_capi', title='Magnum with a Cluster API driver')

OPTS = [
    # The first five are what tempest.config.service_client_config() reads.
    cfg.StrOpt(
        'catalog_type', default='container-infra',
        help='Type of the Magnum endpoint in the Keystone catalog. Look it '
             'up with: openstack catalog list.'),
    cfg.StrOpt(
        'endpoint_type', default='public',
        choices=['public', 'admin', 'internal',
                 'publicURL', 'adminURL', 'internalURL'],
        help='Interface of the Magnum endpoint to use.'),
    cfg.StrOpt(
        'region', default='',
        help='Region of the Magnum endpoint. When empty, [identity] region '
             'is used.'),
    cfg.IntOpt(
        'build_interval', default=5, min=1,
        help='Longest interval, in seconds, between two requests for the '
             'state of a cluster that a test waits for. A wait starts with '
             'shorter intervals.'),
    cfg.IntOpt(
        'build_timeout', default=1800, min=1,
        help='Seconds to wait for a cluster to be created or changed before '
             'the test fails. A minute is enough in the sandbox; virtual '
             'machines that download images need half an hour.'),
    cfg.IntOpt(
        'delete_timeout', default=900, min=1,
        help='Seconds to wait for a cluster to be deleted, with all of its '
             'Cluster API objects, before the test fails.'),
    cfg.StrOpt(
        'min_microversion', default='1.1',
        help='Lowest Magnum API microversion to test with, for example 1.9. '
             'Tests that are only for lower ones are skipped. Magnum reports '
             'what it supports in its answer to GET on its endpoint.'),
    cfg.StrOpt(
        'max_microversion', default='latest',
        help='Highest Magnum API microversion to test with, for example 1.12. '
             'Tests that need a higher one are skipped. "latest" is the '
             'highest that this Magnum supports.'),
    cfg.StrOpt(
        'image_id', default='',
        help='Name or id of the Glance image that cluster nodes boot from. It '
             'must have the property os_distro, and the properties that the '
             'driver requires (magnum-capi-helm: kube_version). Required.'),
    cfg.StrOpt(
        'flavor_id', default='',
        help='Name or id of the Nova flavor of worker nodes. Cluster API '
             'drivers need at least 2 vCPUs and 2 GiB of memory. Required.'),
    cfg.StrOpt(
        'master_flavor_id', default='',
        help='Name or id of the Nova flavor of control plane nodes. When '
             'empty, flavor_id is used.'),
    cfg.StrOpt(
        'external_network', default='',
        help='Name or id of the Neutron network through which clusters are '
             'reached. It must be external (router:external). Required.'),
    cfg.StrOpt(
        'network_driver', default='calico',
        help='Network driver of the cluster templates. It must be one of '
             '[cluster_template] kubernetes_allowed_network_drivers in '
             "magnum.conf. No Cluster API driver supports Magnum's own "
             'default, flannel; nodes would never become ready with it.'),
    cfg.StrOpt(
        'dns_nameserver', default='',
        help='DNS server of the networks that are created for clusters. When '
             "empty, Magnum's default is used."),
    cfg.StrOpt(
        'driver', default='',
        help='Name of the Magnum driver under test (its entry point, for '
             'example k8s_capi_helm_v1). When set, cluster templates are '
             'created with this driver, and tests verify that they have it. '
             'When empty, Magnum chooses the driver.'),
    cfg.ListOpt(
        'not_promised', default=[],
        help='IDs of promises that the driver under test does not make, or is '
             'known to break, for example lifecycle.resize.last-wins. Their '
             'tests are skipped. The documentation of the suite lists all '
             'promises.'),
    cfg.BoolOpt(
        'master_lb_enabled', default=True,
        help='Value of master_lb_enabled in cluster templates. Magnum '
             'refuses more than one control plane node without it. When '
             'false, load balancers of clusters are not tested.'),
    cfg.DictOpt(
        'labels', default={},
        help='Labels of the cluster templates that the driver needs on this '
             'cloud, as key:value pairs separated by commas, for example '
             'boot_volume_size:20,octavia_provider:ovn.'),
    cfg.IntOpt(
        'master_count', default=1, min=1,
        help='Number of control plane nodes of the clusters that are created. '
             'Drivers accept odd numbers only.'),
    cfg.IntOpt(
        'node_count', default=1, min=1,
        help='Number of worker nodes of the clusters that are created. Tests '
             'that resize a cluster add one node.'),
    cfg.StrOpt(
        'management_kubeconfig', default='',
        help='Path of a kubeconfig of the Cluster API management cluster '
             'whose user may list everything, including secrets, and watch '
             'Machines. When set, the evidence of a failure includes the '
             'conditions that Cluster API reports, and tests verify that a '
             'deleted cluster leaves nothing behind there. Requires the '
             'Python package kubernetes.'),
    cfg.StrOpt(
        'artifact_dir', default='',
        help='Folder, on the machine that runs Tempest, for the evidence of '
             'failed tests: one folder per test, with the answers of Magnum, '
             'its logs, and the state of Cluster API and the nodes. It also '
             'holds a list of what the tests created, for "magnum-capi '
             'tempest leaks". Known forms of secrets are redacted; only its '
             'owner can read it. When empty, evidence is in the test results '
             'only.'),
    cfg.ListOpt(
        'log_files', default=[],
        help="Log files of Magnum's API and conductor on the machine that "
             'runs Tempest, separated by commas, for example '
             '/var/log/magnum/magnum-conductor.log; an asterisk matches any '
             'text. The evidence of a failure includes the lines that name a '
             'request, a user or a cluster of the test.'),
    cfg.StrOpt(
        'log_command', default='',
        help='Command that prints these logs if they are not in files. '
             '{since} is replaced by the time when the tests of the class '
             'began, in the format of journalctl, and {words} by a regular '
             'expression to search for. It is split like a shell command. '
             'For DevStack: sudo journalctl --no-pager --output cat --since '
             '{since} --grep {words} --unit devstack@magnum-api --unit '
             'devstack@magnum-cond.'),
    cfg.IntOpt(
        'evidence_timeout', default=60, min=1,
        help='Seconds that a failed test may spend on collecting evidence. '
             'Sources that do not answer in that time are listed.'),
    cfg.ListOpt(
        'clashing_drivers', default=[],
        help='Names of two or more enabled drivers that provide the cluster '
             'type of image_id, for example '
             'k8s_capi_helm_v1,k8s_cluster_api_ubuntu. When empty, it is not '
             'tested what Magnum does with two drivers of one type.'),
    cfg.StrOpt(
        'driver_marks', default='',
        help='By what clusters of clashing_drivers are recognized, as JSON: '
             'the field "mark" of a description (magnum-capi.yaml), by name '
             'of the driver. Needed for drivers that have no description '
             'where Tempest runs. An operation by the wrong driver is only '
             'seen with management_kubeconfig.'),
    cfg.StrOpt(
        'mismatched_driver', default='',
        help='Name of an enabled driver that does not provide the cluster '
             'type of image_id. When empty, it is not tested what happens '
             'when a template names a driver that does not fit.'),
    cfg.StrOpt(
        'disabled_driver', default='',
        help='Name of a driver that provides the cluster type of image_id and '
             'is in [drivers] disabled_drivers of magnum.conf. When empty, it '
             'is not tested what happens when a template names a disabled '
             'driver.'),
    cfg.StrOpt(
        'beta_driver', default='',
        help='Name of a beta driver that is not in [drivers] '
             'enabled_beta_drivers of magnum.conf and that provides '
             'beta_shadowed_distro. When empty, it is not tested what happens '
             'when a template names a beta driver.'),
    cfg.StrOpt(
        'broken_driver', default='',
        help='Name of a driver that is installed but cannot be loaded, for '
             'example because a library is missing. When empty, it is not '
             'tested how it affects other drivers. Set this only in an '
             'environment made for it: such a driver breaks an unmodified '
             'Magnum 23.'),
    cfg.StrOpt(
        'sole_distro', default='',
        help='Operating system (magnum_distro or os_distro of an image) that '
             'only one driver provides, preferably a driver whose name is not '
             'the first in the alphabet. When empty, this is not tested.'),
    cfg.StrOpt(
        'sole_driver', default='',
        help='Name of the driver that provides sole_distro.'),
    cfg.StrOpt(
        'beta_shadowed_distro', default='',
        help='Operating system that beta_shadowed_driver provides, and also '
             'beta_driver, which is registered after it, so that Magnum finds '
             'the beta driver for this type. When empty, this is not tested.'),
    cfg.StrOpt(
        'beta_shadowed_driver', default='',
        help='Name of the driver to use for beta_shadowed_distro.'),
    cfg.StrOpt(
        'lax_distro', default='',
        help='Operating system that lax_shadowed_driver provides, and also a '
             'driver, registered after it, that accepts any number of control '
             'plane nodes. When empty, it is not tested which rule applies.'),
    cfg.StrOpt(
        'lax_shadowed_driver', default='',
        help='Name of a driver for lax_distro that refuses an even number of '
             'control plane nodes.'),
    cfg.StrOpt(
        'magnum_distro_image', default='',
        help='Name or id of an image that has its operating system in the '
             'property magnum_distro; os_distro may be missing. The image '
             'must be visible to everyone. Exactly one driver must provide '
             'its type, or the image must name a driver. When empty, this is '
             'not tested.'),
    cfg.StrOpt(
        'upgrade_image_id', default='',
        help='Name or id of an image like image_id, with the next minor '
             'version of Kubernetes. When empty, upgrades are not tested.'),
    cfg.DictOpt(
        'upgrade_labels', default={},
        help='Additional labels of the cluster templates of upgrade_image_id; '
             'they override the option labels. For drivers that take the '
             'version of Kubernetes from a label, such as kube_tag:v1.35.0 '
             'for magnum-cluster-api. After an upgrade, nodes must have the '
             'version in kube_tag, or kube_version of the image if there is '
             'no kube_tag.'),
    cfg.DictOpt(
        'volume_labels', default={'csi_cinder_reclaim_policy': 'Delete'},
        help='Additional labels of the clusters whose volumes are tested. '
             'With these, the driver must delete a volume when its claim is '
             'deleted. Only used with real_nodes.'),
    cfg.StrOpt(
        'nameless_os_distro', default='',
        help='Property os_distro of images for which Magnum chooses the '
             'driver under test when a cluster template names none, because '
             'no other driver provides it. Tests create such images without '
             'data, so that machines cannot boot from them. Where that '
             'matters, leave this empty; templates that name no driver are '
             'then not tested.'),
    cfg.StrOpt(
        'known_answers', default='',
        help='CSV file with the known answers of this Magnum to values that '
             'it should refuse, in the format of known_answers.csv in this '
             'plugin. When empty, the answers measured with unmodified '
             'releases apply.'),
    cfg.StrOpt(
        'value_overlay', default='',
        help='Name of an overlay of Helm values (label capi_helm_values) with '
             '"apiServer: {allowedCIDRs: [203.0.113.0/24]}". When empty, it '
             'is not tested how overlays change lists.'),
    cfg.StrOpt(
        'slow_flavor', default='',
        help='Name or id of a flavor whose machines become ready long after '
             'they are built, 20 seconds or more. When empty, it is not '
             'tested whether a cluster becomes complete too early.'),
    cfg.StrOpt(
        'failing_flavor', default='',
        help='Name or id of a flavor whose machines cannot be built, for '
             'example one that is too large for any host. When empty, it is '
             'not tested how a failure of node groups is reported.'),
    cfg.StrOpt(
        'stuck_flavor', default='',
        help='Name or id of a flavor whose machines are built but never '
             'become ready nodes. When empty, it is not tested whether '
             'create_timeout of a cluster is applied.'),
    cfg.StrOpt(
        'late_flavor', default='',
        help='Name or id of a flavor whose machines take longer than a minute '
             'to become ready, and as long to be deleted. In most clouds any '
             'flavor will do. When empty, operations that take longer than '
             'create_timeout are not tested.'),
    cfg.BoolOpt(
        'management_changes', default=False,
        help='Tests may change objects of their own clusters in the '
             'management cluster: they delete machines, remove owner '
             'references, and pause Cluster API for a moment. '
             'management_kubeconfig must allow this. When false, it is not '
             'tested what the driver restores.'),
    cfg.IntOpt(
        'rest_seconds', default=120, min=1,
        help='Seconds for which nothing may be written to the management '
             'cluster while a cluster is idle. The default is that of Cluster '
             "API's own tests. It must exceed [kubernetes] "
             'health_polling_interval of magnum.conf (60) to detect a driver '
             'that writes on every poll.'),
    cfg.IntOpt(
        'many_clusters', default=0, min=0,
        help='Number of clusters to create in quick succession in one '
             'project, whose quota must have room for them. Cluster API '
             'drivers should handle 20, with rate limiting, which a sandbox '
             'has with "up --rate-limiting". When 0, this is not tested.'),
    cfg.IntOpt(
        'many_clusters_timeout', default=600, min=1,
        help='Seconds to wait until all of many_clusters are complete.'),
    cfg.StrOpt(
        'configure_command', default='',
        help='Command that changes options of magnum.conf and restarts '
             'Magnum; Magnum must be ready when it ends. Its arguments are '
             'one or more GROUP.OPTION=VALUE; an empty VALUE restores the '
             'previous value. Tests that use it run alone. When empty, tests '
             'that need another configuration are skipped. It is split like a '
             'shell command, for example: magnum-capi sandbox set --directory '
             '/box.'),
    cfg.IntOpt(
        'configure_timeout', default=300, min=1,
        help='Seconds that configure_command may take.'),
    *trials.OPTS,
]

FEATURE_GROUP = cfg.OptGroup(
    'magnum_capi_feature_enabled',
    title='Features of the cloud under test')

FEATURE_OPTS = [
    cfg.BoolOpt(
        'resize', default=True,
        help='The driver can change the number of nodes of an existing '
             'cluster. When false, no test resizes a cluster.'),
    cfg.BoolOpt(
        'workload_api', default=True,
        help='The Kubernetes API of the clusters can be reached from where '
             'the tests run, and lists nodes. When false, tests check only '
             'what Magnum reports. Requires the Python package kubernetes.'),
    cfg.BoolOpt(
        'odd_masters_only', default=True,
        help='The driver refuses an even number of control plane nodes, which '
             'gives etcd no additional fault tolerance. When false, this is '
             'not tested.'),
    cfg.BoolOpt(
        'image_driver', default=True,
        help='The property magnum_driver of an image determines the driver of '
             'its cluster templates, as of Magnum 18 (2024.1). When false, '
             'this is not tested.'),
    cfg.BoolOpt(
        'real_nodes', default=False,
        help='The nodes of clusters are servers of this cloud. When true, a '
             'test fails if ports, volumes, load balancers or other resources '
             'of its cluster are left behind.'),
    cfg.BoolOpt(
        'cloud_provider', default=True,
        help='Clusters whose nodes are servers run pods, and a cloud provider '
             'that creates load balancers for services and volumes for '
             'claims. When false, this is not tested. Only used with '
             'real_nodes.'),
    cfg.BoolOpt(
        'three_masters', default=False,
        help='The quota has room for clusters with three control plane '
             'nodes. When false, they are not tested.'),
    *features.RELEASE_OPTS,
    *features.DISCOVERY_OPTS,
    *features.API_OPTS,
]

#: (group, options): the one table that everything below and plugin.py use.
TABLE = (
    (SERVICE_AVAILABLE_GROUP, SERVICE_AVAILABLE_OPTS),
    (GROUP, OPTS),
    (FEATURE_GROUP, FEATURE_OPTS),
)


def list_opts():
    """Return the options in the form that oslo-config-generator reads."""
    return [(group.name, opts) for group, opts in TABLE]
