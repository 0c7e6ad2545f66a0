# SPDX-License-Identifier: Apache-2.0
"""What a user wants of a sandbox, and whether a running one meets it."""

import dataclasses
import pathlib

from magnum_capi import errors
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import charts
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import nodes as nodes_
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import pods
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import resources

#: Test drivers that clash with others.
CLASH = 'sandbox/drivers/clash'

#: This project's driver, which provides what magnum-capi-helm provides.
OWN = 'drivers/k8s_capi_v1'


@dataclasses.dataclass(frozen=True)
class Spec:
    """What a user wants of a sandbox; None or empty: no preference.

    :param install: paths of distributions with drivers, or requirements.
    :param magnum_conf: files that are added to Magnum's configuration.
    :param discovery_filter: Magnum's API gets the discovery filter.
    :param clash: also install :data:`CLASH`, with its configuration, and
        :data:`OWN`.
    :param nodes: one of :data:`.nodes.KINDS`.
    :param images: folder of image archives for real nodes.
    :param rate_limiting: Cluster API's own, see
        :func:`.management.programs.capi`.
    :param magnum: release or path of Magnum, see :func:`.magnum_wheel.find`.
    :param infrastructure: one of :data:`.infrastructure.KINDS`.
    :param management: one of ``management.standalone.BACKENDS``.
    """

    profile: str | None = None
    chart: pathlib.Path | None = None
    port_base: int | None = None
    install: tuple[str, ...] = ()
    magnum_conf: tuple[pathlib.Path, ...] = ()
    discovery_filter: bool = False
    clash: bool = False
    nodes: str | None = None
    images: pathlib.Path | None = None
    rate_limiting: bool = False
    magnum: str | None = None
    infrastructure: str | None = None
    management: str | None = None


@dataclasses.dataclass(frozen=True)
class Additions:
    """What a sandbox has beyond a default one; see :class:`Spec`.

    :param install: results of :func:`.drivers.requirement`, including those
        of ``clash``.
    :param magnum_conf: absolute paths, including that of ``clash``.
    """

    install: tuple[str, ...] = ()
    magnum_conf: tuple[str, ...] = ()
    discovery_filter: bool = False
    clash: bool = False
    rate_limiting: bool = False


def additions(wanted) -> Additions:
    """What the spec adds to a default sandbox.

    :raises UsageError: an addition does not exist or cannot be used.
    """
    install = [drivers.requirement(text) for text in wanted.install]
    conf = [str(options.check(path)) for path in wanted.magnum_conf]
    if wanted.clash:
        folder, own = map(resources.find, (CLASH, OWN))
        if not any(_has_name(text, drivers.distribution(str(own)))
                   for text in install):
            install.insert(0, str(own))
        install.insert(0, str(folder))
        # First, so that the user's files win.
        conf.insert(0, str(folder / 'magnum.conf'))
    return Additions(tuple(install), tuple(conf), wanted.discovery_filter,
                     wanted.clash, wanted.rate_limiting)


def _has_name(text, name):
    """Whether a driver is of the distribution with this name."""
    try:
        return drivers.same(drivers.distribution(text), name)
    except errors.UsageError:
        # Only a build tells its name.
        return False


def chart(path) -> pathlib.Path:
    """The absolute path of a chart, by default of the sandbox's own.

    :raises UsageError: it is not a chart.
    """
    if path is None:
        return resources.find('sandbox/charts/sandbox-cluster')
    path = pathlib.Path(path).absolute()
    if not (path / 'Chart.yaml').is_file():
        raise errors.UsageError(
            'The folder is not a Helm chart (it has no Chart.yaml)',
            where=path, hint='Name the folder of a chart like '
            'openstack-cluster of capi-helm-charts')
    return path


def nodes(wanted, kind, progress) -> nodes_.Nodes:
    """The kind of nodes of a new sandbox.

    Missing archives of images are made, unless a folder of them is named.

    :param kind: its infrastructure, see :func:`infrastructure_of`.
    :raises UsageError: the wishes contradict each other.
    :raises EnvironmentProblem: this machine cannot run such nodes, or
        archives are missing in the folder that is named.
    """
    if wanted.nodes == nodes_.DOCKER:
        charts.check(chart(wanted.chart), kind)
    made_of = nodes_.wanted(wanted.nodes, wanted.images, progress)
    if wanted.management == hosted.BACKEND:
        pods.check(made_of.images, None if wanted.images else progress)
    return made_of


def infrastructure_of(wanted) -> str:
    """The infrastructure of a new sandbox.

    Memory, unless the drivers need services that only OpenStack has.

    :raises UsageError: there is none for that profile.
    """
    missing = prerequisites.services(wanted.install) - {
        service.type_ for service in catalog.services()}
    kind = wanted.infrastructure or (
        infrastructure.OPENSTACK if missing else infrastructure.MEMORY)
    if kind == infrastructure.OPENSTACK and wanted.profile == 'full':
        raise errors.UsageError(
            'A real OpenStack needs the profile "embedded"',
            last_seen='its drivers need the services '
            + ', '.join(sorted(missing)) if missing else None,
            hint='Omit --profile full or --infrastructure openstack')
    return kind


def management_of(wanted, kind) -> str:
    """Where Cluster API of a new sandbox runs.

    :param kind: its infrastructure.
    :raises UsageError: it cannot run there.
    """
    if wanted.management != hosted.BACKEND:
        return standalone.BACKENDS[0]
    if kind != infrastructure.OPENSTACK or wanted.nodes != nodes_.DOCKER:
        raise errors.UsageError(
            'Cluster API in minikube needs servers that are containers',
            hint='Add --infrastructure openstack --nodes docker, or omit '
                 '--management minikube')
    return hosted.BACKEND


def refuse_others(wanted, release, record, directory):
    """Refuse a running sandbox that differs from what is wanted.

    :param release: of ``wanted``.
    :param record: its :class:`~.record.Record`.
    :raises UsageError: it differs.
    """
    if wanted.profile not in (None, record.profile):
        raise _refusal(f'the profile {record.profile!r}', directory)
    if wanted.infrastructure not in (None, record.infrastructure):
        raise _refusal(f'the infrastructure {record.infrastructure!r}',
                       directory)
    if wanted.management not in (None, record.management):
        raise _refusal(f'Cluster API in {record.management}', directory)
    if wanted.chart and str(chart(wanted.chart)) != record.chart or (
            wanted.port_base not in (None, record.port_base)):
        raise _refusal('another chart or other ports', directory)
    if wanted.magnum and release != record.release:
        raise _refusal(f'Magnum {record.release}', directory)
    if wanted.nodes not in (None, record.nodes.kind) or wanted.images and (
            str(pathlib.Path(wanted.images).absolute())
            != record.nodes.images):
        raise _refusal('other nodes or images', directory)
    added = dataclasses.asdict(additions(wanted))
    have = dataclasses.asdict(record.additions)
    if any(value and value != have[name] for name, value in added.items()):
        raise _refusal('other drivers or another configuration', directory)


def _refusal(what, directory):
    return errors.UsageError(
        f'A sandbox with {what} is already up', where=directory,
        hint=hints.take_down(directory))
