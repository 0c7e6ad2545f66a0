# SPDX-License-Identifier: Apache-2.0

"""Sandboxes of proofs."""

import openstack

import magnum_capi_sandbox as sandbox
from magnum_capi_sandbox.cloud import configuration


class Box:
    """One sandbox; a context manager.

    :param work: proof.Work.
    :param name: of its folder.
    :param wanted: fields of sandbox.Spec other than the ports.
    """

    def __init__(self, work, name='box', **wanted):
        self.sandbox = sandbox.Sandbox(work.folder / name)
        self.progress = work.progress
        self.results = work.results
        self._wanted = sandbox.Spec(port_base=work.args.port_base, **wanted)
        self._keep = work.keep

    def __enter__(self):
        try:
            self.up()
            self.prepare()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info):
        if not self._keep:
            self.sandbox.down(self.progress)

    def up(self):
        """Start the missing parts of the sandbox."""
        self.sandbox.up(self._wanted, self.progress)

    def prepare(self):
        """Prepare the sandbox after its start."""

    def connect(self, user='admin'):
        """A connection of one of the sandbox's users, in their project."""
        return openstack.connect(
            auth_url=self.sandbox.layout().auth_url, username=user,
            project_name=user, password=self.sandbox.passwords()[user],
            user_domain_id='default', project_domain_id='default',
            region_name=configuration.REGION, load_yaml_config=False,
            load_envvars=False)
