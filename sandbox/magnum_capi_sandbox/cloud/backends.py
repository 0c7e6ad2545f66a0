# SPDX-License-Identifier: Apache-2.0
"""Private MariaDB and RabbitMQ of the full profile.

Both are the distribution's programs with data folders of their own. MariaDB
has no network port: only users who may enter the sandbox's folder reach its
socket, so it does without TLS. RabbitMQ listens on the sandbox's address, for
TLS only with the certificate of the services, and has a random password.
"""

import getpass
import os
import pathlib
import secrets
import shutil
import socket
import ssl

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_sandbox import layout as layouts
from magnum_capi_tempest import runmarks
from magnum_capi_tempest import supervision

# MariaDB ignores umask(2) and uses these; its defaults are 0660 and 0770.
_UMASK = {'UMASK': '0600', 'UMASK_DIR': '0700'}

RABBITMQ_SERVER = pathlib.Path('/usr/lib/rabbitmq/bin/rabbitmq-server')


def _program(name: str) -> str:
    found = shutil.which(name) or shutil.which(
        name, path='/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin')
    if not found:
        raise errors.EnvironmentProblem(
            f'{name} is missing', where='PATH, /usr/sbin',
            hint='The full profile needs the packages mariadb-server and '
                 'rabbitmq-server: "apt-get install mariadb-server '
                 'rabbitmq-server", or use the profile "embedded"')
    return found


def check() -> None:
    """Check for the programs before anything is created.

    :raises EnvironmentProblem: naming the missing one.
    """
    for name in ('mariadbd', 'mariadb-install-db', 'mariadb'):
        _program(name)
    _rabbitmq_server()


def _rabbitmq_server() -> pathlib.Path:
    # /usr/sbin/rabbitmq-server would switch to the user "rabbitmq".
    return RABBITMQ_SERVER if RABBITMQ_SERVER.exists() \
        else pathlib.Path(_program('rabbitmq-server'))


def mariadb_version() -> str:
    """What the server says of itself; its data may fit no other version."""
    return processes.run([_program('mariadbd'), '--version'], timeout=30)


class MariaDB:
    """A MariaDB server for one sandbox.

    :param directory: the sandbox's folder; data go to ``mariadb/``.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.data = directory / 'mariadb'
        self.socket = directory / 'mariadb.sock'

    def url(self, database: str) -> str:
        """SQLAlchemy URL of a database."""
        return (f'mysql+pymysql://root@localhost/{database}'
                f'?unix_socket={self.socket}&charset=utf8mb4')

    def install(self) -> None:
        """Make an empty data folder."""
        processes.run(
            [_program('mariadb-install-db'), '--no-defaults',
             f'--datadir={self.data}', '--skip-test-db',
             '--auth-root-authentication-method=normal',
             f'--user={getpass.getuser()}'], timeout=120, merge=True,
            env=os.environ | _UMASK | {
                runmarks.MARK: str(self.data.parent)})

    def program(self) -> supervision.Program:
        """The server; ready when it accepts connections."""
        return supervision.Program(
            'mariadb',
            (_program('mariadbd'), '--no-defaults',
             f'--datadir={self.data}', f'--socket={self.socket}',
             f'--pid-file={self.data}/mariadbd.pid',
             f'--user={getpass.getuser()}',
             '--skip-networking', '--skip-grant-tables',
             '--skip-name-resolve', '--max-connections=500',
             # The data is disposable: do not wait for the disk.
             '--innodb-flush-log-at-trx-commit=0',
             '--innodb-flush-method=nosync', '--innodb-log-file-size=24M',
             '--character-set-server=utf8mb4'),
            env=_UMASK, ready=self._accepts)

    def _accepts(self) -> bool:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.socket))
            return True

    def execute(self, statements: str) -> None:
        """Run SQL as root.

        :param statements: text, passed on standard input.
        """
        processes.run([_program('mariadb'), '--no-defaults',
                       f'--socket={self.socket}', '--user=root'],
                      stdin=statements, timeout=60)


class RabbitMQ:
    """A RabbitMQ broker for one sandbox.

    :param layout: one with https, whose certificate the broker uses too.
    """

    def __init__(self, layout: layouts.Layout, password: str) -> None:
        self._layout = layout
        self._password = password
        self._directory = layout.directory / 'rabbitmq'

    @property
    def transport_url(self) -> str:
        layout = self._layout
        return (f'rabbit://sandbox:{self._password}@{layout.address}:'
                f'{layout.port("rabbitmq")}/')

    def configure(self) -> None:
        """Write its files."""
        layout = self._layout
        for name in ('mnesia', 'log', 'home'):
            (self._directory / name).mkdir(parents=True, exist_ok=True)
        outfile.write_private(
            self._directory / 'rabbitmq.conf',
            # https://www.rabbitmq.com/docs/ssl#enabling-tls. Clients have no
            # certificates: the password says who they are. The files are
            # relative to its working directory: a "#" in the path of the
            # sandbox's folder would begin a comment here.
            'listeners.tcp = none\n'
            f'listeners.ssl.1 = {layout.address}:{layout.port("rabbitmq")}\n'
            f'ssl_options.cacertfile = {layout.tls.name}/ca.crt\n'
            f'ssl_options.certfile = {layout.tls.name}/server.crt\n'
            f'ssl_options.keyfile = {layout.tls.name}/server.key\n'
            'loopback_users = none\n'
            'default_user = sandbox\n'
            f'default_pass = {self._password}\n'
            'log.console = true\n'
            'log.console.level = info\n'
            'vm_memory_high_watermark.absolute = 512MB\n'
            'disk_free_limit.absolute = 50MB\n')
        # Without one, Erlang makes a guessable one: lib/kernel/src/auth.erl,
        # create_cookie.
        outfile.write_private(self._directory / 'home' / '.erlang.cookie',
                              secrets.token_hex(32))
        for name, text in (('advanced.config', '[].'),
                           ('enabled_plugins', '[].'), ('env.conf', '')):
            (self._directory / name).write_text(text)

    def program(self) -> supervision.Program:
        """The broker; ready when a client can verify its certificate.

        Its helper epmd outlives it; when the sandbox goes down it is found
        by the mark in its environment. epmd always listens on 127.0.0.1 too,
        so its port must differ between sandboxes.
        """
        layout, base = self._layout, self._directory
        address = layout.address.replace('.', ',')
        epmd = layout.port('epmd') + int(layout.prefix.split('.')[1])
        return supervision.Program(
            'rabbitmq', (str(_rabbitmq_server()),), env={
                'HOME': str(base / 'home'),
                'RABBITMQ_NODENAME': 'sandbox@localhost',
                'RABBITMQ_MNESIA_BASE': str(base / 'mnesia'),
                'RABBITMQ_LOG_BASE': str(base / 'log'),
                'RABBITMQ_CONFIG_FILE': str(base / 'rabbitmq.conf'),
                'RABBITMQ_ADVANCED_CONFIG_FILE':
                    str(base / 'advanced.config'),
                'RABBITMQ_ENABLED_PLUGINS_FILE':
                    str(base / 'enabled_plugins'),
                'RABBITMQ_CONF_ENV_FILE': str(base / 'env.conf'),
                'RABBITMQ_DIST_PORT':
                    str(layout.port('rabbitmq-distribution')),
                'RABBITMQ_PID_FILE': str(base / 'pid'),
                'ERL_EPMD_ADDRESS': layout.address,
                'ERL_EPMD_PORT': str(epmd),
                'RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS':
                    f'-kernel inet_dist_use_interface {{{address}}} '
                    '+S 1:1 +sbwt none',
            }, cwd=layout.directory, ready=self._accepts,
            listens=(self._address,))

    @property
    def _address(self) -> tuple[str, int]:
        return self._layout.address, self._layout.port('rabbitmq')

    def _accepts(self) -> bool:
        context = ssl.create_default_context(cafile=self._layout.authority)
        with socket.create_connection(self._address, timeout=2) as plain, \
                context.wrap_socket(plain,
                                    server_hostname=self._layout.address):
            return True
