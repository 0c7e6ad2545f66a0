# SPDX-License-Identifier: Apache-2.0

"""Sandboxes of proofs."""

import atexit
import functools

import openstack
import psutil

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_tempest import resources
from tests import proofs

#: The driver under test, for sandboxes that install it.
DRIVER = str(resources.find('drivers/k8s_capi_v1'))

#: Versions of Kubernetes, of the images of a sandbox.
OLD, NEW = 'v1.34.2', 'v1.35.0'

#: Seconds for killed processes to be gone.
PATIENCE = 60


class Box:
    """One sandbox.

    :cvar port_base: default of the variable; a developer's own sandbox may
        run meanwhile, and another proof.
    :param name: of its folder.
    :param wanted: fields of sandbox.Spec other than the ports.
    """

    port_base = 0

    def __init__(self, name='box', **wanted):
        self.folder, self.results = proofs.folder(), proofs.results()
        self.sandbox = sandbox.Box(self.folder / 'boxes' / name)
        self.progress = progress.Progress()
        self._wanted = sandbox.Spec(port_base=int(
            proofs.setting('PORT_BASE', str(self.port_base))), **wanted)

    def up(self):
        """Start the missing parts of the sandbox.

        :raises MagnumCapiError: they do not start.
        """
        self.sandbox.up(self._wanted, self.progress)

    def prepare(self):
        """Prepare the sandbox, which is up, in each process."""

    def close(self):
        """End what :meth:`prepare` and cases have started."""

    def states(self) -> dict[str, str]:
        """States of the programs, by name."""
        return {s.name: s.state for s in self.sandbox.status()}

    def process(self, name) -> psutil.Process:
        """The process of a program that supervisord has started.

        :raises MagnumCapiError: it does not run.
        """
        pid = {s.name: s.pid for s in self.sandbox.status()}.get(name)
        if not pid:
            raise errors.MagnumCapiError('It does not run', where=name)
        return psutil.Process(pid)

    def spares(self, process) -> bool:
        """Whether a process outlives the program that has started it."""
        return False

    def kill(self, name):
        """SIGKILL a program and what it has started, see :meth:`spares`.

        Returns when supervisord has noticed its end.
        """
        first = self.process(name)
        # The first one first, as it restarts workers.
        kill([p for p in (first, *first.children(recursive=True))
              if not self.spares(p)])
        waiting.wait_for(
            lambda: self.states()[name], timeout=60,
            done=lambda state: state != 'RUNNING',
            what=f'supervisord to notice the end of {name}')

    def connect(self, user='admin'):
        """A connection of one of the sandbox's users, in their project."""
        layout = self.sandbox.layout()
        return openstack.connect(
            auth_url=layout.auth_url, username=user,
            cacert=layout.authority and str(layout.authority),
            project_name=user, password=self.sandbox.passwords()[user],
            user_domain_id='default', project_domain_id='default',
            region_name=configuration.REGION, load_yaml_config=False,
            load_envvars=False)


def templates(user) -> dict[str, str]:
    """UUIDs of a user's cluster templates, by the version of Kubernetes.

    :param user: cloud.Cloud.
    """
    return {OLD: user.template, NEW: user.make_template('ubuntu-capi-1.35')}


def kill(victims):
    """SIGKILL processes and wait until they are gone."""
    for process in victims:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    _gone, alive = psutil.wait_procs(victims, timeout=PATIENCE)
    if any(p.status() != psutil.STATUS_ZOMBIE for p in alive):
        raise errors.MagnumCapiError('A killed process does not end',
                                     last_seen=alive)


@functools.cache
def attached(kind):
    """The sandbox that the command has started, for all cases of a process.

    :param kind: class.
    """
    box = kind()
    atexit.register(box.close)
    box.prepare()
    return box
