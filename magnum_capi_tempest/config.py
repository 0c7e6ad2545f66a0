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
        help='Run the tests of Magnum with a Cluster API driver. Set it to '
             'false on a cloud without Magnum: all of them are skipped.'),
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
        help='Longest pause, in seconds, between two looks at a cluster that '
             'is waited for. Waiting starts with shorter pauses.'),
    cfg.IntOpt(
        'build_timeout', default=1800, min=1,
        help='How many seconds a cluster may take to be created or changed '
             'before the test fails. A minute is enough in the sandbox; '
             'virtual machines with image downloads need half an hour.'),
    cfg.IntOpt(
        'delete_timeout', default=900, min=1,
        help='How many seconds a cluster may take to be deleted before the '
             'test fails, with everything that Cluster API keeps of it.'),
    cfg.StrOpt(
        'min_microversion', default='1.1',
        help='Lowest Magnum API microversion to test with, for example 1.9. '
             'Tests of lower ones only are skipped. Magnum tells what it '
             'supports in the answer to GET on its endpoint.'),
    cfg.StrOpt(
        'max_microversion', default='latest',
        help='Highest Magnum API microversion to test with, for example '
             '1.12. Tests that need a higher one are skipped. "latest" is '
             'the highest that this Magnum has.'),
    cfg.StrOpt(
        'image_id', default='',
        help='Name or id of the Glance image that cluster nodes boot from. '
             'It must carry the property os_distro, and what the driver asks '
             'for (magnum-capi-helm: kube_version). Required.'),
    cfg.StrOpt(
        'flavor_id', default='',
        help='Name or id of the Nova flavor of worker nodes. Cluster API '
             'drivers want at least 2 vCPU and 2 GiB. Required.'),
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
             'magnum.conf. Magnum\'s own default, flannel, is known to no '
             'Cluster API driver: nodes would never be ready with it.'),
    cfg.StrOpt(
        'dns_nameserver', default='',
        help='DNS server of the networks that are made for clusters. When '
             'empty, Magnum\'s default is used.'),
    cfg.StrOpt(
        'driver', default='',
        help='Name of the Magnum driver under test (its entry point, for '
             'example k8s_capi_helm_v1). When set, cluster templates are '
             'created with it and tests verify that they got it. When empty, '
             'Magnum chooses the driver.'),
    cfg.ListOpt(
        'not_promised', default=[],
        help='Ids of promises that the driver under test does not make, or '
             'is known to break, for example lifecycle.resize.last-wins: '
             'their tests are skipped. All promises are in the '
             'documentation of the suite.'),
    cfg.BoolOpt(
        'master_lb_enabled', default=True,
        help='Value of master_lb_enabled in cluster templates. Magnum '
             'refuses more than one control plane node without it.'),
    cfg.DictOpt(
        'labels', default={},
        help='Labels of the cluster templates, as key:value pairs divided by '
             'commas, for what the driver needs on this cloud, for example '
             'boot_volume_size:20,octavia_provider:ovn.'),
    cfg.IntOpt(
        'master_count', default=1, min=1,
        help='Number of control plane nodes of the clusters that are '
             'created. Drivers take odd numbers only.'),
    cfg.IntOpt(
        'node_count', default=1, min=1,
        help='Number of worker nodes of the clusters that are created. Tests '
             'that resize a cluster go up by one from here.'),
    cfg.StrOpt(
        'management_kubeconfig', default='',
        help='Path of a kubeconfig of the Cluster API management cluster '
             'that may list everything, secrets too. When set, failures '
             'carry the conditions that Cluster API reports, and tests '
             'verify that a deleted cluster leaves nothing behind there. '
             'Needs the Python package kubernetes.'),
    cfg.StrOpt(
        'artifact_dir', default='',
        help='Folder, on the machine that runs Tempest, for what a failed '
             'test carries: one folder a test, with what Magnum, its logs, '
             'Cluster API and the nodes said. It also gets a list of what '
             'tests made, for "magnum-capi tempest leaks". Known forms of '
             'secrets are taken out; only its owner can read it. When '
             'empty, evidence is in the test results only.'),
    cfg.ListOpt(
        'log_files', default=[],
        help='Logs of Magnum\'s API and conductor on the machine that runs '
             'Tempest, divided by commas, for example '
             '/var/log/magnum/magnum-conductor.log; a star stands for any '
             'text. Failures carry the lines that name a request, a user or '
             'a cluster of the test.'),
    cfg.StrOpt(
        'log_command', default='',
        help='Command that prints these logs, where they are not in files. '
             '{since} in it becomes the time when the tests of the class '
             'began, as journalctl takes it, {words} a regular expression '
             'of what is searched. Devstack: sudo journalctl --no-pager '
             '--output cat --since {since} --grep {words} --unit '
             'devstack@magnum-api --unit devstack@magnum-cond. Divided as a '
             'shell does.'),
    cfg.IntOpt(
        'evidence_timeout', default=60, min=1,
        help='How many seconds a failed test may spend on asking what there '
             'is to know of its failure. What does not answer is named.'),
    cfg.ListOpt(
        'clashing_drivers', default=[],
        help='Names of two or more enabled drivers that provide the cluster '
             'type of image_id, for example '
             'k8s_capi_helm_v1,k8s_cluster_api_ubuntu. When empty, what '
             'Magnum does with two drivers of one type is not tested.'),
    cfg.StrOpt(
        'mismatched_driver', default='',
        help='Name of an enabled driver that does not provide the cluster '
             'type of image_id. When empty, naming one that does not fit is '
             'not tested.'),
    cfg.StrOpt(
        'disabled_driver', default='',
        help='Name of a driver that provides the cluster type of image_id '
             'and is in [drivers] disabled_drivers of magnum.conf. When '
             'empty, naming a disabled driver is not tested.'),
    cfg.StrOpt(
        'beta_driver', default='',
        help='Name of a beta driver that is not in [drivers] '
             'enabled_beta_drivers of magnum.conf; it provides '
             'beta_shadowed_distro. When empty, naming a beta driver is not '
             'tested.'),
    cfg.StrOpt(
        'broken_driver', default='',
        help='Name of a driver that is installed and cannot be loaded, for '
             'want of a library for example. When empty, what it does to '
             'others is not tested. Set it in an environment made for this '
             'only: it stops an unmodified Magnum 23.'),
    cfg.StrOpt(
        'sole_distro', default='',
        help='Operating system (magnum_distro or os_distro of an image) that '
             'one driver only provides, best one whose name is not the first '
             'in the alphabet. When empty, this is not tested.'),
    cfg.StrOpt(
        'sole_driver', default='',
        help='Name of the driver that provides sole_distro.'),
    cfg.StrOpt(
        'beta_shadowed_distro', default='',
        help='Operating system that beta_shadowed_driver provides, and, '
             'registered after it, beta_driver: Magnum then finds the beta '
             'driver by the type. When empty, this is not tested.'),
    cfg.StrOpt(
        'beta_shadowed_driver', default='',
        help='Name of the driver to use for beta_shadowed_distro.'),
    cfg.StrOpt(
        'lax_distro', default='',
        help='Operating system that lax_shadowed_driver provides, and, '
             'registered after it, a driver that accepts any number of '
             'control plane nodes. When empty, it is not tested whose rule '
             'counts.'),
    cfg.StrOpt(
        'lax_shadowed_driver', default='',
        help='Name of a driver for lax_distro that refuses an even number of '
             'control plane nodes.'),
    cfg.StrOpt(
        'magnum_distro_image', default='',
        help='Name or id of an image that states its operating system by the '
             'property magnum_distro; os_distro may be missing. Everybody '
             'must see it. Its type must have one driver, or the image name '
             'one. When empty, this is not tested.'),
    cfg.StrOpt(
        'upgrade_image_id', default='',
        help='Name or id of an image like image_id, with the next minor '
             'version of Kubernetes. When empty, upgrades are not tested.'),
    cfg.DictOpt(
        'upgrade_labels', default={},
        help='Labels that cluster templates of upgrade_image_id have besides, '
             'and instead of, those of the option labels, for drivers that '
             'take the version of Kubernetes from a label: '
             'kube_tag:v1.35.0 for magnum-cluster-api. A kube_tag here is '
             'the version that nodes must have after an upgrade; otherwise '
             'that is kube_version of the image.'),
    cfg.DictOpt(
        'volume_labels', default={'csi_cinder_reclaim_policy': 'Delete'},
        help='Labels of the clusters whose volumes are tested, besides those '
             'of the option labels: the driver must have a volume go when '
             'its claim is deleted. Only used with real_nodes.'),
    cfg.StrOpt(
        'nameless_os_distro', default='',
        help='Property os_distro of images for which Magnum takes the driver '
             'under test when a cluster template names none, because no '
             'other driver provides it. Tests make such images without data, '
             'so that machines cannot boot from them: where that matters, '
             'leave it empty, and templates that name no driver are not '
             'tested.'),
    cfg.StrOpt(
        'known_answers', default='',
        help='CSV file with what this Magnum is known to answer to values '
             'that it should refuse: a copy of known_answers.csv of this '
             'plugin, with other lines. When empty, what was measured of '
             'unmodified releases counts.'),
    cfg.StrOpt(
        'value_overlay', default='',
        help='Name of an overlay of Helm values (label capi_helm_values) '
             'with "apiServer: {allowedCIDRs: [203.0.113.0/24]}". When '
             'empty, it is not tested what overlays do to lists.'),
    cfg.StrOpt(
        'slow_flavor', default='',
        help='Name or id of a flavor whose machines become ready long after '
             'they are built, 20 seconds or more. When empty, it is not '
             'tested whether a cluster is complete too early.'),
    cfg.StrOpt(
        'failing_flavor', default='',
        help='Name or id of a flavor whose machines cannot be built, for '
             'example one that no host has room for. When empty, it is not '
             'tested how a failure of node groups is reported.'),
    cfg.StrOpt(
        'stuck_flavor', default='',
        help='Name or id of a flavor whose machines are built, and never '
             'become ready nodes. When empty, it is not tested whether '
             'create_timeout of a cluster counts.'),
    cfg.StrOpt(
        'late_flavor', default='',
        help='Name or id of a flavor whose machines take longer than a '
             'minute to become ready, and as long to be deleted. In most '
             'clouds that is any flavor. When empty, it is not tested what '
             'becomes of operations that take longer than create_timeout.'),
    cfg.BoolOpt(
        'management_changes', default=False,
        help='Tests may change in the management cluster what belongs to '
             'clusters that they have made: they delete machines, remove '
             'owner references, pause Cluster API for a moment. '
             'management_kubeconfig must allow it. When false, it is not '
             'tested what comes back.'),
    cfg.IntOpt(
        'rest_seconds', default=120, min=1,
        help='How many seconds nothing may be written to the management '
             'cluster while nothing happens to a cluster. As long as '
             'Cluster API\'s own tests look on by default; more than '
             '[kubernetes] health_polling_interval of magnum.conf (60) '
             'is needed to catch a driver that writes on every poll.'),
    cfg.IntOpt(
        'many_clusters', default=0, min=0,
        help='How many clusters are made one shortly after the other, all '
             'of one project, whose quota must have room for them. Cluster '
             'API\'s drivers should bear 20, with rate limiting, which a '
             'sandbox has with "up --rate-limiting". When 0, this is not '
             'tested.'),
    cfg.IntOpt(
        'many_clusters_timeout', default=600, min=1,
        help='How many seconds may pass until all of many_clusters are '
             'complete.'),
    cfg.StrOpt(
        'configure_command', default='',
        help='Command that changes options of magnum.conf and restarts '
             'Magnum, ready when it ends. It is given '
             'GROUP.OPTION=VALUE once or more; an empty VALUE brings back '
             'what was there before. Those tests run alone. When empty, what '
             'needs another configuration is not tested. Divided as a shell '
             'does, for example: magnum-capi sandbox set --directory /box.'),
    cfg.StrOpt(
        'configure_live_command', default='',
        help='The same without a restart, for example: magnum-capi sandbox '
             'set --no-restart --directory /box. When empty, it is not '
             'tested whether Magnum follows its files without a restart.'),
    cfg.IntOpt(
        'configure_timeout', default=300, min=1,
        help='How many seconds configure_command may take.'),
    *trials.OPTS,
]

FEATURE_GROUP = cfg.OptGroup(
    'magnum_capi_feature_enabled',
    title='What the cloud under test has')

FEATURE_OPTS = [
    cfg.BoolOpt(
        'resize', default=True,
        help='The driver changes the number of nodes of a living cluster. '
             'When false, clusters keep their size in all tests.'),
    cfg.BoolOpt(
        'workload_api', default=True,
        help='The Kubernetes API of the clusters can be reached from where '
             'the tests run, and lists nodes. When false, tests stop at what '
             'Magnum says. Needs the Python package kubernetes.'),
    cfg.BoolOpt(
        'odd_masters_only', default=True,
        help='The driver refuses an even number of control plane nodes, as '
             'etcd gains nothing from it. When false, this is not tested.'),
    cfg.BoolOpt(
        'image_driver', default=True,
        help='The property magnum_driver of an image names the driver of its '
             'cluster templates, as of Magnum 18 (2024.1). When false, this '
             'is not tested.'),
    cfg.BoolOpt(
        'real_nodes', default=False,
        help='The nodes of clusters are servers of this cloud. When true, '
             'ports, volumes, load balancers and what else is left of a '
             'cluster is found, and fails its test.'),
    cfg.BoolOpt(
        'cloud_provider', default=True,
        help='Clusters whose nodes are servers run pods, and a cloud '
             'provider that makes load balancers of services and volumes of '
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
