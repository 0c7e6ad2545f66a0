# SPDX-License-Identifier: Apache-2.0

"""What one Magnum has and another has not, whatever the driver is.

Options of ``[magnum_capi_feature_enabled]``, apart from the others in
:mod:`magnum_capi_tempest.config` because most need the same two sentences:
what is promised, and what happens where it is not. What a driver promises is
in :mod:`magnum_capi_tempest.promises`.
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
             'tested, and tests set the driver of a template by an update.'),
    cfg.BoolOpt(
        'hidden_template_unseen', default=True,
        help='Members cannot show a hidden public cluster template, as of '
             'Magnum 23 (2026.2). When false, tests only check that no list '
             'has it.'),
    cfg.BoolOpt(
        'failed_cluster_polled', default=True,
        help='Magnum asks the driver for the state of clusters that are '
             'CREATE_FAILED or UPDATE_FAILED, too, as of Magnum 22 (2026.1), '
             'so that they can still become complete. Magnum 22 has the same '
             'microversion as 21, so set this by hand for it. When false, '
             'this is not tested.'),
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
    cfg.BoolOpt(
        'roles_enforced', default=True,
        help='A user with only the role reader in a project changes nothing '
             'there: Magnum enforces the roles member and reader '
             '([oslo_policy] enforce_new_defaults, which is the default). '
             'When false, this is not tested.'),
]
