# SPDX-License-Identifier: Apache-2.0
"""Makes the empty databases of the cloud's services.

Most of the time goes into importing each service's code once per command. So
the services' chains of commands run in parallel, one per processor.
"""

import collections.abc
import concurrent.futures
import os
import pathlib
import sqlite3

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import profiles
from magnum_capi_tempest import runmarks

_PROGRAMS = pathlib.Path(__file__).with_name('programs')


def names(kind: str) -> tuple[str, ...]:
    """Names of the databases.

    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    return tuple(name for service in catalog.services(kind)
                 for name in service.databases)


class Databases:
    """The databases of one sandbox.

    :param venvs: :class:`.environment.Environments`.
    :param url: function that returns the SQLAlchemy URL of a named database.
    :param env: variables of the commands, see services.environment.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """

    def __init__(self, layout: layouts.Layout, venvs: environment.Environments,
                 profile: profiles.Profile,
                 url: collections.abc.Callable[[str], str],
                 passwords: collections.abc.Mapping[str, str],
                 env: dict[str, str],
                 kind: str = infrastructure.MEMORY) -> None:
        self._kind = kind
        self._layout = layout
        self._venvs = venvs
        self._profile = profile
        self.url = url
        self._passwords = passwords
        self._env = env

    def create(self, progress: progress.Progress) -> None:
        """Create all tables and Keystone's first user.

        :raises CommandFailed: with the end of the command's output.
        """
        chains: tuple[collections.abc.Callable[[], None], ...] = (
            self._keystone, self._nova, self._neutron, self._glance,
            self._cinder, self._magnum)
        if self._kind == infrastructure.OPENSTACK:
            chains += (self._placement, self._octavia)
        workers = max(2, os.cpu_count() or 2)
        with progress.step('Databases'), \
                concurrent.futures.ThreadPoolExecutor(workers) as pool:
            futures = [pool.submit(chain) for chain in chains]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                # Do not wait for the other chains: they take long.
                runmarks.sweep(self._layout.directory)
                raise
        if self._profile.database == 'sqlite':
            for name in names(self._kind):
                path = self._layout.databases / f'{name}.sqlite'
                # Readers and the writer do not block each other.
                with sqlite3.connect(path) as connection:
                    connection.execute('PRAGMA journal_mode=WAL')
                connection.close()
                path.chmod(0o600)

    def _run(self, program: str, *arguments: str | pathlib.Path,
             env: dict[str, str] | None = None,
             venv: pathlib.Path | None = None) -> None:
        folder = (venv or self._venvs.cloud) / 'bin'
        processes.run([folder / program, *arguments], timeout=600,
                      env=self._env | (env or {}), merge=True,
                      cwd=self._layout.directory)

    def _config(self, name: str) -> tuple[str, pathlib.Path]:
        return '--config-file', self._layout.etc / name

    def _keystone(self) -> None:
        config = self._config('keystone.conf')
        self._run('keystone-manage', *config, 'db_sync')
        url = self._layout.auth_url
        self._run('keystone-manage', *config, 'bootstrap',
                  '--bootstrap-region-id', configuration.REGION,
                  *(f'--bootstrap-{kind}-url={url}'
                    for kind in ('admin', 'public', 'internal')),
                  env={'OS_BOOTSTRAP_PASSWORD': self._passwords['admin']})

    def _glance(self) -> None:
        self._run('glance-manage', *self._config('glance-api.conf'),
                  'db_sync')

    def _nova(self) -> None:
        config = self._config('nova.conf')
        self._run('nova-manage', *config, 'api_db', 'sync')
        self._run('nova-manage', *config, 'cell_v2', 'map_cell0',
                  '--database_connection', self.url('nova_cell0'))
        self._run('nova-manage', *config, 'db', 'sync')
        if self._kind == infrastructure.OPENSTACK:
            self._run('nova-manage', *config, 'cell_v2', 'create_cell',
                      '--name=cell1', '--database_connection',
                      self.url('nova_cell1'))

    def _placement(self) -> None:
        self._run('placement-manage', *self._config('placement.conf'),
                  'db', 'sync')

    def _octavia(self) -> None:
        config = self._config('octavia.conf')
        if self._profile.database == 'sqlite':
            self._run('python', _PROGRAMS / 'schema.py', 'octavia', *config)
        else:
            self._run('octavia-db-manage', *config, 'upgrade', 'head')

    def _neutron(self) -> None:
        config = self._config('neutron.conf')
        if self._profile.database == 'sqlite':
            self._run('python', _PROGRAMS / 'schema.py', 'neutron',
                      self.url('neutron'))
            self._run('neutron-db-manage', *config, 'stamp', 'heads')
        else:
            self._run('neutron-db-manage', *config, 'upgrade', 'heads')

    def _cinder(self) -> None:
        self._run('cinder-manage', *self._config('cinder.conf'), 'db', 'sync')

    def _magnum(self) -> None:
        config = self._config('magnum.conf')
        if self._profile.database == 'sqlite':
            self._run('python', _PROGRAMS / 'schema.py', 'magnum', *config,
                      venv=self._venvs.magnum)
        else:
            self._run('magnum-db-manage', *config, 'upgrade',
                      venv=self._venvs.magnum)
