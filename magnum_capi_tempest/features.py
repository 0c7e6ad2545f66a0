# SPDX-License-Identifier: Apache-2.0

"""Features that one Magnum has and another lacks, whatever the driver.

These are the options of ``[magnum_capi_feature_enabled]``. They are separate
from :mod:`magnum_capi_tempest.config` because most need the same two
sentences: what is promised, and what happens otherwise. What a driver promises
is in :mod:`magnum_capi_tempest.promises`.
"""

from oslo_config import cfg


def _promise(name, what, magnum):
    """Return the flag for something that Magnum itself does not promise.

    :param what: what a deployment promises, a sentence without its stop.
    :param magnum: what an unmodified Magnum 23 does instead, likewise.
    """
    return cfg.BoolOpt(
        name, default=False,
        help=f'{what}. An unmodified Magnum 23 does not promise this: '
             f'{magnum}. When false, this is not tested.')


#: What Magnum itself has since a certain release.
RELEASE_OPTS = [
    cfg.BoolOpt(
        'template_driver', default=True,
        deprecated_name='driver_field',
        help='A cluster template keeps the driver that its request names, as '
             'of Magnum 23 (2026.2). Earlier releases store the property '
             'magnum_driver of the image instead. When false, this is not '
             'tested, and tests set the driver of a template with an update.'),
    cfg.BoolOpt(
        'hidden_template_unseen', default=True,
        help='Members cannot show a hidden public cluster template, as of '
             'Magnum 23 (2026.2). When false, tests only check that it is in '
             'no list.'),
    cfg.BoolOpt(
        'failed_cluster_polled', default=True,
        help='Magnum asks the driver for the state of clusters that are '
             'CREATE_FAILED or UPDATE_FAILED, too, as of Magnum 22 (2026.1), '
             'so that they can still become complete. Magnum 22 has the same '
             'microversion as 21, so set this by hand for it. When false, '
             'this is not tested.'),
]

#: The lowest microversion of the first release that has all of them.
_SINCE = (1, 13)


def of_release(microversion):
    """Return the flags that follow from a Magnum's highest microversion.

    :param microversion: for example "1.14".
    :returns: dict of name and bool.
    """
    has = tuple(map(int, microversion.split('.'))) >= _SINCE
    return {option.name: has for option in RELEASE_OPTS}


#: What the discovery filter of this project, or a patched Magnum, adds.
DISCOVERY_OPTS = [
    _promise(
        'ambiguity_refused',
        'A cluster template whose type several drivers provide is refused '
        'if neither the template nor the image names one and no [drivers] '
        'default_driver provides the type; the error names the candidates',
        'the first driver in alphabetical order is used'),
    _promise(
        'first_driver_taken',
        'A cluster template whose type several drivers provide gets the '
        'first of them in alphabetical order if neither the template nor the '
        'image names one and no [drivers] default_driver provides the type; '
        'the opposite of ambiguity_refused', 'the first of all drivers in '
        'alphabetical order is used, whatever it provides'),
    _promise(
        'sole_provider_chosen',
        'A cluster template gets the only driver that provides its type if '
        'nothing names one', 'the first driver in alphabetical order is used, '
        'or [drivers] default_driver, whatever it provides'),
    _promise(
        'driver_must_provide_type',
        'A cluster template is refused if its driver does not provide its '
        'type, or if no driver does, even if the request names the operating '
        'system', 'any installed driver can be used by its name'),
    _promise(
        'disabled_driver_refused',
        'A driver in [drivers] disabled_drivers is refused for cluster '
        'templates, and for clusters of existing templates',
        'disabled drivers can be used by their names'),
    _promise(
        'beta_driver_refused',
        'A beta driver that is not in [drivers] enabled_beta_drivers is '
        'refused', 'beta drivers can be used by their names'),
    _promise(
        'magnum_distro',
        'The property magnum_distro of an image takes precedence over '
        'os_distro', 'it is ignored'),
    _promise(
        'magnum_distro_alone',
        'An image needs no os_distro when it has magnum_distro',
        'os_distro is required. No filter in front of Magnum can cure this'),
    _promise(
        'driver_name_trimmed',
        'Blanks around the property magnum_driver of an image are ignored, '
        'and a blank value counts as none', 'names are used as they are'),
    _promise(
        'template_driver_decides',
        'The driver that a cluster template names decides whether a cluster '
        'can be created', 'the driver that was registered last for the type '
        'decides. No filter in front of Magnum can cure this'),
    _promise(
        'template_update_checked',
        'An update of a cluster template is refused if no driver could be '
        'chosen for the result', 'updates are not checked'),
    _promise(
        'upgrade_keeps_driver',
        'A cluster is not upgraded to a cluster template of another driver',
        'the other driver takes over the running cluster'),
    _promise(
        'broken_driver_isolated',
        'A driver that cannot be loaded does not affect other drivers',
        'requests fail, or other drivers are forgotten. No filter in front '
        'of Magnum can cure this completely'),
    _promise(
        'values_escaped',
        'An error shows values of images shortened, and without control '
        'characters', 'they are repeated as they are'),
]


#: What the REST API does, whatever the driver.
API_OPTS = [
    cfg.BoolOpt(
        'bad_input_refused', default=False,
        help='Every invalid value of a field is refused, with a status below '
             '500 and an error in JSON. An unmodified Magnum 23 does not '
             'promise this. When false, the deviations listed in '
             'doc/source/api-deviations.rst, and no others, are attached to '
             'the results and do not fail a test.'),
    _promise(
        'microversion_edges_checked',
        'What the microversions 1.4 (stats), 1.5 (rotation of certificate '
        'authorities), 1.6 (quotas) and 1.14 (node_labels, node_taints) added '
        'does not exist for requests with lower ones',
        'it exists in all microversions'),
    _promise(
        'admin_updates_templates',
        'An admin can update cluster templates of other projects that are '
        'not public', 'they are not found'),
    _promise(
        'template_without_flavors_updated',
        'A cluster template without flavor_id or master_flavor_id can be '
        'updated', 'every update is refused, as no flavor is named None'),
    cfg.BoolOpt(
        'roles_enforced', default=True,
        help='A user with only the role reader in a project cannot change '
             'anything there: Magnum enforces the roles member and reader '
             '([oslo_policy] enforce_new_defaults, which is the default). '
             'When false, this is not tested.'),
]
