# SPDX-License-Identifier: Apache-2.0

"""Runs helm in an isolated environment, and translates its errors.

Values are passed through standard input, so no other user of the machine can
see them. Helm's own files are in a private folder that is removed again. It
gets no plugins, no home and no working directory of Magnum: there, a folder
with the chart's name would take precedence over the repository.

Helm may outlive the Magnum process that started it. This is intended: an
operation that ends leaves a clean release, one that is killed leaves a pending
one. The program ``timeout`` bounds its life, so that after ``helm_timeout``
only the holder of the cluster's lock works on a release.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import threading
import typing

from magnum_capi.driver import config
from magnum_capi.driver.desired import charts
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.helm import releases
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import scratch

#: Prefix of the private folders of its runs.
_SCRATCH = 'magnum-helm-'

#: Seconds between the end of ``helm_timeout`` and SIGKILL.
_GRACE = 5

#: The major version of helm that this driver can work with. Helm 4 applies on
#: the server and refuses fields that others own, such as the replicas of
#: groups that the autoscaler has changed (helm.sh/docs/overview, "Server-Side
#: Apply").
_MAJOR = 3

#: Seconds for helm to report its version.
_VERSION_TIMEOUT = 20

#: Variables that helm gets from Magnum's environment: paths of programs,
#: proxies, CA certificates, and the service account of a pod.
_PASSED = frozenset((
    'PATH', 'LANG', 'TZ', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
    'KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT',
    'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY',
    'http_proxy', 'https_proxy', 'no_proxy'))


#: Values of a chart.
Values: typing.TypeAlias = collections.abc.Mapping[str, typing.Any]


@functools.cache
def _slots(number: int) -> threading.BoundedSemaphore:
    """This process's semaphore for running helm."""
    return threading.BoundedSemaphore(number)


os.register_at_fork(after_in_child=_slots.cache_clear)


def sweep() -> None:
    """Remove the private folders of runs that were killed."""
    scratch.sweep(_SCRATCH)


def upgrade_argv(release: str, chart: charts.Chart, namespace: str, *,
                 history: int, timeout: int, digest: str | None = None,
                 adopted: bool = False, dry: bool = False) -> list[str]:
    """The command that installs a release or changes it.

    :param timeout: seconds.
    :param digest: label of the revision, at most 63 characters.
    :param adopted: label the revision with releases.ADOPTED.
    :param dry: only show what would be done, checked by the management
        cluster.
    """
    return [
        'upgrade', release, *_chart_argv(chart), '--install',
        '--namespace', namespace, '--history-max', str(history),
        '--timeout', f'{timeout}s', '--output', 'json',
        *(['--labels', f'{releases.DIGEST}={digest}'] if digest else []),
        *(['--labels', f'{releases.ADOPTED}=true'] if adopted else []),
        *(['--dry-run=server'] if dry else []),
        '--values', '-']


class Helm:
    """The program helm.

    :param kubeconfig: None in a pod.
    :param environ: of this process.
    :raises EnvironmentProblem: (every method) helm is not installed.
    :raises helm_errors.HelmFailed: (every method) and its kinds.
    """

    def __init__(self, options: config.Options,
                 kubeconfig: pathlib.Path | None,
                 environ: collections.abc.Mapping[str, str] = os.environ
                 ) -> None:
        self._options = options
        self._kubeconfig = kubeconfig
        self._environ = environ

    @property
    def dead_after(self) -> int:
        """Seconds after which a helm of this driver is dead for sure."""
        return self._options.helm_timeout + 2 * _GRACE

    def upgrade(self, release: str, chart: charts.Chart, values: Values,
                namespace: str, *, digest: str | None = None,
                adopted: bool = False) -> int:
        """Install a release or change it; see :func:`upgrade_argv`.

        :returns: number of the new revision.
        """
        revision: int = self._upgrade(
            release, chart, values, namespace, digest=digest,
            adopted=adopted)['version']
        return revision

    def preview(self, release: str, chart: charts.Chart, values: Values,
                namespace: str) -> str:
        """What an upgrade would apply; nothing is changed.

        This reads the management cluster, like the upgrade itself.

        :returns: manifests, YAML text.
        """
        return releases.manifests(self._upgrade(
            release, chart, values, namespace, dry=True))

    def _upgrade(self, release: str, chart: charts.Chart, values: Values,
                 namespace: str, **options: typing.Any
                 ) -> dict[str, typing.Any]:
        with self._fetched(chart) as chart:
            found: dict[str, typing.Any] = _parsed(self._run(
                upgrade_argv(release, chart, namespace,
                             history=self._options.helm_history,
                             timeout=self._options.helm_timeout, **options),
                stdin=json.dumps(values)))
            return found

    def uninstall(self, release: str, namespace: str) -> bool:
        """Uninstall a release; its objects then begin to disappear.

        :returns: whether there was one.
        """
        try:
            # Only --debug says which objects cannot be deleted, and why.
            self._run(['uninstall', release, '--namespace', namespace,
                       '--timeout', f'{self._options.helm_timeout}s',
                       '--debug'])
        except helm_errors.HelmFailed as e:
            if 'release: not found' in e.reason:
                return False
            raise
        return True

    @contextlib.contextmanager
    def _fetched(self, chart: charts.Chart
                 ) -> collections.abc.Iterator[charts.Chart]:
        """The cached chart if there is a cache, else the chart as it is."""
        if chart.is_path or not self._options.chart_cache:
            yield chart
            return
        cache = pathlib.Path(self._options.chart_cache)
        name = hashlib.sha256(str(chart).encode()).hexdigest()[:32]
        package = cache / f'{name}.tgz'
        if not package.exists():
            cache.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                self._run(['pull', *_chart_argv(chart),
                           '--destination', folder])
                # Atomic: another thread or process may do the same.
                os.replace(next(pathlib.Path(folder).glob('*.tgz')), package)
        yield dataclasses.replace(chart, name=str(package), version=None,
                                  repository=None)

    def _run(self, argv: list[str], stdin: str | None = None) -> str:
        path = self._environ.get('PATH', os.defpath)
        program = shutil.which(self._options.helm_binary, path=path)
        if not program:
            raise errors.EnvironmentProblem(
                'The program helm is not installed',
                where=self._options.helm_binary,
                hint='Install helm 3 where magnum-conductor runs, or name it '
                     'in [k8s_capi]/helm_binary')
        _require_supported(program)
        seconds = self._options.helm_timeout
        bounded = [program, *argv]
        wrapper = shutil.which('timeout', path=path)
        if wrapper:
            bounded = [wrapper, f'--kill-after={_GRACE}', str(seconds),
                       *bounded]
        with (_slots(self._options.helm_processes),
              scratch.folder(_SCRATCH) as folder):
            try:
                return processes.run(
                    bounded, timeout=self.dead_after, cwd=folder.path,
                    env=self._env(folder.path), stdin=stdin,
                    spool=folder.path, pass_fds=(folder.lock,))
            except errors.CommandFailed as e:
                raise helm_errors.failure(argv[0], e) from None

    def _env(self, folder: pathlib.Path) -> dict[str, str]:
        env = {k: v for k, v in self._environ.items() if k in _PASSED}
        env['HOME'] = str(folder)
        for name in ('CACHE', 'CONFIG', 'DATA'):
            env[f'HELM_{name}_HOME'] = os.path.join(folder, name.lower())
        env['HELM_PLUGINS'] = os.path.join(folder, 'plugins')
        env['HELM_DRIVER'] = 'secret'
        if self._options.helm_registry_config:
            env['HELM_REGISTRY_CONFIG'] = self._options.helm_registry_config
        if self._kubeconfig:
            env['KUBECONFIG'] = str(self._kubeconfig)
        return env


def _require_supported(program: str) -> None:
    """Refuse another major version of helm.

    A program that does not report its version is accepted.

    :raises EnvironmentProblem: it is of another one.
    """
    version = _version(program, os.stat(program).st_mtime_ns)
    major = version.removeprefix('v').partition('.')[0]
    if major.isdecimal() and int(major) != _MAJOR:
        raise errors.EnvironmentProblem(
            f'helm {version} is not supported', where=program,
            hint=f'Install helm {_MAJOR} beside it and name it in '
                 '[k8s_capi]/helm_binary')


@functools.lru_cache(maxsize=8)
def _version(program: str, changed: int) -> str:
    """What a program says about its version, empty if it says nothing.

    :param changed: when its file was changed: another one is asked again.
    """
    try:
        return processes.run(
            [program, 'version', '--template', '{{.Version}}'],
            timeout=_VERSION_TIMEOUT, env={'PATH': os.defpath}).strip()
    except (errors.CommandFailed, errors.EnvironmentProblem):
        return ''


def _parsed(said: str) -> typing.Any:
    try:
        return json.loads(said)
    except ValueError:
        raise helm_errors.HelmFailed(
            'helm did not answer with JSON',
            reason='helm gave an answer that cannot be read') from None


def _chart_argv(chart: charts.Chart) -> list[str]:
    return [chart.name,
            *(['--repo', chart.repository] if chart.repository else []),
            *(['--version', chart.version] if chart.version else [])]
