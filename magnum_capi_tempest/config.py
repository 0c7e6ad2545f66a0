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

import collections.abc

from oslo_config import cfg

from magnum_capi_tempest import promises

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
    # The first four are what tempest.config.service_client_config() reads;
    # the region is that of [identity].
    cfg.StrOpt(
        'catalog_type', default='container-infra',
        help='Type of the Magnum endpoint in the Keystone catalog. Look it '
             'up with: openstack catalog list.'),
    cfg.StrOpt(
        'endpoint_type', default='public',
        choices=['public', 'admin', 'internal',
                 'publicURL', 'adminURL', 'internalURL'],
        help='Interface of the Magnum endpoint to use.'),
    cfg.IntOpt(
        'build_interval', default=5, min=1,
        help='Longest interval, in seconds, between two requests for the '
             'state of a cluster that a test waits for. A wait starts with '
             'shorter intervals.'),
    cfg.IntOpt(
        'build_timeout', default=1800, min=1,
        help='Seconds to wait for a cluster to be created, changed or '
             'deleted, with all of its Cluster API objects, before the test '
             'fails. A minute is enough in the sandbox; virtual machines that '
             'download images need half an hour.'),
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
        'not_promised', default=promises.not_of_magnum(),
        help='IDs of promises that are not made or known to be broken, by the '
             'driver under test, such as lifecycle.resize.last-wins, or by '
             'this Magnum, such as discovery.disabled.refused. "discovery" '
             'stands for everything that begins with "discovery.". Their '
             'tests are skipped. The default is what an unmodified Magnum '
             'does not promise; who sets this repeats that. The documentation '
             'of the suite lists all promises.'),
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
    cfg.ListOpt(
        'clashing_drivers', default=[],
        help='Names of two or more enabled drivers that provide the cluster '
             'type of image_id, for example '
             'k8s_capi_helm_v1,k8s_cluster_api_ubuntu. When empty, it is not '
             'tested what Magnum does with two drivers of one type.'),
    cfg.StrOpt(
        'discovery_fixture', default='',
        help='YAML file that names drivers, images and values which were '
             'installed for tests, for example "disabled_driver: '
             'k8s_mine_v1", a driver in [drivers] disabled_drivers. The '
             'documentation of the suite lists its fields. What it lacks is '
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
    cfg.StrOpt(
        'nameless_os_distro', default='',
        help='Property os_distro of images for which Magnum chooses the '
             'driver under test when a cluster template names none, because '
             'no other driver provides it. Tests create such images without '
             'data, so that machines cannot boot from them. Where that '
             'matters, leave this empty; templates that name no driver are '
             'then not tested.'),
    cfg.DictOpt(
        'fault_flavors', default={},
        help='Names or ids of flavors whose machines behave in some way, as '
             'key:name pairs separated by commas. The keys: "slow" become '
             'ready 20 seconds or more after they are built; "failing" cannot '
             'be built, for example as they are too large for any host; '
             '"stuck" are built but never become ready nodes; "late" take '
             'longer than a minute to become ready, and as long to be '
             'deleted, like most. What such a flavor is needed for is not '
             'tested without it.'),
    cfg.BoolOpt(
        'management_changes', default=False,
        help='Tests may change objects of their own clusters in the '
             'management cluster: they delete machines, remove owner '
             'references, and pause Cluster API for a moment. '
             'management_kubeconfig must allow this. When false, it is not '
             'tested what the driver restores.'),
    cfg.IntOpt(
        'many_clusters', default=0, min=0,
        help='Number of clusters to create in quick succession in one '
             'project, whose quota must have room for them. Cluster API '
             'drivers should handle 20, with rate limiting, which a sandbox '
             'has with "up --rate-limiting". When 0, this is not tested.'),
    cfg.StrOpt(
        'configure_command', default='',
        help='Command that changes options of magnum.conf and restarts '
             'Magnum; Magnum must be ready when it ends. Its arguments are '
             'one or more GROUP.OPTION=VALUE; an empty VALUE restores the '
             'previous value. Tests that use it run alone. When empty, tests '
             'that need another configuration are skipped. It is split like a '
             'shell command, for example: magnum-capi sandbox set --directory '
             '/box.'),
    cfg.StrOpt(
        'conformance_plan', default='',
        help='Which conformance tests Sonobuoy runs in a new cluster: "quick" '
             '(one test, a minute), "non-disruptive-conformance" or '
             '"certified-conformance" (hours), or the path of a YAML file '
             'whose fields the documentation of the suite lists. Requires '
             'nodes that run pods, and the Python package kubernetes. When '
             'empty, conformance is not tested: the nodes of an in-memory '
             'sandbox run no pods.'),
]

FEATURE_GROUP = cfg.OptGroup(
    'magnum_capi_feature_enabled',
    title='Features of the cloud under test')

FEATURE_OPTS = [
    cfg.BoolOpt(
        'workload_api', default=True,
        help='The Kubernetes API of the clusters can be reached from where '
             'the tests run, and lists nodes. When false, tests check only '
             'what Magnum reports. Requires the Python package kubernetes.'),
    cfg.BoolOpt(
        'real_nodes', default=False,
        help='The nodes of clusters are servers of this cloud. When true, a '
             'test fails if ports, volumes, load balancers or other resources '
             'of its cluster are left behind.'),
    cfg.BoolOpt(
        'three_masters', default=False,
        help='The quota has room for clusters with three control plane '
             'nodes. When false, they are not tested.'),
]

#: (group, options): the one table that everything below and plugin.py use.
TABLE = (
    (SERVICE_AVAILABLE_GROUP, SERVICE_AVAILABLE_OPTS),
    (GROUP, OPTS),
    (FEATURE_GROUP, FEATURE_OPTS),
)


def list_opts() -> list[tuple[str, collections.abc.Sequence[cfg.Opt]]]:
    """Return the options in the form that oslo-config-generator reads."""
    return [(group.name, opts) for group, opts in TABLE]
