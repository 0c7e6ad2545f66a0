# SPDX-License-Identifier: Apache-2.0

"""minikube's machine as a container, for its driver "docker".

minikube sets up kubelet, containerd and certificates through ssh. It needs a
user "docker" with all rights, and a system that it knows: its provisioners
are for buildroot and Ubuntu (pkg/provision of kubernetes/minikube), so
os-release says Ubuntu.
"""

from tools.offline.images import layer
from tools.offline.images import machine
from tools.offline.images import node

_USER = {
    '/etc/passwd': 'docker:x:1000:1000::/home/docker:/bin/bash\n',
    '/etc/group': 'docker:x:1000:\n',
    # No password matches, but the account is not locked.
    '/etc/shadow': 'docker:*:19000:0:99999:7:::\n'}

_MODES = {'/etc/shadow': 0o640}

#: Debian's package makes host keys during installation. Whiteouts (layer.md
#: of opencontainers/image-spec) remove these files of the layer below.
_NO_KEYS = tuple(f'/etc/ssh/.wh.ssh_host_{kind}_key{end}'
                 for kind in ('ecdsa', 'ed25519', 'rsa')
                 for end in ('', '.pub'))


def make(order, out, progress) -> None:
    """Write the archive of minikube's machine.

    :param order: see :mod:`.build`.
    """
    machine.make(order, order.archives, entries, machine.config, out,
                 progress)


def entries(recipe, programs, base) -> list[layer.Entry]:
    """The machine's files other than Debian and baked images."""
    shared = [e for e in machine.files('node', {
        machine.SANDBOX: machine.sandbox_image(recipe)})
        if not e.path.startswith('etc/systemd/system/kubelet')]
    return [
        *shared, *machine.files('kicbase'),
        *machine.units({
            'containerd.service': '/lib/systemd/system/containerd.service',
            'ssh.service': '/lib/systemd/system/ssh.service'}),
        machine.os_release(base, 'machine', identity='ubuntu'),
        *user(layer.read(base, list(_USER))),
        *(layer.Entry(path, b'', 0o600) for path in _NO_KEYS),
        *node.plugins(), layer.Entry('/etc/cni/net.d'),
        layer.Entry('/kind'), *machine.own(recipe, programs)]


def user(there) -> list[layer.Entry]:
    """Files that define the user "docker"; pure.

    :param there: path -> bytes of Debian's files.
    """
    return [layer.Entry(path, there[path] + line.encode(),
                        _MODES.get(path, 0o644))
            for path, line in _USER.items()] + [
        layer.Entry('/home/docker/.ssh', mode=0o700)]
