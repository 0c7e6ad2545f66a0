# SPDX-License-Identifier: Apache-2.0
"""What a sandbox is: one saved thing, in one small file of its folder.

A user's wish is a :class:`Spec` in which most is left open. ``up`` decides
the rest, and saves it. The file is created first and removed last: a folder
without it is never ours to remove, and a spec that is not "ready" comes from
an interrupted run.
"""

import collections.abc
import dataclasses
import json
import pathlib
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import progress
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import charts
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import magnum_wheel
from magnum_capi_sandbox import nodes as nodes_
from magnum_capi_sandbox import options
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import releases
from magnum_capi_tempest.management import hosted
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import resources

#: Name of the file.
NAME = 'sandbox.json'

#: Test drivers that clash with others.
CLASH = 'sandbox/drivers/clash'

#: This project's driver, which provides what magnum-capi-helm provides.
OWN = 'drivers/k8s_capi_v1'


#: A field without a preference, which only a wish may have. The types of
#: fields are those of a sandbox.
_OPEN: typing.Any = None


@dataclasses.dataclass(frozen=True)
class Spec:
    """A sandbox, as it is wished for and as it is saved.

    In a wish, None or empty means: no preference.

    :param profile: one of :data:`.profiles.PROFILES`.
    :param chart: path of the chart that drivers are pointed at.
    :param port_base: first of its ports.
    :param install: paths of distributions with drivers, or requirements.
    :param magnum_conf: files that are added to Magnum's configuration.
    :param discovery_filter: Magnum's API gets the discovery filter.
    :param clash: also install :data:`CLASH`, with its configuration, and
        :data:`OWN`.
    :param nodes: one of :data:`.nodes.KINDS`.
    :param rate_limiting: Cluster API's own, see
        :func:`.management.programs.capi`.
    :param magnum: release or path of Magnum, see :func:`.magnum_wheel.find`.
    :param infrastructure: one of :data:`.infrastructure.KINDS`.
    :param management: one of ``management.standalone.BACKENDS``.

    What ``up`` adds, and nobody wishes:

    :param network: ``127.77``: first two numbers of its addresses.
    :param machines: what its nodes are.
    :param versions: of its parts, by name, as far as they are pinned.
    :param ready: whether it has been up.
    """

    profile: str = _OPEN
    chart: str = _OPEN
    port_base: int = _OPEN
    install: tuple[str, ...] = ()
    magnum_conf: tuple[str, ...] = ()
    discovery_filter: bool = False
    clash: bool = False
    nodes: str = _OPEN
    rate_limiting: bool = False
    magnum: str = _OPEN
    infrastructure: str = _OPEN
    management: str = _OPEN
    network: str = ''
    machines: nodes_.Nodes = nodes_.Nodes()
    versions: collections.abc.Mapping[str, str] = dataclasses.field(
        default_factory=dict)
    ready: bool = False

    @property
    def release(self) -> releases.Release:
        """The release of Magnum, perhaps with a wheel of the user's own."""
        return magnum_wheel.kept(self.magnum)

    @property
    def openstack(self) -> bool:
        """Whether the clusters' machines are servers of a real OpenStack."""
        return self.infrastructure == infrastructure.OPENSTACK

    @property
    def pods(self) -> bool:
        """Whether Cluster API runs in pods."""
        return self.management == hosted.BACKEND

    @property
    def requirements(self) -> tuple[str, ...]:
        """What is installed for Magnum, including that of ``clash``."""
        found = list(self.install)
        if self.clash:
            folder, own = map(resources.find, (CLASH, OWN))
            if not any(_has_name(text, drivers.distribution(str(own)))
                       for text in found):
                found.insert(0, str(own))
            found.insert(0, str(folder))
        return tuple(found)

    @property
    def configuration(self) -> tuple[str, ...]:
        """Files for Magnum, including that of ``clash``; later ones win."""
        own = [str(resources.find(CLASH) / 'magnum.conf')] if self.clash \
            else []
        return (*own, *self.magnum_conf)

    def layout(self, directory: pathlib.Path) -> layouts.Layout:
        """Its addresses and files in a folder."""
        return layouts.Layout(directory, self.network, self.port_base,
                              profiles.get(self.profile).https)


#: Fields that a user can ask for.
WISHES = tuple(field.name for field in dataclasses.fields(Spec)
               if field.name not in ('network', 'machines', 'versions',
                                     'ready'))


def checked(wish: Spec, progress: progress.Progress) -> Spec:
    """A wish in which every path is absolute and everything exists.

    :raises UsageError: something in it does not exist or cannot be used.
    :raises MagnumCapiError: no wheel can be built of the user's Magnum.
    """
    profiles.get(wish.profile or profiles.DEFAULT)
    found = dataclasses.replace(
        wish,
        chart=wish.chart and str(chart(wish.chart)),
        install=tuple(map(drivers.requirement, wish.install)),
        magnum_conf=tuple(str(options.check(f)) for f in wish.magnum_conf))
    if not wish.magnum:
        return found
    release = magnum_wheel.find(wish.magnum, progress)
    return dataclasses.replace(found, magnum=release.wheel or release.name)


def decided(wish: Spec) -> Spec:
    """A checked wish in which nothing is left open.

    :raises UsageError: the wishes contradict each other.
    :raises EnvironmentProblem: this machine cannot run such nodes.
    """
    kind = _infrastructure(wish)
    where = _management(wish, kind)
    path = chart(wish.chart)
    if wish.nodes == nodes_.DOCKER:
        charts.check(path, kind)
    machines = nodes_.wanted(
        wish.nodes, servers=kind == infrastructure.OPENSTACK)
    return dataclasses.replace(
        wish, profile=wish.profile or profiles.DEFAULT, chart=str(path),
        port_base=wish.port_base or layouts.DEFAULT_PORT_BASE,
        nodes=machines.kind,
        magnum=wish.magnum or releases.NEWEST.name,
        infrastructure=kind, management=where, machines=machines)


def differences(wish: Spec, have: Spec
                ) -> dict[str, tuple[object, object]]:
    """What a wish asks for that a saved sandbox is not; pure.

    :param wish: result of :func:`checked`.
    :returns: by the name of the field, what the sandbox has and the wish.
    """
    found = {name: (getattr(have, name), getattr(wish, name))
             for name in WISHES}
    return {name: (old, new) for name, (old, new) in found.items()
            if new not in (None, (), False) and new != old}


def refuse_others(wish: Spec, have: Spec, directory: pathlib.Path) -> None:
    """Refuse to use a sandbox that differs from a wish.

    :raises UsageError: it differs; names what.
    """
    found = differences(wish, have)
    if found:
        raise errors.UsageError(
            'The sandbox that is up differs from what is asked for',
            where=directory, last_seen='; '.join(
                f'{name.replace("_", " ")} is {_shown(old)}, not '
                f'{_shown(new)}' for name, (old, new) in found.items()),
            hint=hints.take_down(directory))


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ', '.join(value) or 'none'
    if value in (None, '', False):
        return 'none'
    return 'set' if value is True else str(value)


def chart(path: pathlib.Path | str | None) -> pathlib.Path:
    """The absolute path of a chart, by default of the sandbox's own.

    :raises UsageError: it is not a chart.
    """
    if not path:
        return resources.find('sandbox/charts/sandbox-cluster')
    path = pathlib.Path(path).absolute()
    if not (path / 'Chart.yaml').is_file():
        raise errors.UsageError(
            'The folder is not a Helm chart (it has no Chart.yaml)',
            where=path, hint='Name the folder of a chart like '
            'openstack-cluster of capi-helm-charts')
    return path


def _has_name(text: str, name: str) -> bool:
    """Whether a driver is of the distribution with this name."""
    try:
        return drivers.same(drivers.distribution(text), name)
    except errors.UsageError:
        # Only a build tells its name.
        return False


def _infrastructure(wish: Spec) -> str:
    """Memory, unless the drivers need services that only OpenStack has."""
    missing = prerequisites.services(wish.requirements) - {
        service.type_ for service in catalog.services()}
    kind = wish.infrastructure or (
        infrastructure.OPENSTACK if missing else infrastructure.MEMORY)
    if kind == infrastructure.OPENSTACK and wish.profile == 'full':
        raise errors.UsageError(
            'A real OpenStack needs the profile "embedded"',
            last_seen='its drivers need the services '
            + ', '.join(sorted(missing)) if missing else None,
            hint='Omit --profile full or --infrastructure openstack')
    return kind


def _management(wish: Spec, kind: str) -> str:
    if wish.management != hosted.BACKEND:
        return standalone.BACKENDS[0]
    if kind != infrastructure.OPENSTACK or wish.nodes != nodes_.DOCKER:
        raise errors.UsageError(
            'Cluster API in minikube needs servers that are containers',
            hint='Add --infrastructure openstack --nodes docker, or omit '
                 '--management minikube')
    return hosted.BACKEND


def save(directory: pathlib.Path, spec: Spec) -> None:
    """Write the file."""
    outfile.write_private(
        directory / NAME, json.dumps(dataclasses.asdict(spec)) + '\n')


def load(directory: pathlib.Path) -> Spec | None:
    """The sandbox of a folder, None when it is not a sandbox's.

    :raises UsageError: the file cannot be read: it is damaged, or of another
        version of this program.
    """
    try:
        values = json.loads((directory / NAME).read_text())
        machines = nodes_.Nodes(**_with_tuples(values.pop('machines')))
        return Spec(**_with_tuples(values), machines=machines)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise errors.UsageError(
            'The record of this sandbox cannot be read: another version of '
            'this program may have written it', where=directory / NAME,
            hint='Use that version, or name another --directory. To remove '
                 'the sandbox with all of its data: '
                 f'{hints.command("down", directory)} --force') from None


def _with_tuples(values: collections.abc.Mapping[str, typing.Any]
                 ) -> dict[str, typing.Any]:
    return {key: tuple(value) if isinstance(value, list) else value
            for key, value in values.items()}


def require_ready(directory: pathlib.Path) -> Spec:
    """The sandbox of a folder, which is up.

    :raises UsageError: there is none, or it cannot be read.
    """
    found = load(directory)
    if found is None or not found.ready:
        raise errors.UsageError(
            'There is no sandbox', where=directory,
            hint=f'Start one with: {hints.command("up", directory)}')
    return found
