# SPDX-License-Identifier: Apache-2.0

"""Where this Zuul is: folders, addresses, secrets, configuration files."""

import dataclasses
import getpass
import pathlib
import secrets

from cryptography.hazmat.primitives import serialization
import trustme
import yaml

from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_tempest.management import pki

TENANT = 'openstack'
HOST = 'opendev.org'
CONFIG = 'opendev/base-jobs'
OURS = 'openstack/magnum-capi-tempest'

#: On the address of the run, which is its own.
ZOOKEEPER, WEB, SSH, FINGER = PORTS = 22281, 29000, 22022, 27979


@dataclasses.dataclass(frozen=True)
class Site:
    """One run.

    :param directory: for everything that goes with the run.
    :param results: for what stays: logs of jobs.
    :param address: of a loopback network that is this run's.
    :param zuul: environment with Zuul.
    :param ansible: environment with Ansible.
    """

    directory: pathlib.Path
    results: pathlib.Path
    address: str
    zuul: pathlib.Path
    ansible: pathlib.Path
    secret: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(32), repr=False)

    @property
    def url(self) -> str:
        return f'http://{self.address}:{WEB}'

    @property
    def conf(self) -> pathlib.Path:
        return self.directory / 'etc/zuul.conf'

    @property
    def git(self) -> pathlib.Path:
        """The repositories, below their names."""
        return self.directory / 'git'

    @property
    def node(self) -> pathlib.Path:
        """What the node has in place of /tmp and of the user's home."""
        return self.directory / 'node'

    @property
    def builds(self) -> pathlib.Path:
        """For what the executor runs; it removes anything else in there."""
        return self.directory / 'builds'

    @property
    def temporary(self) -> pathlib.Path:
        """For temporary files of Zuul's programs."""
        return self.directory / 'tmp'

    @property
    def host_key(self) -> str:
        """Public key of the node, as known_hosts has it."""
        text = (self.node / 'tmp/sshd/host_key.pub').read_text()
        return ' '.join(text.split()[:2])

    def write(self, database, projects, environment):
        """Write all files but the repositories.

        :param database: SQLAlchemy URL.
        :param projects: names of those that are only there to be named.
        :param environment: variables of the node.
        """
        for name in ('etc', 'pki', 'zookeeper', 'ansible', 'builds', 'tmp',
                     'node/home', 'node/tmp/sshd', 'state/launcher'):
            (self.directory / name).mkdir(parents=True)
        self._certificates()
        self._keys()
        outfile.write_private(self.directory / 'etc/zoo.cfg', _properties({
            'tickTime': 2000,
            'dataDir': self.directory / 'zookeeper',
            'secureClientPort': ZOOKEEPER,
            'secureClientPortAddress': self.address,
            'serverCnxnFactory':
                'org.apache.zookeeper.server.NettyServerCnxnFactory',
            'ssl.keyStore.location': self.directory / 'pki/both.pem',
            'ssl.trustStore.location': self.directory / 'pki/ca.pem',
            'ssl.clientAuth': 'need',
            # Clients ask for its version.
            '4lw.commands.whitelist': 'envi',
            'maxClientCnxns': 200,
            'admin.enableServer': 'false'}))
        outfile.write_private(self.directory / 'etc/tenants.yaml',
                              yaml.safe_dump(_tenants(projects)))
        outfile.write_private(self.directory / 'etc/variables.yaml',
                              yaml.safe_dump({'site_logs': str(
                                  self.results / 'logs')}))
        outfile.write_private(self.node / 'tmp/sshd/config',
                              _sshd(self.address, environment))
        outfile.write_private(self.conf, self._zuul_conf(database))
        # Zuul looks for each of the versions that it knows; our jobs want the
        # newest. It mounts the folder, which may be no link.
        for version in ('9', '11'):
            for name in ('bin', 'lib', 'pyvenv.cfg'):
                link = self.directory / 'ansible' / version / name
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(self.ansible / name)

    def _certificates(self):
        authority = trustme.CA()
        certificate, key = pki.pair(
            authority, 'zuul', [self.address, 'localhost'])
        # ZooKeeper reads PKCS#8 only.
        key = serialization.load_pem_private_key(key, None).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption())
        for name, pem in (
                ('ca', authority.cert_pem.bytes()),
                ('certificate', certificate),
                ('key', key), ('both', certificate + key)):
            outfile.write_private(self.directory / f'pki/{name}.pem', pem)

    def _keys(self):
        for path in (self.directory / 'etc/ssh_key',
                     self.node / 'tmp/sshd/host_key'):
            processes.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '',
                           '-C', '', '-f', path], timeout=60)
        outfile.write_private(
            self.node / 'tmp/sshd/authorized_keys',
            (self.directory / 'etc/ssh_key.pub').read_text())

    def _zuul_conf(self, database):
        here, state = self.directory, self.directory / 'state'
        base = processes.run(
            [self.zuul / 'bin/python', '-c',
             'import sys; print(sys.base_prefix)'], timeout=60).strip()
        readable = f'{self.ansible}:{base}'
        return _ini({
            'zookeeper': {
                'hosts': f'{self.address}:{ZOOKEEPER}',
                'tls_cert': here / 'pki/certificate.pem',
                'tls_key': here / 'pki/key.pem',
                'tls_ca': here / 'pki/ca.pem'},
            'keystore': {'password': self.secret},
            'database': {'dburi': database},
            'scheduler': {
                'tenant_config': here / 'etc/tenants.yaml',
                'state_dir': state,
                'command_socket': state / 'scheduler.socket'},
            'merger': {
                'git_dir': state / 'merger',
                'git_user_email': 'zuul@example.org',
                'git_user_name': 'Zuul',
                'command_socket': state / 'merger.socket'},
            'executor': {
                'private_key_file': here / 'etc/ssh_key',
                'ansible_root': here / 'ansible',
                'manage_ansible': 'false',
                'job_dir': self.builds,
                'git_dir': state / 'executor-git',
                'state_dir': state / 'executor',
                'command_socket': state / 'executor.socket',
                'default_username': getpass.getuser(),
                'hostname': self.address,
                'finger_port': FINGER,
                'variables': here / 'etc/variables.yaml',
                'trusted_rw_paths': self.results / 'logs',
                'trusted_ro_paths': readable,
                'untrusted_ro_paths': readable,
                # The machine is a person's, and does other things, too.
                'load_multiplier': 50,
                'min_avail_mem': 1},
            'web': {
                'listen_address': self.address, 'port': WEB,
                'root': self.url,
                'command_socket': state / 'web.socket'},
            'launcher': {
                'command_socket': state / 'launcher.socket',
                'temp_dir': state / 'launcher',
                'state_dir': state / 'launcher'},
            'auth operator': {
                'driver': 'HS256', 'allow_authz_override': 'true',
                'realm': 'zuul', 'client_id': 'zuul',
                'issuer_id': 'operator', 'secret': self.secret},
            f'connection {HOST}': {
                'driver': 'git', 'baseurl': self.git,
                'canonical_hostname': HOST, 'poll_delay': 3600},
            'connection static': {'driver': 'static'}})


def _tenants(projects):
    return [{'tenant': {
        'name': TENANT,
        'source': {HOST: {
            'config-projects': [{CONFIG: {'include-provider-config': True}}],
            'untrusted-projects': [
                OURS, {'include': [], 'projects': sorted(projects)}]}}}}]


def _sshd(address, environment):
    def quoted(text):
        return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'

    # Paths as the node has them.
    return '\n'.join((
        f'ListenAddress {address}', f'Port {SSH}', 'PidFile none',
        'HostKey /tmp/sshd/host_key',
        'AuthorizedKeysFile /tmp/sshd/authorized_keys',
        f'AllowUsers {getpass.getuser()}', 'StrictModes no', 'UsePAM no',
        'PasswordAuthentication no', 'KbdInteractiveAuthentication no',
        'X11Forwarding no', 'AllowTcpForwarding no',
        'Subsystem sftp internal-sftp',
        'SetEnv ' + ' '.join(quoted(f'{name}={value}') for name, value
                             in sorted(environment.items())), ''))


def _properties(values):
    return ''.join(f'{name}={value}\n' for name, value in values.items())


def _ini(sections):
    return '\n'.join(f'[{name}]\n{_properties(values)}'
                     for name, values in sections.items())
