# SPDX-License-Identifier: Apache-2.0

"""Flags of what some deployments promise and others do not.

They are options of ``[magnum_capi_feature_enabled]``, apart from the others in
:mod:`magnum_capi_tempest.config` because each needs the same two sentences:
what is promised, and what happens where it is not.
"""

from oslo_config import cfg


def _promise(name, what, magnum):
    """Return the flag of something that Magnum itself does not promise.

    :param what: what a deployment promises, a sentence without its stop.
    :param magnum: what an unmodified Magnum 23 does instead, the same.
    """
    return cfg.BoolOpt(
        name, default=False,
        help=f'{what}. An unmodified Magnum 23 does not promise this: '
             f'{magnum}. When false, this is not tested.')


#: What Magnum itself has as of a release.
RELEASE_OPTS = [
    cfg.BoolOpt(
        'template_driver', default=True,
        deprecated_name='driver_field',
        help='A cluster template keeps the driver that its request names, as '
             'of Magnum 23 (2026.2). Earlier releases store the property '
             'magnum_driver of the image instead. When false, this is not '
             'tested, and templates of a driver get it by an update.'),
    cfg.BoolOpt(
        'hidden_template_unseen', default=True,
        help='Members cannot show a public cluster template that is hidden, '
             'as of Magnum 23 (2026.2). When false, it is tested only that '
             'no list has it.'),
    cfg.BoolOpt(
        'failed_cluster_polled', default=True,
        help='Magnum asks the driver for the state of clusters that are '
             'CREATE_FAILED or UPDATE_FAILED, too, as of Magnum 22 (2026.1), '
             'so that what failed can be complete in the end. 22 has the '
             'microversion of 21: set it there by hand. When false, this is '
             'not tested.'),
]

#: The lowest microversion of a release that has all of them.
_SINCE = (1, 13)


def of_release(microversion):
    """Return the flags that follow from a Magnum's highest microversion.

    :param microversion: for example "1.14".
    :returns: dict of name and bool.
    """
    has = tuple(map(int, microversion.split('.'))) >= _SINCE
    return {option.name: has for option in RELEASE_OPTS}


#: What the discovery filter of this project adds, or another Magnum.
DISCOVERY_OPTS = [
    _promise(
        'ambiguity_refused',
        'A cluster template whose type several drivers provide is refused '
        'when neither the template nor the image names one, and no '
        '[drivers] default_driver provides the type; the answer names the '
        'candidates', 'the first name in the alphabet is taken'),
    _promise(
        'first_driver_taken',
        'A cluster template whose type several drivers provide gets the '
        'first of these by name, when neither the template nor the image '
        'names one, and no [drivers] default_driver provides the type; the '
        'opposite of ambiguity_refused', 'the first name of all drivers is '
        'taken, whatever it provides'),
    _promise(
        'sole_provider_chosen',
        'A cluster template gets the only driver that provides its type '
        'when nothing names one', 'the first name in the alphabet is taken, '
        'or [drivers] default_driver, whatever it provides'),
    _promise(
        'driver_must_provide_type',
        'A cluster template is refused when its driver does not provide its '
        'type, and when no driver does, also when the request says the '
        'operating system', 'any installed driver is taken by its name'),
    _promise(
        'disabled_driver_refused',
        'A driver in [drivers] disabled_drivers is refused for cluster '
        'templates, and for clusters of templates that are older',
        'disabled drivers can be used by their name'),
    _promise(
        'beta_driver_refused',
        'A beta driver that is not in [drivers] enabled_beta_drivers is '
        'refused', 'beta drivers can be used by their name'),
    _promise(
        'magnum_distro',
        'The property magnum_distro of an image counts before os_distro',
        'it is not read'),
    _promise(
        'magnum_distro_alone',
        'An image needs no os_distro when it has magnum_distro',
        'os_distro is required. No filter in front of Magnum can cure this'),
    _promise(
        'driver_name_trimmed',
        'Blanks around the property magnum_driver of an image do not count, '
        'and a blank one is none', 'names are taken as they are'),
    _promise(
        'template_driver_decides',
        'Whether a cluster may be created is asked of the driver that its '
        'template names', 'it is asked of the driver that was registered '
        'last for the type. No filter in front of Magnum can cure this'),
    _promise(
        'template_update_checked',
        'An update of a cluster template is refused when its driver could '
        'not be chosen afterwards', 'updates are not checked'),
    _promise(
        'upgrade_keeps_driver',
        'A cluster is not upgraded to a cluster template of another driver',
        'the other driver takes over the living cluster'),
    _promise(
        'policy_reloaded',
        'Changes of the options of [drivers] in magnum.conf count for new '
        'cluster templates without a restart', 'they are read once'),
    _promise(
        'broken_driver_isolated',
        'A driver that cannot be loaded stops nobody but itself',
        'requests fail, or other drivers are forgotten. No filter in front '
        'of Magnum can cure this wholly'),
    _promise(
        'values_escaped',
        'A refusal shows values of images short, and without control '
        'characters', 'they are repeated as they are'),
]


def _kept(name, what, otherwise=None, default=False):
    """Return the flag of something that some drivers keep to.

    :param what: what a deployment promises, a sentence without its stop.
    :param otherwise: what other drivers do instead, the same.
    """
    return cfg.BoolOpt(
        name, default=default,
        help=f'{what}. ' + (f'Elsewhere: {otherwise}. ' if otherwise else '')
        + 'When false, this is not tested.')


#: What the driver does with living clusters.
LIFE_OPTS = [
    _kept(
        'credential_rotation',
        'The driver rotates the credential of a cluster (microversion 1.12): '
        'the old application credential is gone in the end, and the cluster '
        'goes on working', default=True),
    _kept(
        'three_masters',
        'The quota has room for clusters with three control plane nodes, and '
        'the driver makes them'),
    _kept(
        'downgrade_refused',
        'An upgrade to an image with an older Kubernetes is refused at once, '
        'and the cluster stays as it is',
        'the request is passed on, and the cluster fails'),
    _kept(
        'ca_rotation_safe',
        'A rotation of the certificate authority works or is refused, and '
        'the cluster can be used afterwards',
        'it is refused, but Magnum has replaced the authority already, and '
        'every new certificate is worthless'),
    _kept(
        'ca_refusal_passes',
        'A cluster whose rotation of the certificate authority was refused '
        'is COMPLETE again soon, as it was before',
        'it stays UPDATE_FAILED until its next change'),
    _kept(
        'invalid_credential_shown',
        'A cluster whose application credential became invalid, because it '
        'was deleted or its user lost their roles, is UNHEALTHY with a '
        'health_status_reason that speaks of it; a rotation cures it',
        'it is HEALTHY'),
    _kept(
        'members_cure',
        'A resize by any member of the project brings in a credential of '
        'theirs where that of the cluster became invalid, as that of an '
        'owner who left does',
        'the cluster stays without one, until somebody rotates it'),
    _kept(
        'named_nodes_removed',
        'A resize that names nodes_to_remove removes these nodes, and no '
        'others', 'any nodes go'),
    _kept(
        'autoscaled_count_follows',
        'The node_count of a node group is what the cluster autoscaler made '
        'it, and a size out of its bounds is refused',
        'it stays what it was when the node group was created'),
    _kept(
        'delete_during_create',
        'A cluster that is deleted right after its creation was asked for '
        'goes away, and leaves nothing behind',
        'its deletion never ends, and its machines go on'),
    _kept(
        'last_resize_wins',
        'Of several resizes in quick succession the last one counts',
        'they disturb each other, and fail'),
    _kept(
        'failures_reported',
        'A cluster whose machines cannot be built becomes CREATE_FAILED or '
        'UPDATE_FAILED, with a status_reason',
        'it is COMPLETE, or in progress for ever'),
    _kept(
        'complete_means_ready',
        'A cluster is COMPLETE when all of its nodes are ready, and of the '
        'version that coe_version tells, not before',
        'it is COMPLETE when its machines have been asked for; after an '
        'upgrade coe_version may stay the old one, and a node group in '
        'progress'),
    _kept(
        'autoscaled_without_minimum',
        'A node group of an autoscaled cluster needs no min_node_count',
        'it is refused'),
    _kept(
        'create_timeout_counts',
        'A cluster that is not complete when its create_timeout is over '
        'becomes CREATE_FAILED, with a status_reason',
        'it is in progress for ever, or COMPLETE without its nodes'),
    _kept(
        'failures_end',
        'A cluster that is CREATE_FAILED because its create_timeout was over '
        'becomes CREATE_COMPLETE when all of it is there after all',
        'it stays CREATE_FAILED'),
    _kept(
        'update_node_count',
        'An update of node_count (PATCH) changes the number of default '
        'workers', 'the cluster fails', default=True),
    _kept(
        'upgrade_checked',
        'An upgrade to an image without the property kube_version, or with '
        'one that is several minor versions newer, is refused at once, and '
        'the cluster stays as it is',
        'the request is passed on, and the cluster fails'),
    _kept(
        'image_version_checked',
        'A cluster of an image without the property kube_version is '
        'refused: with an error, or it becomes CREATE_FAILED with a '
        'status_reason that names the property',
        'another version is taken, or the reason is an error of the driver'),
    _kept(
        'allow_list_counts',
        'The label api_master_lb_allowed_cidrs arrives at the load balancer '
        'of the Kubernetes API', 'everybody can reach it'),
    _kept(
        'floating_ip_counts',
        'Without floating_ip_enabled the Kubernetes API of a cluster gets '
        'no floating IP', 'only labels of the driver count'),
    _kept(
        'external_network_optional',
        'A cluster template needs no external_network_id',
        'its clusters cannot be created'),
    _kept(
        'node_labels_and_taints',
        'Nodes join with the node_labels and node_taints of their node '
        'group (microversion 1.14)', 'these have no effect'),
    _kept(
        'projects_apart',
        'What the management cluster has of different projects is in '
        'different namespaces', 'all projects share one'),
    _kept(
        'network_driver_refused',
        'A cluster with a network driver that the driver does not support '
        'is refused: with an error, or it becomes CREATE_FAILED with a '
        'status_reason that names it', 'nodes are never ready'),
    _kept(
        'labels_checked',
        'A cluster with labels that the driver does not know, or cannot '
        'read, is refused: with an error, or it becomes CREATE_FAILED with '
        'a status_reason that names the label',
        'such labels have no effect'),
    _kept(
        'attributes_checked',
        'A cluster with an attribute that the driver has nothing for is '
        'refused: with an error, or it becomes CREATE_FAILED with a '
        'status_reason that names the attribute (insecure_registry)',
        'such attributes have no effect'),
    _kept(
        'any_name',
        'Every name that Magnum accepts for a cluster or a node group does',
        'some names collide, are refused late, or hang'),
    _kept(
        'secrets_untold',
        'Neither answers of Magnum nor its logs have a private key or the '
        'application credential of a cluster in them',
        'its driver writes them down'),
    _kept(
        'self_healing',
        'A node that fails, or is deleted, is replaced by another one',
        'it stays as it is, until somebody deletes its machine'),
    _kept(
        'drain_awaited',
        'A resize is in progress until the nodes that go are drained and '
        'gone', 'it is COMPLETE while pods hold up the end of a node'),
    _kept(
        'driver_rests',
        'Nothing is written to the management cluster when nothing happens',
        'every look at a cluster writes something, and Cluster API works '
        'for nothing'),
    _kept(
        'batch_size_counts',
        'An upgrade replaces as many workers at once as max_batch_size says',
        'it has a pace of its own'),
    _kept(
        'upgrade_in_order',
        'An upgrade replaces the control plane first, then one node group '
        'after the other, and the only node of a node group when another '
        'one is there', 'all are replaced at the same time: what runs on a '
        'single node is interrupted, and a kubelet may be newer than the API '
        'for a while, which Kubernetes does not support'),
    _kept(
        'nameless_upgraded',
        'Clusters of cluster templates that name no driver can be upgraded '
        'to those that name the driver which serves them, see '
        'nameless_os_distro', 'the upgrade is refused'),
    _kept(
        'overlay_lists_merged',
        'Values of the operator (value_overlay) are added to the lists that '
        'users have filled', 'they take the place of these lists'),
    _kept(
        'zero_nodes',
        'Clusters can be without workers: made so, and resized to none',
        'they are refused, or fail', default=True),
    _kept(
        'networks_count',
        'Clusters are on the networks and the subnet that their template '
        'names by their uuids (external_network_id, fixed_network, '
        'fixed_subnet)', 'they are on others'),
    _kept(
        'names_of_the_project',
        'A name of a network (fixed_network) is that of the one which the '
        'owner of the cluster can see, whatever other projects have',
        'the cluster fails where several projects have a network of this '
        'name'),
    _kept(
        'clusters_remember',
        'A resize leaves a cluster with the Kubernetes that it was made of, '
        'also when the image has another kube_version by then',
        'all nodes are replaced'),
    _kept(
        'proxy_passwords_hidden',
        'Passwords of proxies (http_proxy) reach the nodes, and are in '
        'Secrets of the management cluster only',
        'everybody who may read objects of Cluster API finds them there'),
    _kept(
        'extra_networks',
        'The label extra_network_names puts workers on more networks',
        'it has no effect'),
    _kept(
        'autoscaled_bounds_follow',
        'A change of min_node_count or max_node_count of an autoscaled node '
        'group arrives at the cluster autoscaler', 'the first ones stay'),
    _kept(
        'autoscaled_resize_counts',
        'A resize of an autoscaled node group gives it so many nodes, and '
        'the autoscaler goes on from there',
        'it is COMPLETE, and no node comes or goes'),
    _kept(
        'credential_least_role',
        'The application credential of a cluster has not the role admin, '
        'also when its owner has it, and is not unrestricted',
        'it has all roles of the owner'),
]

#: What the REST API does, whatever the driver is.
API_OPTS = [
    cfg.BoolOpt(
        'bad_input_refused', default=False,
        help='Every value that a field cannot have is refused, with a status '
             'below 500 and an error in JSON. An unmodified Magnum 23 does '
             'not promise this. When false, its deviations of '
             'doc/source/api-deviations.rst, and no others, are attached to '
             'the results and are no failures.'),
    _promise(
        'microversion_edges_checked',
        'What came with the microversions 1.4 (stats), 1.5 (rotation of '
        'certificate authorities), 1.6 (quotas) and 1.14 (node_labels, '
        'node_taints) does not exist for requests with lower ones',
        'it exists for all'),
    _promise(
        'admin_updates_templates',
        'An admin can update cluster templates of other projects that are '
        'not public', 'they are not found'),
    _promise(
        'template_without_flavors_updated',
        'A cluster template without flavor_id or master_flavor_id can be '
        'updated', 'every update is refused, as no flavor is called None'),
    _kept(
        'roles_enforced',
        'A user with only the role reader in a project changes nothing there: '
        'Magnum enforces the roles member and reader ([oslo_policy] '
        'enforce_new_defaults, which is the default)',
        'every user of a project may do what its members may',
        default=True),
]
