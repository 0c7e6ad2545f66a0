# SPDX-License-Identifier: Apache-2.0

"""The options of ``[k8s_capi]``, read once into plain values and checked.

Everything else in this package takes a :class:`Settings`, never a ``conf``, so
all problems of the configuration are reported in one place and at once.
"""

import collections.abc
import dataclasses
import importlib
import re
import typing

from oslo_config import cfg

from magnum_capi.driver.desired import label_types
from magnum_capi.driver import options
from magnum_capi import errors

#: Namespaces are <prefix>-<project id>, 63 characters at most; project ids
#: have up to 32.
_PREFIX = re.compile(r'[a-z]([a-z0-9-]{0,28}[a-z0-9])?')
_VERSION = re.compile(r'v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?')
#: Default of oslo.messaging.
_RPC_RESPONSE_TIMEOUT = 60
_WORD = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]*')

#: Of options by name, as oslo.config reads them.
_Values: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]

_Allowed = typing.TypeVar('_Allowed')


@dataclasses.dataclass(frozen=True)
class Chart:
    """Where a chart comes from.

    :param name: name in the repository, oci:// reference, or a path.
    :param repository: URL, None for OCI and paths.
    :param version: None for a path.
    """

    name: str
    repository: str | None = None
    version: str | None = None

    @property
    def is_path(self) -> bool:
        return self.name.startswith('/')

    def __str__(self) -> str:
        where = f' of {self.repository}' if self.repository else ''
        version = f' {self.version}' if self.version else ''
        return f'{self.name}{version}{where}'


@dataclasses.dataclass(frozen=True)
class Settings:
    """The options, checked. Times are seconds, memory is MiB.

    ``chart`` is the default chart, ``allowed_chart_versions`` are its other
    versions that a template may choose; ``charts`` are other charts that a
    template may choose, by name; ``value_overlays`` are paths by name.
    """

    kubeconfig_file: str
    namespace_prefix: str
    management_cidrs: tuple[str, ...]
    chart: Chart
    allowed_chart_versions: tuple[str, ...]
    charts: dict[str, Chart]
    value_overlays: dict[str, str]
    default_value_overlays: tuple[str, ...]
    registries_file: str | None
    extra_os_distros: tuple[str, ...]
    minimum_flavor_ram: int
    minimum_flavor_vcpus: int
    credential_roles: tuple[str, ...]
    credential_interface: str
    delete_load_balancers: bool
    delete_volumes: bool
    connect_timeout: float
    read_timeout: float
    retry_time: float
    openstack_timeout: float
    helm_binary: str
    helm_timeout: int
    helm_processes: int
    answer_timeout: float
    helm_history: int
    helm_registry_config: str | None
    chart_cache: str | None
    lock_duration: int
    lock_timeout: int
    credential_settle: int
    credential_bound: int
    credential_check_interval: int
    failure_patience: int
    progress_timeout: int
    lost_after: int
    default_labels: dict[str, str]
    ignored_labels: tuple[str, ...]
    scale_from_zero: bool
    csi_cinder_default_volume_type: str | None
    csi_cinder_allowed_topologies: tuple[str, ...]

    @classmethod
    def of(cls, conf: typing.Any) -> 'Settings':
        """Read the options of a configuration.

        :param conf: oslo.config ConfigOpts; the options are registered on it
            if necessary.
        :raises UsageError: with all problems.
        """
        conf.register_opts(options.OPTIONS, group=options.GROUP)
        try:
            group = conf[options.GROUP]
            values = {o.dest: group[o.dest] for o in options.OPTIONS}
            longest = _rpc_response_timeout(conf)
        except ValueError as e:
            # oslo.config: ConfigFileValueError and its kind.
            raise _wrong([str(e)]) from None
        problems: list[str] = []
        values['answer_timeout'] = _answer_timeout(
            values['answer_timeout'], longest, problems)
        values['chart'] = _chart(values, problems)
        values['charts'] = _extra_charts(values, problems)
        for name in ('chart_name', 'chart_repository', 'chart_version',
                     'extra_charts'):
            del values[name]
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = tuple(value)
        settings = cls(**values)
        problems += _problems(settings)
        if problems:
            raise _wrong(problems)
        return settings

    def chart_of(self, name: str | None,
                 version: str | None = None) -> Chart:
        """The chart that a template chose.

        :param name: None for the default one.
        :param version: None for the one that the operator chose.
        :raises UsageError: one of them is not allowed; says which are.
        """
        chart, versions = self.chart, self.allowed_chart_versions
        if name:
            chart = _allowed(self.charts, name, 'chart', 'extra_charts')
            versions = ()
        if not version:
            return chart
        # A folder has none.
        allowed = dict.fromkeys(filter(None, (chart.version, *versions)))
        if version not in allowed:
            raise errors.UsageError(
                'The label capi_helm_chart_version names version '
                f'{version} of the chart, which the operator does not allow',
                where=f'[{options.GROUP}]/allowed_chart_versions',
                hint=f'Allowed: {", ".join(allowed) or "none"}')
        return dataclasses.replace(chart, version=version)

    def overlays_of(self, names: collections.abc.Iterable[str]) -> list[str]:
        """Paths of the values files of a cluster, first to last.

        :param names: those that its template chose.
        :raises UsageError: one is not allowed; says which are.
        """
        return [_allowed(self.value_overlays, name, 'value overlay',
                         'value_overlays')
                for name in (*self.default_value_overlays, *names)]


def _allowed(mapping: collections.abc.Mapping[str, _Allowed], name: str,
             what: str, option: str) -> _Allowed:
    try:
        return mapping[name]
    except KeyError:
        raise errors.UsageError(
            f'There is no {what} "{name}" for cluster templates',
            where=f'[{options.GROUP}]/{option}',
            hint='Allowed: ' + (', '.join(sorted(mapping)) or 'none'),
        ) from None


def _wrong(problems: list[str]) -> errors.UsageError:
    return errors.UsageError(
        'The configuration of the driver is wrong: ' + '; '.join(problems),
        where=f'[{options.GROUP}] in magnum.conf')


def _label_can_name(version: str) -> bool:
    """Whether a label can name a version of a chart."""
    try:
        return bool(label_types.ChartVersion().read(version))
    except ValueError:
        return False


def _rpc_response_timeout(conf: typing.Any) -> float:
    """Read an option that oslo.messaging registers only with its clients.

    magnum-conductor has none.
    """
    try:
        seconds: float = conf.rpc_response_timeout
    except cfg.NoSuchOptError:
        conf.register_opt(_rpc_option())
        seconds = conf.rpc_response_timeout
    return seconds


def _rpc_option() -> cfg.Opt:
    own = cfg.IntOpt('rpc_response_timeout', default=_RPC_RESPONSE_TIMEOUT)
    try:
        opts = importlib.import_module('oslo_messaging.opts')
    except ImportError:
        # A program outside of Magnum: nobody else registers it.
        return own
    # Its very own: it does not accept that another one is there.
    found: cfg.Opt = next(
        (opt for _group, group in opts.list_opts() for opt in group
         if opt.dest == own.dest), own)
    return found


def _answer_timeout(seconds: float | None, longest: float,
                    problems: list[str]) -> float:
    if seconds is None:
        return longest * 5 / 6
    if seconds >= longest:
        problems.append(
            f'answer_timeout is {seconds:g}, but must be less than '
            f'[DEFAULT]/rpc_response_timeout, which is {longest}')
    return seconds


def _chart(values: _Values, problems: list[str]) -> Chart:
    name: str = values['chart_name']
    if name.startswith('/'):
        return Chart(name)
    version = values['chart_version']
    if not _VERSION.fullmatch(version):
        problems.append(f'chart_version is "{version}", but must be exact, '
                        f'such as {options.CHART_VERSION}')
    if name.startswith('oci://'):
        return Chart(name, None, version)
    if not _WORD.fullmatch(name):
        # Helm would take "a/b" or "." for a folder in its working directory.
        problems.append(f'chart_name is "{name}", but must be a name, an '
                        'absolute path or an oci:// reference')
    if not values['chart_repository']:
        problems.append('chart_repository is missing')
    return Chart(name, values['chart_repository'], version)


def _extra_charts(values: _Values, problems: list[str]) -> dict[str, Chart]:
    charts = {}
    for name, text in values['extra_charts'].items():
        reference, _, version = text.rpartition('@')
        if text.startswith('/'):
            charts[name] = Chart(text)
        elif not _VERSION.fullmatch(version) or not reference:
            problems.append(f'extra_charts: {name} is "{text}", but must be '
                            'an absolute path or CHART@VERSION')
        elif reference.startswith('oci://'):
            charts[name] = Chart(reference, None, version)
        elif not _WORD.fullmatch(reference):
            problems.append(f'extra_charts: {name} has "{reference}", which '
                            'is not the name of a chart')
        else:
            charts[name] = Chart(reference, values['chart_repository'],
                                 version)
    return charts


def _problems(settings: Settings) -> collections.abc.Iterator[str]:
    if not _PREFIX.fullmatch(settings.namespace_prefix):
        yield (f'namespace_prefix is "{settings.namespace_prefix}", but must '
               'be 1 to 30 of a-z, 0-9 and dashes, beginning with a letter '
               'and not ending with a dash')
    for cidr in settings.management_cidrs:
        try:
            label_types.Cidr().read(cidr)
        except ValueError as e:
            yield (f'management_cidrs: "{cidr}" is not a network like '
                   f'192.0.2.0/24 {e}'.rstrip())
    for version in settings.allowed_chart_versions:
        if not _label_can_name(version):
            yield (f'allowed_chart_versions: "{version}" is not exact, such '
                   f'as {options.CHART_VERSION}')
    for name, path in settings.value_overlays.items():
        if not path.startswith('/'):
            yield f'value_overlays: {name} is not an absolute path'
    for name in settings.default_value_overlays:
        if name not in settings.value_overlays:
            yield f'default_value_overlays: value_overlays has no "{name}"'
    for option in ('chart_cache', 'helm_registry_config',
                   'registries_file'):
        path = getattr(settings, option)
        if path and not path.startswith('/'):
            yield f'{option} is not an absolute path'
    if not settings.credential_roles:
        yield 'credential_roles is empty'
    if 'admin' in (role.lower() for role in settings.credential_roles):
        yield 'credential_roles has the role admin, which is never delegated'
