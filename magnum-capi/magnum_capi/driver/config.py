# SPDX-License-Identifier: Apache-2.0

"""The options of ``[k8s_capi]`` in magnum.conf, each declared once.

A field of :class:`Options` is an option. Its oslo.config type is the only
place that checks a value. Everything else in this package takes
:class:`Options`, never a configuration. Importing this module registers
nothing, so importing the driver does not change any configuration.
"""

import collections.abc
import dataclasses
import re
import typing

from oslo_config import cfg
from oslo_config import types

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import versions
from magnum_capi import errors

GROUP = 'k8s_capi'

#: The chart that the driver is written and tested for. Nothing else in this
#: project names its version: the newest tag of
#: https://github.com/azimuth-cloud/capi-helm-charts.
CHART_REPOSITORY = 'https://azimuth-cloud.github.io/capi-helm-charts'
CHART_NAME = 'openstack-cluster'
CHART_VERSION = '0.27.0'

#: Namespaces are <prefix>-<project id>, 63 characters at most; project ids
#: have up to 32.
_PREFIX = re.compile(r'[a-z]([a-z0-9-]{0,28}[a-z0-9])?')
#: Helm takes "a/b" or "." for a folder in its working directory.
_CHART_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9_.-]*')


class Text(types.ConfigType):
    """A text that a function reads.

    :param read: returns the value; raises ValueError, which says what is
        accepted.
    """

    def __init__(self, read: collections.abc.Callable[[str], typing.Any],
                 type_name: str = 'string value') -> None:
        super().__init__(type_name=type_name)
        self.read = read

    def __call__(self, value: typing.Any) -> typing.Any:
        return self.read(value) if isinstance(value, str) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.read == other.read

    def __hash__(self) -> int:
        return hash(self.read)

    def __repr__(self) -> str:
        return self.type_name

    def _formatter(self, value: typing.Any) -> str:
        return str(value)


def _path(text: str) -> str:
    if text and not text.startswith('/'):
        raise ValueError(f'"{text}" is not an absolute path')
    return text


def _prefix(text: str) -> str:
    if not _PREFIX.fullmatch(text):
        raise ValueError(
            f'"{text}" is not 1 to 30 of a-z, 0-9 and dashes, beginning with '
            'a letter and not ending with a dash')
    return text


def _network(text: str) -> str:
    try:
        return label_types.Cidr().read(text)
    except ValueError as e:
        raise ValueError(f'"{text}" is not a network like 192.0.2.0/24 {e}'
                         .rstrip()) from None


def _version(text: str) -> str:
    if not versions.is_version(text):
        raise ValueError(
            f'"{text}" is not an exact version such as {CHART_VERSION}')
    return text


def _version_of_label(text: str) -> str:
    """A version that the label capi_helm_chart_version can name."""
    try:
        return label_types.ChartVersion().read(text)
    except ValueError:
        raise ValueError(f'"{text}" is not an exact version such as '
                         f'{CHART_VERSION}') from None


def _chart_name(text: str) -> str:
    if not (text.startswith(('/', 'oci://')) or _CHART_NAME.fullmatch(text)):
        raise ValueError(f'"{text}" is not a name, an absolute path or an '
                         'oci:// reference')
    return text


def _role(text: str) -> str:
    if text.lower() == 'admin':
        raise ValueError('the role admin is never delegated')
    return text


def _option(kind: types.ConfigType, default: typing.Any, text: str
            ) -> typing.Any:
    metadata = {'type': kind, 'help': text}
    if isinstance(default, dict):
        return dataclasses.field(default_factory=dict, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True)
class Options:
    """The options, checked; :meth:`read` reads them."""

    kubeconfig_file: str = _option(
        types.String(), '',
        'Kubeconfig of the management cluster. When empty: the variable '
        'KUBECONFIG, else the service account of the pod that Magnum runs in, '
        'else ~/.kube/config. It may contain a token, a token file or a '
        'client certificate; login programs (exec) are refused.')
    namespace_prefix: str = _option(
        Text(_prefix), 'magnum',
        'The objects of a project are in the namespace <prefix>-<project id> '
        'of the management cluster. Two Magnums that share a management '
        'cluster need two prefixes. At most 30 characters of a-z, 0-9 and '
        'dashes, beginning with a letter.')
    management_cidrs: tuple[str, ...] = _option(
        types.List(Text(_network)), (),
        'Networks, such as 192.0.2.0/24, from which the management cluster '
        'connects to API servers of clusters. They are added to the label '
        'api_master_lb_allowed_cidrs: a cluster that blocks them would never '
        'be ready.')
    chart_name: str = _option(
        Text(_chart_name), CHART_NAME,
        'Helm chart for clusters: a name in chart_repository, an oci:// '
        'reference or the absolute path of a folder or package.')
    chart_repository: str = _option(
        types.String(), CHART_REPOSITORY,
        'URL of the Helm repository of chart_name. Not used when that is a '
        'path or an oci:// reference.')
    chart_version: str = _option(
        Text(_version), CHART_VERSION,
        'Exact version of the chart. Not used when chart_name is a path.')
    allowed_chart_versions: tuple[str, ...] = _option(
        types.List(Text(_version_of_label)), (),
        'Versions of chart_name, in addition to chart_version, that a cluster '
        'template may choose with the label capi_helm_chart_version. All '
        'others are refused: a chart is code that runs with the rights of '
        'Magnum in the management cluster, and a repository may have '
        'unreviewed versions. Each must be exact. Keep those that templates '
        'of existing clusters name.')
    value_overlays: dict[str, str] = _option(
        types.Dict(Text(_path)), {},
        'Files of Helm values that a cluster template may add by name, as '
        'name:/path/to/values.yaml. They override what the driver computes. '
        'Templates cannot choose other files.')
    default_value_overlays: tuple[str, ...] = _option(
        types.List(), (),
        'Names of value_overlays that every cluster gets, in this order, '
        'before those of its template.')
    extra_os_distros: tuple[str, ...] = _option(
        types.List(), (),
        'Values of os_distro, in addition to ubuntu, flatcar, debian, rocky '
        'and rockylinux, whose images this driver serves. The chart must '
        'support them.')
    minimum_flavor_ram: int = _option(
        types.Integer(min=0), 2048,
        'Minimum memory of a flavor in MiB. kubeadm requires 2 GiB.')
    minimum_flavor_vcpus: int = _option(
        types.Integer(min=0), 2,
        'Minimum number of virtual CPUs of a flavor. kubeadm requires 2 for '
        'the control plane.')
    credential_roles: tuple[str, ...] = _option(
        types.List(Text(_role)),
        ('member', 'reader', 'load-balancer_member', 'creator'),
        'Roles that the application credential of a cluster may have; it gets '
        'those of them that the user has. The role admin is refused: anyone '
        'who can read the credential in the cluster would be an administrator '
        'of the cloud.')
    credential_interface: str = _option(
        types.String(choices=['public', 'internal', 'admin']), 'public',
        'Interface of the service catalog that clusters use.')
    delete_load_balancers: bool = _option(
        types.Boolean(), True,
        'When a cluster is deleted, delete the load balancers, floating IPs '
        'and security groups that its Kubernetes Services created. They are '
        'recognized by the name and description that cloud-provider-openstack '
        'gives them.')
    delete_volumes: bool = _option(
        types.Boolean(), True,
        'When a cluster is deleted, delete the volumes of its persistent '
        'volume claims if its label csi_cinder_reclaim_policy says Delete. '
        'Volumes with snapshots, or attached to other servers, or that their '
        'owner keeps, stay. False: all volumes stay.')
    connect_timeout: float = _option(
        types.Float(min=0.1), 5,
        'Seconds to wait for a connection to the management cluster.')
    read_timeout: float = _option(
        types.Float(min=0.1), 30,
        'Seconds to wait for a response of the management cluster.')
    retry_time: float = _option(
        types.Float(min=0), 30,
        'Seconds for which a failed request to the management cluster is '
        'retried, including the time spent waiting for responses.')
    openstack_timeout: float = _option(
        types.Float(min=1), 60,
        'Seconds to wait for a response of another OpenStack service, unless '
        '[keystone_auth]/timeout is set.')
    helm_binary: str = _option(
        types.String(), 'helm',
        'The helm program, version 3: a name in PATH or a path.')
    helm_timeout: int = _option(
        types.Integer(min=5), 120,
        'Seconds after which a helm command is killed. A release that has '
        'been pending for longer counts as stuck and is repaired.')
    helm_processes: int = _option(
        types.Integer(min=1), 4,
        'Number of helm commands that each process of magnum-conductor runs '
        'at once; further requests wait, holding their locks. A command takes '
        'up to 100 MiB and a processor for about a second.')
    answer_timeout: float = _option(
        types.Float(min=1), 50,
        'Seconds within which an upgrade request is checked; otherwise it is '
        'refused. Magnum waits at most [DEFAULT]/rpc_response_timeout, 60 by '
        'default; after that its API has answered 500. So this must be less.')
    helm_history: int = _option(
        types.Integer(min=2), 10,
        'Number of revisions that helm keeps of a release.')
    helm_registry_config: str | None = _option(
        Text(_path), None,
        'File with the credentials for OCI registries, as written by "helm '
        'registry login".')
    chart_cache: str | None = _option(
        Text(_path), None,
        'Cache folder for downloaded charts. With it, clusters can be changed '
        'while the chart repository is down. Empty: download the chart for '
        'every change.')
    lock_duration: int = _option(
        types.Integer(min=6), 30,
        'Seconds after which the lock of a cluster becomes free when its '
        'holder stops renewing it. It is renewed while an operation runs, '
        'however long that takes.')
    lock_timeout: int = _option(
        types.Integer(min=0), 60,
        'Seconds to wait for the lock of a cluster.')
    credential_settle: int = _option(
        types.Integer(min=0), 30,
        'Minimum number of seconds for which both application credentials '
        'stay valid when one replaces the other.')
    credential_bound: int = _option(
        types.Integer(min=0), 900,
        'Seconds after which a new application credential counts as adopted '
        'if its use cannot be observed, or as overdue if the cluster is seen '
        'not to use it yet.')
    credential_check_interval: int = _option(
        types.Integer(min=0), 300,
        'Seconds between two checks with Keystone whether the application '
        'credential of a cluster is valid. They are part of its health '
        'checks.')
    failure_patience: int = _option(
        types.Integer(min=0), 300,
        'Seconds for which self-healing may repair a failed machine or addon, '
        'counted from when it was first seen to have failed in an operation, '
        'before the operation fails. It also fails when replacing failed '
        'machines has been in vain for this long: three of them were replaced '
        'without any progress.')
    progress_timeout: int = _option(
        types.Integer(min=0), 60,
        'Minutes without progress after which an update (a resize, an '
        'upgrade, a change of a node group) fails. Progress means that a '
        'machine of the desired version became ready, or that a surplus one '
        'is gone. Periods of more than half of this in which the cluster was '
        'not observed, because Magnum or the management cluster was down, do '
        "not count. 0: no limit. A creation is limited by the cluster's "
        'create_timeout instead, from its beginning, unless that is 0; a '
        'deletion is never given up.')
    lost_after: int = _option(
        types.Integer(min=1), 60,
        'Seconds after which the creation of a cluster counts as lost if '
        "nothing of it has reached the management cluster and its user's "
        'token is needed to continue. A live request that waits for the '
        'management cluster reports this from time to time. A resize that '
        'Magnum has recorded but not passed on for this long is carried out.')
    default_labels: dict[str, str] = _option(
        types.Dict(), {},
        'Values of labels that neither the template nor the cluster sets.')
    ignored_labels: tuple[str, ...] = _option(
        types.List(), (),
        'Labels to accept and ignore, such as those of another driver. All '
        'other unknown labels are refused.')
    scale_from_zero: bool = _option(
        types.Boolean(), False,
        'Allow autoscaled node groups to have no nodes. The driver describes '
        'the capacity of their nodes to the autoscaler in annotations of the '
        'MachineDeployment (capacity.cluster-autoscaler.kubernetes.io).')
    csi_cinder_default_volume_type: str | None = _option(
        types.String(), None,
        'Volume type of the default storage class. Empty: the default of '
        'Cinder, or the newest one if that is none of those that the project '
        'may use.')
    csi_cinder_allowed_topologies: tuple[str, ...] = _option(
        types.List(), (),
        'Availability zones of Cinder in which volumes may be created. Empty: '
        'all.')

    @classmethod
    def read(cls, conf: typing.Any) -> 'Options':
        """Read the options of a configuration.

        :param conf: oslo.config ConfigOpts; the options are registered on it
            if necessary.
        :raises UsageError: with all problems.
        """
        conf.register_opts(OPTIONS, group=GROUP)
        values: dict[str, typing.Any] = {}
        problems: list[str] = []
        for option in OPTIONS:
            try:
                value = conf[GROUP][option.dest]
            except ValueError as e:
                # oslo.config: "Value for option X from Y is not valid: Z".
                problem = str(e).rpartition('is not valid: ')[2]
                problems.append(f'{option.dest}: {problem}')
            else:
                values[option.dest] = (
                    tuple(value) if isinstance(value, list) else value)
        options = cls(**values)
        problems += _contradictions(options)
        if problems:
            raise errors.UsageError(
                'The configuration of the driver is wrong: '
                + '; '.join(problems), where=f'[{GROUP}] in magnum.conf')
        return options

    @property
    def chart(self) -> charts.Chart:
        """The chart that the operator chose."""
        chart = charts.Chart(
            self.chart_name, self.chart_repository, self.chart_version)
        if chart.is_path:
            return charts.Chart(chart.name)
        return (dataclasses.replace(chart, repository=None)
                if chart.is_oci else chart)

    def chart_of(self, version: str | None) -> charts.Chart:
        """The chart in the version that a template chose.

        :param version: None for the one that the operator chose.
        :raises UsageError: it is not allowed; says which are.
        """
        chart = self.chart
        if not version:
            return chart
        allowed = dict.fromkeys(
            (self.chart_version, *self.allowed_chart_versions))
        if version not in allowed:
            raise errors.UsageError(
                'The label capi_helm_chart_version names version '
                f'{version} of the chart, which the operator does not allow',
                where=f'[{GROUP}]/allowed_chart_versions',
                hint=f'Allowed: {", ".join(allowed) or "none"}')
        return dataclasses.replace(chart, version=version)

    def overlays_of(self, names: collections.abc.Iterable[str]) -> list[str]:
        """Paths of the values files of a cluster, first to last.

        :param names: those that its template chose.
        :raises UsageError: one is not allowed; says which are.
        """
        return [_overlay(self.value_overlays, name)
                for name in (*self.default_value_overlays, *names)]


def _oslo(field: dataclasses.Field[typing.Any]) -> cfg.Opt:
    """The option of a field."""
    default = ({} if field.default is dataclasses.MISSING else field.default)
    return cfg.Opt(
        field.name, type=field.metadata['type'], help=field.metadata['help'],
        default=list(default) if isinstance(default, tuple) else default,
        sample_default=(','.join(default) if isinstance(default, (tuple, dict))
                        else None))


OPTIONS = tuple(map(_oslo, dataclasses.fields(Options)))


def list_opts() -> list[tuple[str, list[cfg.Opt]]]:
    """The options, for oslo-config-generator."""
    return [(GROUP, list(OPTIONS))]


def _contradictions(options: Options) -> collections.abc.Iterator[str]:
    """Problems of options that are right one by one."""
    if not (options.chart_repository or options.chart.is_path
            or options.chart.is_oci):
        yield 'chart_repository is missing'
    for name in options.default_value_overlays:
        if name not in options.value_overlays:
            yield f'default_value_overlays: value_overlays has no "{name}"'
    if not options.credential_roles:
        yield 'credential_roles is empty'


def _overlay(paths: collections.abc.Mapping[str, str], name: str) -> str:
    try:
        return paths[name]
    except KeyError:
        raise errors.UsageError(
            f'There is no value overlay "{name}" for cluster templates',
            where=f'[{GROUP}]/value_overlays',
            hint='Allowed: ' + (', '.join(sorted(paths)) or 'none'),
        ) from None
