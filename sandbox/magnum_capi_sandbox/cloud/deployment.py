# SPDX-License-Identifier: Apache-2.0
"""The cloud of one sandbox, Keystone to Magnum: data, then services."""

import collections.abc
import json
import pathlib

from magnum_capi import outfile
from magnum_capi import progress
from magnum_capi_sandbox import charts
from magnum_capi_sandbox.cloud import backends
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox.cloud import credentials
from magnum_capi_sandbox.cloud import databases
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import seed
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox.cloud import snapshot
from magnum_capi_sandbox.cloud import warmup
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import prerequisites
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import spec as specs
from magnum_capi_tempest.management import pki
from magnum_capi_tempest import supervision

#: Seconds until the services of a loaded machine must answer.
PATIENCE = 180


class Cloud:
    """The cloud of a sandbox.

    :param spec: what the sandbox is.
    :param venvs: :class:`.environment.Environments`.
    :param helm: path of helm.
    """

    def __init__(
            self, layout: layouts.Layout, spec: specs.Spec,
            venvs: environment.Environments,
            supervisor: supervision.Supervisor, helm: pathlib.Path) -> None:
        self._layout = layout
        self._spec = spec
        self._profile = profiles.get(spec.profile)
        self._release = spec.release
        self._kind = spec.infrastructure
        # Of Nova; otherwise Cluster API makes the nodes itself.
        self._containers = spec.machines.real and spec.openstack
        self._venvs = venvs
        self._venv = venvs.cloud
        self._supervisor = supervisor
        self._helm = helm
        self._mariadb = backends.MariaDB(layout.directory)
        self._env = services.environment(layout, venvs.cloud)

    def up(self, progress: progress.Progress) -> None:
        """Start what does not run yet, and wait until it serves requests."""
        layout, directory = self._layout, self._layout.directory
        if layout.https and not pki.usable(layout.tls, layout.address):
            pki.make_server(layout.tls, layout.address)
        new = not (directory / 'seeded.json').exists()
        if new:
            source = snapshot.path(self._profile, self._release, self._kind)
            if not snapshot.restore(source, directory, progress):
                self._make_data(progress)
                snapshot.save(directory, source, progress)
            credentials.make(directory)
        passwords = credentials.passwords(directory)
        broker = self._broker(passwords)
        self._configure(passwords)
        programs = [*services.base(self._layout, self._venv, self._profile,
                                   self._kind, self._containers),
                    *self._magnum()]
        if self._profile.broker:
            broker.configure()
            programs.append(broker.program())
        with progress.step('OpenStack services'):
            self._start_database(progress)
            if new:
                seed.relocate(self._layout, self._venv, self._env, self._url,
                              credentials.of_users(passwords, self._kind),
                              self._kind, self._spec.pods)
            self._supervisor.launch(programs, PATIENCE, progress)
            warmup.first_requests(self._layout, passwords['admin'],
                                  self._kind)
            self._add_images(passwords)

    def restart_magnum(self, progress: progress.Progress) -> None:
        """Restart Magnum with its current configuration; wait for answers."""
        programs = self._magnum()
        with progress.step('Magnum'):
            self._supervisor.stop(*(p.name for p in programs))
            self._supervisor.launch(programs, PATIENCE, progress)

    def _magnum(self) -> list[supervision.Program]:
        return services.magnum(self._layout, self._venvs.magnum,
                               self._profile, self._helm,
                               prerequisites.variables(
                                   self._layout,
                                   self._spec.requirements,
                                   self._spec.release.version))

    def _add_images(
            self, passwords: collections.abc.Mapping[str, str]) -> None:
        """Add images for real nodes, which snapshots do not have."""
        if self._spec.machines.real:
            file = self._layout.directory / 'seeded.json'
            seeded = json.loads(file.read_text())
            seeded['images'] |= seed.add_images(
                self._layout, self._venv, self._env, passwords,
                nodes.glance_images(self._spec.machines))
            outfile.write_private(file, json.dumps(seeded))

    def _make_data(self, progress: progress.Progress) -> None:
        """Create and fill the databases, with the services running."""
        layout = self._layout
        for name in ('db', 'images/staging', 'images/tasks'):
            (layout.directory / name).mkdir(mode=0o700, parents=True,
                                            exist_ok=True)
        passwords = credentials.make(layout.directory)
        self._configure(passwords)
        if self._profile.database == 'mariadb':
            self._mariadb.install()
            self._start_database(progress)
            self._mariadb.execute(''.join(
                f'CREATE DATABASE {name};'
                for name in databases.names(self._kind)))
        self._databases(passwords).create(progress)
        # Without nova-compute and Octavia: their users do not exist yet.
        base = services.base(
            layout, layout.cloud_env if self._kind
            == infrastructure.OPENSTACK else self._venv, self._profile)
        with progress.step('First start of the services'):
            self._supervisor.launch(base, PATIENCE, progress)
        with progress.step('Users, images, flavors, network'):
            seeded = seed.run(layout, self._venv, self._env, passwords,
                              self._release, self._kind)
        # The names may be used for other programs next.
        self._supervisor.remove(*(p.name for p in base))
        self._supervisor.stop('mariadb')
        outfile.write_private(
            layout.directory / 'seeded.json', json.dumps(seeded))

    def _broker(self, passwords: collections.abc.Mapping[str, str]
                ) -> backends.RabbitMQ:
        return backends.RabbitMQ(self._layout, passwords['broker'])

    def _databases(self, passwords: collections.abc.Mapping[str, str]
                   ) -> databases.Databases:
        return databases.Databases(self._layout, self._venvs, self._profile,
                                   self._url, passwords, self._env, self._kind)

    def _configure(self, passwords: collections.abc.Mapping[str, str]) -> None:
        configuration.write_services(
            self._layout, profile=self._profile, venv=self._venv,
            magnum_venv=self._venvs.magnum, release=self._release,
            passwords=passwords, url=self._url, kind=self._kind,
            containers=self._containers,
            chart=charts.used(self._layout.directory, self._spec),
            discovery_filter=self._spec.discovery_filter,
            transport_url=self._broker(passwords).transport_url
            if self._profile.broker else 'fake://')

    def _url(self, database: str) -> str:
        if self._profile.database == 'mariadb':
            return self._mariadb.url(database)
        return f'sqlite:///{self._layout.databases}/{database}.sqlite'

    def _start_database(self, progress: progress.Progress) -> None:
        if self._profile.database == 'mariadb':
            self._supervisor.launch([self._mariadb.program()], PATIENCE,
                                    progress)
