# SPDX-License-Identifier: Apache-2.0

"""Files that options of ``[magnum_capi]`` name, with settings for few tests.

Both are YAML: a mapping of the fields of one of the classes here.
"""

import dataclasses
import functools
import pathlib
import typing

import yaml

from magnum_capi import errors
from magnum_capi_tempest import json_types

_Kind = typing.TypeVar('_Kind', 'DiscoveryFixture', 'ConformancePlan')

#: Values of conformance_plan that are no paths: modes with default settings.
MODES = ('quick', 'non-disruptive-conformance', 'certified-conformance')


@dataclasses.dataclass(frozen=True)
class DiscoveryFixture:
    """Drivers, images and values that were installed for tests.

    What is empty is not tested.

    :param mismatched_driver: an enabled driver that does not provide the
        cluster type of image_id.
    :param disabled_driver: a driver that provides the cluster type of
        image_id and is in [drivers] disabled_drivers of magnum.conf.
    :param beta_driver: a beta driver that is not in [drivers]
        enabled_beta_drivers and provides beta_shadowed_distro.
    :param broken_driver: a driver that is installed but cannot be loaded. It
        breaks an unmodified Magnum 23.
    :param sole_distro: operating system (magnum_distro or os_distro of an
        image) that only sole_driver provides, preferably one whose name is
        not the first in the alphabet.
    :param beta_shadowed_distro: operating system that beta_shadowed_driver
        provides, and also beta_driver, which is registered after it, so that
        Magnum finds the beta driver for this type.
    :param lax_distro: operating system that lax_shadowed_driver provides,
        which refuses an even number of control plane nodes, and also a
        driver, registered after it, that accepts any number.
    :param magnum_distro_image: name or id of an image that has its operating
        system in the property magnum_distro; os_distro may be missing. It
        must be visible to everyone, and exactly one driver must provide its
        type, or the image must name a driver.
    :param value_overlay: an overlay of Helm values (label capi_helm_values)
        with "apiServer: {allowedCIDRs: [203.0.113.0/24]}".
    :param workload_image: image on nodes that cannot pull one, of the workload
        that serves traffic between nodes while its cluster is changed:
        agnhost of Kubernetes, or another one with "agnhost netexec", a shell
        and curl. Without it, nodes pull agnhost.
    :param marks: by what clusters of clashing_drivers are recognized: the
        field "mark" of a description (magnum-capi.yaml), by name of the
        driver. For drivers without a description where Tempest runs.
    """

    mismatched_driver: str = ''
    disabled_driver: str = ''
    beta_driver: str = ''
    broken_driver: str = ''
    sole_distro: str = ''
    sole_driver: str = ''
    beta_shadowed_distro: str = ''
    beta_shadowed_driver: str = ''
    lax_distro: str = ''
    lax_shadowed_driver: str = ''
    magnum_distro_image: str = ''
    value_overlay: str = ''
    workload_image: str = ''
    marks: json_types.Object = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class ConformancePlan:
    """What Sonobuoy runs in a new cluster.

    :param mode: quick is one test and takes a minute; focus runs the tests
        that match ``focus``; the others take hours.
    :param focus: Go regular expression, in the mode focus only:
        "\\[Conformance\\]" matches what certification requires.
    :param skip: Go regular expression of tests to skip. A certified run must
        skip none.
    :param parallel: number of tests to run in parallel, also in a certified
        run; those marked [Serial] still run one after the other.
    :param timeout: seconds that a run may take; 0: half an hour for quick,
        hours for the others.
    :param results: folder, on the machine that runs Tempest, for archive and
        report, which are not kept without it. An archive contains logs and
        objects of the cluster; review it before you publish it.
    :param workload_gap: seconds for which a workload with two replicas and a
        disruption budget may be unavailable while Kubernetes is upgraded.
    """

    mode: str
    focus: str = ''
    skip: str = ''
    parallel: int = 1
    timeout: int = 0
    results: str = ''
    workload_gap: int = 30

    def __post_init__(self) -> None:
        if self.mode not in (*MODES, 'focus'):
            raise ValueError(f'mode is {self.mode!r} and must be one of '
                             f'{", ".join((*MODES, "focus"))}')


def discovery_fixture(path: str) -> DiscoveryFixture:
    """Read the file of the option discovery_fixture.

    :param path: empty: nothing was installed.
    :raises UsageError: it cannot be read, or is not such a file.
    """
    return _read(path, DiscoveryFixture) if path else DiscoveryFixture()


def conformance_plan(value: str) -> ConformancePlan | None:
    """Read the option conformance_plan.

    :param value: one of :data:`MODES`, or the path of a file; empty: none.
    :raises UsageError: the file cannot be read, or is not such a file.
    """
    if value in MODES:
        return ConformancePlan(value)
    return _read(value, ConformancePlan) if value else None


@functools.cache
def _read(path: str, kind: type[_Kind]) -> _Kind:
    # Of dict[str, X] only that it is a dict can be checked.
    known = {field.name: typing.get_origin(field.type) or field.type
             for field in dataclasses.fields(kind)}
    try:
        found = yaml.safe_load(pathlib.Path(path).read_text(encoding='utf-8'))
        if not isinstance(found, dict):
            raise ValueError('it is no mapping')
        for name, value in found.items():
            if name not in known:
                raise ValueError(f'there is no {name!r}, only '
                                 + ', '.join(known))
            if not isinstance(value, typing.cast(type, known[name])):
                raise ValueError(f'{name} is {value!r}')
        return kind(**found)
    except (OSError, UnicodeDecodeError, ValueError, TypeError,
            yaml.YAMLError) as e:
        raise errors.UsageError(
            f'This is no {kind.__name__}', where=path,
            last_seen=' '.join(str(e).split())) from None
