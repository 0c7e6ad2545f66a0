# SPDX-License-Identifier: Apache-2.0

"""Options for single tests that do not fit the cloud, in words.

Checks of :mod:`.preflight.checks`. An empty option is not tested and no
problem; a wrong one would fail a test an hour later.
"""

import collections.abc
import dataclasses
import re
import typing

from tempest.lib import exceptions as lib_exc

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest import option_files
from magnum_capi_tempest import promises
from magnum_capi_tempest.tests.common import driver_marks
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common import tempest_types

#: Keys of fault_flavors.
FLAVORS = ('slow', 'failing', 'stuck', 'late')

_VERSION = re.compile(r'v?(\d+)\.(\d+)\.(\d+)')


@dataclasses.dataclass(frozen=True)
class Cloud:
    """What the checks examine.

    :param manager: clients of a user.
    :param magnum: clients of Magnum of the user.
    :param admin_magnum: the same for an admin; None if there is none.
    """

    conf: tempest_types.Conf
    manager: tempest_types.Manager
    magnum: factories.Magnum
    admin_magnum: factories.Magnum | None

    @property
    def options(self) -> tempest_types.Conf:
        """Those of [magnum_capi]."""
        return self.conf.magnum_capi


#: Returns a sentence, or None if all is well.
Check: typing.TypeAlias = collections.abc.Callable[[Cloud], str | None]


def upgrade_image(cloud: Cloud) -> str | None:
    """Report why upgrade_image_id is not an upgrade."""
    wanted = cloud.options.upgrade_image_id
    client = getattr(cloud.manager, 'image_client_v2', None)
    if not wanted or not client:
        return None
    found = images.matching(client, wanted)
    if len(found) != 1:
        return (f'upgrade_image_id is {wanted!r}, and {len(found)} images '
                'with this name or id are visible. Compare: openstack image '
                'list')
    first = images.matching(client, cloud.options.image_id)
    if len(first) != 1:
        # Already reported for image_id.
        return None
    return upgrade_problem(first[0], found[0], cloud.options.labels,
                           cloud.options.upgrade_labels)


def upgrade_problem(first: json_types.Object, second: json_types.Object,
                    labels: dict[str, str], upgrade_labels: dict[str, str]
                    ) -> str | None:
    """Return why one image's template is no upgrade of another's. Pure.

    Versions that neither image nor label has are not compared.

    :param first: properties of the image of image_id.
    :param second: properties of the image of upgrade_image_id.
    :param labels: of all cluster templates.
    :param upgrade_labels: additional ones of those to upgrade to.
    """
    if first.get('os_distro') != second.get('os_distro'):
        return ('os_distro of upgrade_image_id is '
                f'{second.get("os_distro")!r}, and of image_id '
                f'{first.get("os_distro")!r}: Magnum would take another '
                'driver')
    versions = [factories.upgrade_version(*each) for each in (
        (first, labels), (second, {**labels, **upgrade_labels}))]
    old, new = map(_parsed, versions)
    if not (old and new) or (old < new and new[:2] <= (old[0], old[1] + 1)):
        return None
    return (f'An upgrade would go from {versions[0]} (image_id, labels) to '
            f'{versions[1]} (upgrade_image_id, upgrade_labels), which must be '
            'newer, by one minor version at most')


def _parsed(version: str | None) -> tuple[int, ...] | None:
    found = _VERSION.fullmatch(version or '')
    return found and tuple(map(int, found.groups()))


def clashing_drivers(cloud: Cloud) -> str | None:
    """Report why clashing_drivers contains no clash."""
    names = cloud.options.clashing_drivers
    if names and len(set(names)) < 2:
        return (f'clashing_drivers is {",".join(names)!r}, and must name two '
                'drivers or more')
    return None


def marks(cloud: Cloud) -> str | None:
    """Report why discovery_fixture cannot be read."""
    try:
        driver_marks.configured(option_files.discovery_fixture(
            cloud.options.discovery_fixture))
    except errors.MagnumCapiError as e:
        return ' '.join(str(e).split())
    return None


def template(cloud: Cloud) -> str | None:
    """Report why Magnum refuses a cluster template with these options."""
    answer = _refused(cloud)
    if answer and 'etwork driver' in answer:
        return (f'network_driver is {cloud.options.network_driver!r}, which '
                f'Magnum refuses: {answer}. Compare [cluster_template] '
                'kubernetes_allowed_network_drivers of magnum.conf')
    return answer and ('Magnum refuses a cluster template of these options: '
                       f'{answer}')


def clashing_templates(cloud: Cloud) -> str | None:
    """Report which of clashing_drivers Magnum refuses for a template."""
    if not cloud.options.clashing_drivers or _refused(cloud):
        # Already reported for the template.
        return None
    wrong = [f'{name!r}: {answer}'
             for name in cloud.options.clashing_drivers
             if (answer := _refused(cloud, driver=name))]
    if wrong:
        return ('clashing_drivers must be enabled and provide the type of '
                f'image_id, and Magnum refuses {"; ".join(wrong)}')
    return None


def refusal(cloud: Cloud, magnum: factories.Magnum | None = None,
            **changes: typing.Any) -> lib_exc.TempestException | None:
    """Create a cluster template, and delete it; return why it was refused.

    :param magnum: clients of its creator, by default the user.
    :param changes: see :func:`.factories.template_body`.
    :returns: the error, or None.
    """
    templates = (magnum or cloud.magnum).templates
    body = factories.template_body(cloud.conf, **changes)
    try:
        made = templates.create_cluster_template(**body)
    except (lib_exc.BadRequest, lib_exc.NotFound, lib_exc.Conflict,
            lib_exc.Forbidden) as e:
        return e
    templates.delete_cluster_template(made['uuid'])
    return None


def _refused(cloud: Cloud, **changes: typing.Any) -> str | None:
    """Return why a template is refused, Magnum's words, or None."""
    error = refusal(cloud, **changes)
    return error and _said(error)


def _said(error: lib_exc.TempestException) -> str:
    """Return Magnum's message in an error, one line without a stop."""
    try:
        said = '; '.join(one['detail'] for one in error.resp_body)
    except (AttributeError, KeyError, TypeError):
        said = str(error)
    return ' '.join(said.split()).rstrip('.')


def not_promised(cloud: Cloud) -> str | None:
    """Report unknown ids, which would silently exclude nothing."""
    wrong = promises.unknown_names(cloud.options.not_promised)
    if wrong:
        return (f'not_promised: there is no promise {", ".join(wrong)}. All '
                'of them are in the documentation of the suite')
    return None


def fault_flavors(cloud: Cloud) -> str | None:
    """Report unknown keys, which would silently test nothing."""
    wrong = sorted({*cloud.options.fault_flavors} - {*FLAVORS})
    if wrong:
        return (f'fault_flavors has {", ".join(wrong)}, and may only have '
                + ', '.join(FLAVORS))
    return None


def conformance_plan(cloud: Cloud) -> str | None:
    """Report why conformance_plan cannot be read."""
    try:
        option_files.conformance_plan(cloud.options.conformance_plan)
    except errors.MagnumCapiError as e:
        return ' '.join(str(e).split())
    return None


#: They only read.
CHECKS = (upgrade_image, clashing_drivers, marks, not_promised,
          fault_flavors, conformance_plan)

#: They create cluster templates briefly, which have to fit the cloud.
TRIALS = (template, clashing_templates)
