# SPDX-License-Identifier: Apache-2.0

"""dockerd's configuration and the command that starts it; pure.

Only keys that Docker Engine 20.10 and its successors know: dockerd exits on
unknown ones.
"""

import json
import pathlib

#: dockerd's files while it runs, in its own file system at /run.
EXEC_ROOT = '/run/magnum-capi-docker'

#: The container network of Cluster API's provider "docker" and of kind.
NETWORK = 'kind'

#: The first process of the namespaces, which live as long as it does.
PROGRAM = 'containers'

_PATH = ('/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin',
         '/sbin', '/bin')

#: Makes the namespaces.
_NAMESPACE = pathlib.Path(__file__).with_name('namespace.sh')


def daemon(layout, network, runtime=None) -> str:
    """dockerd's configuration file.

    :param layout: :class:`..layout.Layout`.
    :param network: :class:`..networks.EngineNetwork`.
    :param runtime: path of a runc for hosts that lack capabilities.
    """
    settings = {
        'hosts': [f'unix://{layout.socket}'],
        'group': 'root',
        'data-root': str(layout.data),
        'exec-root': EXEC_ROOT,
        'pidfile': f'{EXEC_ROOT}.pid',
        'storage-driver': 'overlay2',
        # Docker Engine 29 would start another store of images.
        'features': {'containerd-snapshotter': False},
        # The namespace has no way out, so there is no address translation,
        # and no filter between the containers' networks.
        'bridge': 'none',
        'iptables': False,
        'ip6tables': False,
        'ip-masq': False,
        'default-address-pools': [{'base': str(network.pool), 'size': 24}],
        # A systemd of the host does not know the containers' processes.
        'exec-opts': ['native.cgroupdriver=cgroupfs'],
        'cgroup-parent': f'/{layout.cgroup}',
        'default-cgroupns-mode': 'private',
        'log-opts': {'max-size': '10m', 'max-file': '2'},
    }
    if runtime:
        settings['runtimes'] = {'nores': {'path': str(runtime)}}
        settings['default-runtime'] = 'nores'
    return json.dumps(settings, indent=1, sort_keys=True)


def environment() -> dict[str, str]:
    """dockerd's variables: it searches its helpers on PATH."""
    return {'PATH': ':'.join(_PATH)}


def command(layout, network, programs) -> list[str]:
    """The command line that becomes dockerd in its own namespaces.

    flock locks the store; its descendants inherit the lock. tini, as process
    1, reaps processes.

    :param programs: path of each of :data:`..host.PROGRAMS`, by name.
    """
    prefix = network.link.prefixlen
    return [str(a) for a in (
        programs['flock'], '--exclusive', '--nonblock', '--no-fork',
        layout.lock,
        '/bin/sh', _NAMESPACE, 'outside', layout.link,
        f'{network.host_address}/{prefix}',
        f'{network.engine_address}/{prefix}', network.whole,
        programs['tini'], '--', programs['dockerd'],
        '--config-file', layout.configuration)]
