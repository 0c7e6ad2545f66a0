# SPDX-License-Identifier: Apache-2.0
"""The cloud's programs: commands, configuration files, readiness probes.

Each WSGI module (keystone.wsgi.api and so on) finds its configuration in its
own way, which was read from the modules.
"""

import collections.abc
import contextlib
import http.client
import pathlib
import ssl
import typing

import psutil

from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import profiles
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision

PROGRAMS = pathlib.Path(__file__).with_name('programs')

#: The service to which any request makes the others send their password. So
#: they start only after it is known to be the one that listens there.
KEYSTONE = 'keystone'


def answers(address: str, port: int, path: str = '/',
            authority: pathlib.Path | None = None
            ) -> collections.abc.Callable[[], bool]:
    """A readiness probe: the server answers, but not with a 5xx.

    :param authority: file with the certificate of the authority that the
        server's must be from; None: it answers without TLS.
    :returns: function without arguments; it may raise OSError.
    """
    def probe() -> bool:
        connection = http.client.HTTPSConnection(
            address, port, timeout=5,
            context=ssl.create_default_context(cafile=authority)
        ) if authority else http.client.HTTPConnection(
            address, port, timeout=5)
        try:
            connection.request('GET', path)
            return connection.getresponse().status < 500
        except http.client.HTTPException:
            return False
        finally:
            connection.close()
    return probe


def environment(layout: layouts.Layout, venv: pathlib.Path,
                programs: collections.abc.Sequence[pathlib.Path] | None = None
                ) -> dict[str, str]:
    """Variables of every program of the cloud; the user's are left out.

    :param programs: folders with external programs, first in PATH.
    """
    folders = [venv / 'bin', *(programs or ()), '/usr/sbin', '/usr/bin',
               '/sbin', '/bin']
    return {runmarks.MARK: str(layout.directory),
            'PATH': ':'.join(map(str, folders)),
            'HOME': str(layout.directory / 'home'),
            # stevedore's cache of all entry points: reading them again costs
            # each process of each sandbox a third of a CPU second.
            'XDG_CACHE_HOME': str(venv / 'cache'),
            'TMPDIR': str(layout.directory / 'tmp'),
            'PYTHONWARNINGS': 'ignore'}


def supervisord(layout: layouts.Layout, venv: pathlib.Path,
                kind: str = infrastructure.MEMORY
                ) -> tuple[pathlib.Path, pathlib.Path]:
    """Command of a supervisord that has preloaded the services' libraries.

    :param venv: environment of the cloud.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    own = layout.cloud_env if kind == infrastructure.OPENSTACK else venv
    return own / 'bin' / 'python', PROGRAMS / 'supervisord.py'


def _serves(layout: layouts.Layout, service: str, path: str = '/'
            ) -> dict[str, typing.Any]:
    return {'listens': ((layout.address, layout.port(service)),),
            'ready': answers(layout.address, layout.port(service), path,
                             layout.authority)}


def _server(layout: layouts.Layout, service: str, module: str, threads: int,
            workers: int = 1) -> tuple[str, ...]:
    """The command, without its Python, of a server for a WSGI module."""
    listen = (layout.address, str(layout.port(service)), str(threads))
    if layout.https:
        return (str(PROGRAMS / 'serve_tls.py'), module, *listen, str(workers),
                str(layout.tls))
    return str(PROGRAMS / 'serve.py'), module, *listen


def _wsgi(name: str, application: str, layout: layouts.Layout,
          venv: pathlib.Path, profile: profiles.Profile,
          *arguments: str | pathlib.Path, threads: int | None = None,
          path: str = '/', after: tuple[str, ...] = (KEYSTONE,),
          **env: str | pathlib.Path) -> supervision.Program:
    """A service's API.

    :param application: its WSGI module, or a program of :data:`PROGRAMS`.
    """
    threads = threads or profile.threads
    command = ((str(PROGRAMS / application), layout.address,
                str(layout.port(name)), str(threads))
               if application.endswith('.py') else
               _server(layout, name, application, threads))
    return supervision.Program(
        name=name,
        argv=(str(venv / 'bin' / 'python'), *command, *map(str, arguments)),
        env=environment(layout, venv) | {k: str(v) for k, v in env.items()},
        after=after, **_serves(layout, name, path))


def base(layout: layouts.Layout, venv: pathlib.Path, profile: profiles.Profile,
         kind: str = infrastructure.MEMORY, containers: bool = False
         ) -> list[supervision.Program]:
    """Programs of all services except Magnum.

    :param kind: one of :data:`.infrastructure.KINDS`.
    :param containers: whether Nova's servers are containers.
    """
    etc = layout.etc
    if kind == infrastructure.OPENSTACK:
        ours = layout.cloud_env
        return [
            *(p for p in base(layout, ours, profile) if p.name != 'nova'),
            _nova('nova_all.py', layout, ours, profile, threads=4,
                  # It resumes servers first: their config drives have what
                  # it asks Neutron for.
                  after=(KEYSTONE, 'placement',
                         *(('neutron',) if containers else ()))),
            _wsgi('placement', 'placement.wsgi.api', layout, ours, profile,
                  OS_PLACEMENT_CONFIG_DIR=etc),
            _wsgi('octavia', 'octavia_api.py', layout, ours, profile,
                  '--config-file', etc / 'octavia.conf'),
        ]
    return [
        _wsgi(KEYSTONE, 'keystone.wsgi.api', layout, venv, profile,
              path='/v3', after=(),
              OS_KEYSTONE_CONFIG_FILES=etc / 'keystone.conf'),
        _wsgi('glance', 'glance.wsgi.api', layout, venv, profile,
              path='/versions', OS_GLANCE_CONFIG_DIR=etc),
        _nova('nova.wsgi.osapi_compute', layout, venv, profile),
        _wsgi('neutron', 'neutron.wsgi.api', layout, venv, profile,
              OS_NEUTRON_CONFIG_DIR=etc,
              OS_NEUTRON_CONFIG_FILES='neutron.conf'),
        _wsgi('cinder', 'cinder.wsgi.api', layout, venv, profile,
              '--config-file', etc / 'cinder.conf'),
    ]


def _nova(
        application: str, layout: layouts.Layout, venv: pathlib.Path,
        profile: profiles.Profile, **more: typing.Any) -> supervision.Program:
    # Nova takes the first file for the paste configuration.
    return _wsgi('nova', application, layout, venv, profile, **more,
                 OS_NOVA_CONFIG_DIR=layout.etc,
                 OS_NOVA_CONFIG_FILES=';'.join((
                     str(venv / 'etc/nova/api-paste.ini'), 'nova.conf')))


def magnum(layout: layouts.Layout, venv: pathlib.Path,
           profile: profiles.Profile, helm: pathlib.Path,
           variables: dict[str, str] | None = None
           ) -> list[supervision.Program]:
    """Programs of Magnum; they have an environment of their own.

    :param helm: path of helm, which drivers search in PATH.
    :param variables: more environment variables, for drivers.
    """
    file, folder = map(str, layout.magnum_conf)
    config = ('--config-file', file, '--config-dir', folder)
    # Magnum's packages, and what helm fetches, belong to this sandbox only.
    env = (environment(layout, venv, [helm.parent])
           | {'XDG_CACHE_HOME': str(layout.directory / 'home/.cache'),
              # For helm: 0.38 CPU seconds a release instead of 0.46, and 86
              # MiB at most instead of 66.
              'GOGC': '400'}
           | (variables or {}))
    api = {'after': (KEYSTONE,), **_serves(layout, 'magnum')}
    python = str(layout.magnum_env / 'bin' / 'python')
    if not profile.broker:
        return [supervision.Program(
            'magnum', (python, str(PROGRAMS / 'magnum_all.py'),
                       layout.address, str(layout.port('magnum')), '8',
                       *config), env=env, **api)]
    return [
        supervision.Program(
            'magnum', (python, *_server(
                layout, 'magnum', 'magnum.wsgi.api', 8, profile.workers),
                *config), env=env, **api),
        supervision.Program(
            'magnum-conductor',
            (python, str(venv / 'bin' / 'magnum-conductor'), *config),
            env=env, after=(KEYSTONE, 'rabbitmq'), ready=_consumes(
                (layout.address, layout.port('rabbitmq')))),
    ]


def _consumes(broker: tuple[str, int]) -> collections.abc.Callable[[], bool]:
    """A probe: a conductor process is connected to the broker.

    It has no port of its own, and casts sent before it listens are lost.
    """
    def probe() -> bool:
        for process in psutil.process_iter(['cmdline']):
            if 'magnum-conductor' in ' '.join(process.info['cmdline'] or ()):
                with contextlib.suppress(psutil.Error):
                    if any(c.raddr == broker
                           for c in process.net_connections('tcp')):
                        return True
        return False
    return probe
