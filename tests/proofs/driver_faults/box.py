# SPDX-License-Identifier: Apache-2.0

"""A sandbox whose Magnum reaches the management cluster through a proxy.

helm is our own symbolic link, so that it can be missing for a while.
"""

import contextlib
import dataclasses
import functools
import os
import subprocess

import psutil

from magnum_capi import errors
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import services
from magnum_capi_sandbox import profiles
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import toolchain
from tests.proofs import boxes
from tests.proofs.driver_faults import proxy as proxies

#: Seconds for a program to begin.
PATIENCE = 60

LEASES = '/apis/coordination.k8s.io/v1/leases'

CONDUCTOR = 'magnum-conductor'
SECOND = 'magnum-conductor-2'


class Box(boxes.Box):
    """One sandbox with the driver, of the profile "full"."""

    port_base = 31000

    def __init__(self):
        super().__init__(profile='full', install=(boxes.DRIVER,))
        self.helm = self.folder / 'bin' / 'helm'
        self.proxy = None

    def close(self):
        if self.proxy is not None:
            self.proxy.close()
        boxes.kill(self.helms())

    def prepare(self):
        """Make Magnum use the proxy and our link to helm."""
        self.layout = self.sandbox.layout()
        self.api = kube.Client(self.layout.kubeconfig)
        kubeconfig = self.folder / 'proxy.kubeconfig'
        self.proxy = proxies.Proxy(self.layout.kubeconfig,
                                   self.layout.address)
        self.proxy.listen()
        self.proxy.write_kubeconfig(kubeconfig)
        self.helm.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.helm_back()
        self.sandbox.set([
            # Templates then mean the driver under test.
            'drivers.disabled_drivers=k8s_capi_helm_v1',
            f'k8s_capi.kubeconfig_file={kubeconfig}',
            f'k8s_capi.helm_binary={self.helm}',
            # Kills hold up to seven helms; by default only four run at once.
            'k8s_capi.helm_processes=16'], True, self.progress)

    def helm_away(self):
        """Remove helm."""
        self.helm.unlink()

    def helm_back(self):
        """Restore helm."""
        real = toolchain.ensure(['helm'], self.progress)['helm']
        self.helm.unlink(missing_ok=True)
        self.helm.symlink_to(real)

    def stop(self, name):
        """Stop a program, such as keystone, like its operator would."""
        self.sandbox.supervisor.stop(name)

    def helms(self, release=''):
        """Processes of this sandbox's helm, including its "timeout"."""
        return [p for p in psutil.process_iter()
                if self.spares(p) and release in ' '.join(_argv(p))]

    def spares(self, process):
        """Whether it is helm, which is in a session of its own."""
        # The driver gives it a small environment: there is no other mark.
        return str(self.helm) in _argv(process)

    def kill_helms(self, release):
        """Kill the helm of a cluster and its "timeout" with SIGKILL."""
        boxes.kill(self.helms(release))

    def another_conductor(self, name=SECOND, env=None):
        """Start another conductor, with the same configuration and queue.

        :param env: variables in addition to those of the first one.
        """
        program, = [p for p in services.magnum(
            self.layout, environment.ensure(self.progress),
            profiles.get('full'), self.helm)
            if p.name == CONDUCTOR]
        self.sandbox.supervisor.launch([dataclasses.replace(
            program, name=name, after=(),
            ready=functools.partial(self._takes_messages, name),
            # Magnum identifies its services by host.
            env={**program.env, 'OS_DEFAULT__HOST': name, **(env or {})})],
            PATIENCE, self.progress)

    def stop_second_conductor(self):
        """Stop it, unless it was killed."""
        self.sandbox.supervisor.stop(SECOND)

    def conductor_of(self, release) -> str:
        """Name of the conductor that holds the lock of a cluster."""
        holder, = [lease['spec']['holderIdentity']
                   for lease in self.api.get(LEASES)['items']
                   if lease['metadata']['name'] == release]
        for name in (CONDUCTOR, SECOND):
            first = self.process(name)
            # Host, process, one-time number: magnum_capi/kube/lease.py.
            if any(f'-{p.pid}-' in holder
                   for p in (first, *first.children(recursive=True))):
                return name
        raise errors.MagnumCapiError('No conductor holds this lock',
                                     where=release, last_seen=holder)

    @contextlib.contextmanager
    def helm_of_operator(self, namespace, *argv):
        """A helm that an operator runs next to Magnum; killed at the end."""
        home = self.folder / 'operator'
        env = {'PATH': os.defpath, 'HOME': str(home),
               'KUBECONFIG': str(self.folder / 'proxy.kubeconfig')}
        with subprocess.Popen(
                [self.helm, *argv, '--namespace', namespace], env=env,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as process:
            try:
                yield
            finally:
                process.kill()

    def _takes_messages(self, name):
        broker = (self.layout.address, self.layout.port('rabbitmq'))
        try:
            return any(
                c.raddr == broker
                for p in self.process(name).children(recursive=True)
                for c in p.net_connections('tcp'))
        except (errors.MagnumCapiError, psutil.Error):
            # It has ended; its state shows that.
            return False


def _argv(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
