# SPDX-License-Identifier: Apache-2.0

"""Registries of container images: mirrors, CA certificates, logins. Pure.

The operator configures for each host what containerd on all nodes should know.
Mirrors are a value of the chart. CA certificates and logins are files of nodes
in a Secret, which kubeadmConfigSpec refers to, so that they do not appear in
Helm's record and the templates of Cluster API (see ``node_files``).
"""

import collections.abc
import dataclasses
import json
import re
import typing

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import node_files
from magnum_capi.driver.desired import spec as spec_model

_HOST = re.compile(r'[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?',
                   re.ASCII).fullmatch
_URL = re.compile(r'https?://[A-Za-z0-9._:/\[\]-]+', re.ASCII).fullmatch
_CERTIFICATE = re.compile(
    r'(-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+'
    r'-----END CERTIFICATE-----\s*)+', re.ASCII).fullmatch
_FIELDS = ('mirrors', 'ca', 'username', 'password')

#: Key of the logins in the Secret.
_AUTH = 'registries.toml'
_AUTH_PATH = f'/etc/containerd/{_AUTH}'
#: Appended to the configuration of containerd, once. It is not imported,
#: because for a plugin in an imported file containerd 1 forgets everything in
#: the main file, such as SystemdCgroup and config_path. Version 3 of the
#: configuration has another name for the plugin.
_APPEND = (
    'grep -qs "^# registries of Magnum" {0}/config.toml || {{ '
    'p=io.containerd.grpc.v1.cri; '
    'grep -Eq "^version *= *3" {0}/config.toml '
    '&& p=io.containerd.cri.v1.images; '
    '{{ printf "\\n# registries of Magnum\\n"; '
    'sed "s/^\\[plugins\\.@/[plugins.\\"$p\\"/" {0}/registries.toml; }} '
    '>> {0}/config.toml; chmod 0600 {0}/config.toml; }}'
).format('/etc/containerd')
#: By operating system: path of CA certificates, and command to activate them.
_TRUST = {
    'flatcar': ('/etc/ssl/certs/{}.pem', 'update-ca-certificates'),
    'rocky': ('/etc/pki/ca-trust/source/anchors/{}.pem', 'update-ca-trust'),
    'rockylinux': ('/etc/pki/ca-trust/source/anchors/{}.pem',
                   'update-ca-trust')}
_TRUST_OF_DEBIAN = ('/usr/local/share/ca-certificates/{}.crt',
                    'update-ca-certificates')


@dataclasses.dataclass(frozen=True)
class File:
    """The operator's configuration, and the Secret for one cluster.

    :param data: of the Secret.
    """

    registries: spec_model.Registries
    data: typing.Mapping[str, str] = dataclasses.field(
        default_factory=dict, repr=False)


def read(content: typing.Any, release: str) -> File:
    """Read the contents of the operator's file.

    :param content: mapping of hosts to mappings with ``mirrors`` (URLs),
        ``ca`` (PEM) and ``username`` with ``password``; each is optional.
    :param release: of the cluster.
    :raises ValueError: it is invalid; the message has no secrets.
    """
    problems = list(_problems(content))
    if problems:
        raise ValueError('; '.join(problems))
    hosts = sorted(content.items())
    data = {_key(host): of['ca'] for host, of in hosts if of.get('ca')}
    log_ins = {host: of for host, of in hosts if of.get('username')}
    if log_ins:
        data[_AUTH] = _toml(log_ins)
    return File(spec_model.Registries(
        mirrors={host: tuple(of['mirrors']) for host, of in hosts
                 if of.get('mirrors')},
        authorities=tuple(host for host, of in hosts if of.get('ca')),
        log_ins=bool(log_ins),
        secret=names.registries(release, node_files.digest(
            json.dumps(data, sort_keys=True), release)) if data else None),
        data)


def kubeadm(registries: spec_model.Registries,
            os_distro: str) -> dict[str, typing.Any]:
    """The kubeadmConfigSpec of all nodes; may be empty."""
    if not registries.secret:
        return {}
    path, command = _TRUST.get(os_distro, _TRUST_OF_DEBIAN)
    files = [_file(registries.secret, _key(host), path.format(
        f'magnum-{_plain(host)}'), '0644')
        for host in registries.authorities]
    commands = [command] if files else []
    if registries.log_ins:
        files.append(_file(registries.secret, _AUTH, _AUTH_PATH, '0600'))
        commands.append(_APPEND)
    # containerd reads CA certificates only at its start.
    return {'files': files,
            'preKubeadmCommands': [*commands, 'systemctl restart containerd']}


def _problems(content: typing.Any) -> collections.abc.Iterator[str]:
    if not isinstance(content, dict):
        yield 'it must be a mapping of hosts'
        return
    for host, of in content.items():
        if not (isinstance(host, str) and _HOST(host)):
            yield f'{str(host)[:60]!r} is not the host of a registry'
        elif not isinstance(of, dict):
            yield f'{host}: it must be a mapping'
        else:
            for what in _wrong(of):
                yield f'{host}: {what}'


def _wrong(of: dict[typing.Any, typing.Any]
           ) -> collections.abc.Iterator[str]:
    for name in of:
        if name not in _FIELDS:
            yield f'there is no such field, only {", ".join(_FIELDS)}'
    mirrors = of.get('mirrors', [])
    if not isinstance(mirrors, list) or not all(
            isinstance(url, str) and _URL(url) for url in mirrors):
        yield 'mirrors must be a list of URLs'
    if 'ca' in of and not (isinstance(of['ca'], str)
                           and _CERTIFICATE(of['ca'])):
        yield 'ca must be PEM certificates'
    if ('username' in of) != ('password' in of):
        yield 'username and password go together'
    for name in ('username', 'password'):
        if name in of and not (isinstance(of[name], str) and of[name]
                               and of[name].isprintable()):
            yield f'{name} must be a text of one line'


def _toml(log_ins: typing.Mapping[str, typing.Mapping[str, str]]) -> str:
    """Logins as containerd reads them; @ stands for its plugin."""
    lines = []
    for host, of in log_ins.items():
        lines += [f'[plugins.@.registry.configs."{host}".auth]',
                  # A JSON string is also a TOML string.
                  *(f'  {name} = {json.dumps(of[name], ensure_ascii=False)}'
                    for name in ('username', 'password'))]
    return '\n'.join(lines) + '\n'


def _file(secret: str, key: str, path: str,
          permissions: str) -> dict[str, typing.Any]:
    return {'path': path, 'owner': 'root:root', 'permissions': permissions,
            'contentFrom': {'secret': {'name': secret, 'key': key}}}


def _key(host: str) -> str:
    return f'ca-{_plain(host)}.crt'


def _plain(host: str) -> str:
    """A host, without characters that names of files or keys may not have."""
    return host.replace(':', '_')
