# SPDX-License-Identifier: Apache-2.0

"""Sandboxes of proofs."""

import atexit
import fcntl
import functools

import fixtures
import openstack

from magnum_capi import errors
from magnum_capi import progress
import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import configuration
from tests import proofs


class Box:
    """One sandbox; a context manager unless it is :func:`shared`.

    :param port_base: default of the variable.
    :param name: of its folder.
    :param wanted: fields of sandbox.Spec other than the ports.
    """

    def __init__(self, port_base, name='box', **wanted):
        self.folder, self.results = proofs.folder(), proofs.results()
        self.sandbox = sandbox.Box(self.folder / 'boxes' / name)
        self.progress = progress.Progress()
        self._wanted = sandbox.Spec(port_base=int(
            proofs.setting('PORT_BASE', str(port_base))), **wanted)

    def __enter__(self):
        try:
            self.up()
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info):
        self.close()
        self.sandbox.down(self.progress)

    def up(self):
        """Start the missing parts of the sandbox."""
        self.sandbox.up(self._wanted, self.progress)

    def prepare(self):
        """Prepare the sandbox after its start, in each process."""

    def close(self):
        """End what :meth:`prepare` and cases have started."""

    def connect(self, user='admin'):
        """A connection of one of the sandbox's users, in their project."""
        return openstack.connect(
            auth_url=self.sandbox.layout().auth_url, username=user,
            project_name=user, password=self.sandbox.passwords()[user],
            user_domain_id='default', project_domain_id='default',
            region_name=configuration.REGION, load_yaml_config=False,
            load_envvars=False)


@functools.cache
def shared(kind, *args):
    """A box in the sandbox of the run, one object for all cases of a process.

    The first process that needs the sandbox starts it; the command takes it
    down.

    :param kind: class.
    :raises MagnumCapiError: it could not be started, here or elsewhere.
    """
    box = kind(*args)
    state = box.folder / 'up'
    with Turn('starting'):
        if not state.exists():
            try:
                box.up()
            except errors.MagnumCapiError as e:
                state.write_text(str(e))
                raise
            state.touch()
    if why := state.read_text():
        raise errors.MagnumCapiError('There is no sandbox', last_seen=why)
    atexit.register(box.close)
    box.prepare()
    return box


class Turn(fixtures.Fixture):
    """Wait for a lock among the processes of a run.

    :param alone: else others that are not alone may have it, too.
    """

    def __init__(self, name, alone=True):
        self._name, self._alone = name, alone

    def _setUp(self):
        file = open(proofs.folder() / f'{self._name}.lock', 'w')
        self.addCleanup(file.close)
        fcntl.flock(file, fcntl.LOCK_EX if self._alone else fcntl.LOCK_SH)
