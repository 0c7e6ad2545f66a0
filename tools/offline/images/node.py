# SPDX-License-Identifier: Apache-2.0

"""A Kubernetes node as a container: kind's and Cluster API's node image.

Made of Debian's systemd and containerd and of Kubernetes' own programs. It
keeps everything that users of such an image rely on: the entrypoint,
``/kind/version``, the control group ``/kubelet``, a volume for ``/var``
(images/base and images/node of kubernetes-sigs/kind).
"""

from tools.offline.images import layer
from tools.offline.images import machine

#: Network plugins of pods, from the package containernetworking-plugins.
PLUGINS = ('bandwidth', 'bridge', 'dhcp', 'firewall', 'host-device',
           'host-local', 'ipvlan', 'loopback', 'macvlan', 'portmap', 'ptp',
           'sbr', 'static', 'tuning', 'vlan', 'vrf')


def make(order, out, progress) -> None:
    """Write the archive of a node image.

    :param order: see :mod:`.build`.
    """
    machine.make(order, order.archives, entries, config, out, progress)


def entries(recipe, programs, base) -> list[layer.Entry]:
    """A node's files other than Debian and baked images."""
    return [
        *machine.files('node', {
            machine.SANDBOX: machine.sandbox_image(recipe)}),
        *machine.units({
            'containerd.service': '/lib/systemd/system/containerd.service',
            'kubelet.service': '/etc/systemd/system/kubelet.service'}),
        layer.Entry('/etc/systemd/system/ssh.service', link='/dev/null'),
        machine.os_release(base, 'node image'),
        *plugins(),
        layer.Entry('/etc/cni/net.d'), layer.Entry('/etc/kubernetes'),
        layer.Entry('/kind/manifests'),
        layer.Entry('/usr/local/bin/kubeadm', link='/usr/bin/kubeadm'),
        *machine.own(recipe, programs)]


def plugins() -> list[layer.Entry]:
    """Links from the folder where Kubernetes looks for network plugins."""
    return [layer.Entry(f'/opt/cni/bin/{name}', link=f'/usr/lib/cni/{name}')
            for name in PLUGINS]


def config(recipe, layers) -> dict:
    """The image's configuration; pure."""
    found = machine.config(recipe, layers)
    found['config']['Volumes'] = {'/var': {}}
    return found
