# SPDX-License-Identifier: Apache-2.0

"""Sandboxes of proofs."""

import atexit
import functools

import openstack

from magnum_capi import progress
from magnum_capi import waiting
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import configuration
from tests import proofs


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

    def wait_ended(self, name):
        """Wait until supervisord has noticed that a program has ended."""
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


@functools.cache
def attached(kind):
    """The sandbox that the command has started, for all cases of a process.

    :param kind: class.
    """
    box = kind()
    atexit.register(box.close)
    box.prepare()
    return box
