# SPDX-License-Identifier: Apache-2.0


"""Breaks clusters: through their API, or through their machines.

A machine is a container here. Scripts in it do what root on a node could do,
and stopping it corresponds to switching it off.
"""

from magnum_capi import waiting

_FLANNEL = '/apis/apps/v1/namespaces/kube-flannel/daemonsets'
_DNS = '/apis/apps/v1/namespaces/kube-system/deployments/coredns'
_MERGE = 'application/merge-patch+json'

#: Seconds for the cluster to notice.
_NOTICED = 180

#: A small file system where kubelet keeps the files of pods, filled beyond the
#: threshold of eviction. kubeadm's defaults have that threshold, machines in
#: containers usually have none (Cluster API's docker backend sets it to 0 %).
_SMALL_DISK = '''set -e
systemctl stop kubelet
mkdir -p /run/disk
mount -t tmpfs -o size=256m disk /run/disk
cp -ax /var/lib/kubelet/. /run/disk/
mount --bind /run/disk /var/lib/kubelet
cd /var/lib/kubelet
sed -i -E 's/ ?--eviction-hard=[^ "]+//' kubeadm-flags.env
sed -i -E '/^evictionHard:/,/^[^ ]/{/^evictionHard:/d;/^ /d}' config.yaml
printf 'evictionHard:\\n  nodefs.available: "10%%"\\n' >> config.yaml
systemctl start kubelet
'''
_FILL = 'head -c 240M /dev/zero > /var/lib/kubelet/full || true'


class Machines:
    """The machines of one cluster, and its API.

    :param docker: :class:`magnum_capi_tempest.dockers.Docker`.
    :param writer: ``kube.Client`` of the cluster.
    """

    def __init__(self, docker, writer):
        self._docker = docker
        self.writer = writer

    def names(self, worker=None):
        """Names of nodes: all, the workers, or the others."""
        label = 'node-role.kubernetes.io/control-plane'
        return [n['metadata']['name'] for n in self.writer.nodes()
                if worker is None
                or worker != (label in n['metadata']['labels'])]

    def run(self, name, script):
        """Run a shell script on a machine.

        :raises CommandFailed: it failed.
        """
        self._docker.run('exec', name, 'sh', '-c', script, timeout=600)

    def off(self, name):
        """Switch a machine off, as a power cut would."""
        self._docker.run('kill', name)

    def wait_node(self, name, kind, statuses):
        """Wait until a condition of a node has one of these statuses."""
        def status():
            node = self.writer.ask('GET', f'/api/v1/nodes/{name}')
            return next((c['status'] for c in node['status']['conditions']
                         if c['type'] == kind), None)

        waiting.wait_for(
            status, done=lambda found: found in statuses, timeout=_NOTICED,
            what=f'{kind} of node {name} to be {" or ".join(statuses)}')


def no_dns(machines):
    """Scale the cluster DNS to 0, and wait until it is gone."""
    machines.writer.ask('PATCH', _DNS, {'spec': {'replicas': 0}}, _MERGE)
    waiting.wait_for(
        lambda: machines.writer.ask('GET', _DNS)['status'].get('replicas', 0),
        done=lambda count: not count, timeout=_NOTICED,
        what='the cluster DNS to be gone')


def no_network(machines):
    """Remove the network plugin: nodes stay ready, new pods get no network.

    Its configuration file stays.
    """
    _remove_flannel(machines)
    for name in machines.names():
        machines.run(name, 'rm -rf /run/flannel')


def no_network_configuration(machines):
    """Remove the network plugin with its configuration: no node is ready."""
    _remove_flannel(machines)
    for name in machines.names():
        machines.run(name, 'rm -f /etc/cni/net.d/*')
    for name in machines.names():
        machines.wait_node(name, 'Ready', ('False', 'Unknown'))


def _remove_flannel(machines):
    """Remove the daemon set, and wait until its pods are gone."""
    found = machines.writer.ask('GET', _FLANNEL)['items']
    for obj in found:
        machines.writer.delete(f'{_FLANNEL}/{obj["metadata"]["name"]}')
    waiting.wait_for(
        lambda: [p['metadata']['name'] for p in machines.writer.core('pods')
                 if p['metadata']['namespace'] == 'kube-flannel'],
        done=lambda left: not left, timeout=_NOTICED,
        what="the network plugin's pods to be gone")


def small_disk(machines):
    """Move a worker's pod files to a disk that is nearly full."""
    for name in machines.names(worker=True):
        machines.run(name, _SMALL_DISK)
        machines.wait_node(name, 'DiskPressure', ('False',))
        machines.wait_node(name, 'Ready', ('True',))


def full_disk(machines):
    """Fill up that disk."""
    for name in machines.names(worker=True):
        machines.run(name, _FILL)
    for name in machines.names(worker=True):
        machines.wait_node(name, 'DiskPressure', ('True',))


def power_cut(machines):
    """Switch off a worker."""
    machines.off(machines.names(worker=True)[0])


def still_off(machines):
    """Wait until the cluster has noticed that a worker is off."""
    machines.wait_node(machines.names(worker=True)[0], 'Ready',
                       ('False', 'Unknown'))
