# SPDX-License-Identifier: Apache-2.0

"""Sends changes that a cluster must refuse, and checks that it is unchanged.

All tests of a class share one cluster, as a refusal leaves it unchanged.
"""

from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common.negative import refusals
from magnum_capi_tempest.tests.common import operations


def replace(path, value):
    """A JSON patch of one field."""
    return [{'op': 'replace', 'path': path, 'value': value}]


class BaseLivingClusterTest(refusals.BaseRefusalsTest,
                            operations.BaseOperationsTest):
    """A test of what an existing cluster refuses.

    ``uuid``: of the cluster; ``template``: uuid of its template.
    """

    shares_cluster = True

    # Groups without nodes.
    min_microversion = '1.10'
    credentials = ['primary', 'project_admin']
    _lacks_admin = ''

    # Most tests need no administrator, and are not skipped without one.

    @classmethod
    def setup_credentials(cls):
        try:
            super().setup_credentials()
        except cls.skipException as e:
            cls._lacks_admin = str(e)

    @classmethod
    def setup_clients(cls):
        super().setup_clients()
        if not cls._lacks_admin:
            try:
                cls.require_project('project_admin', own=True)
            except cls.skipException as e:
                cls._lacks_admin = str(e)

    @property
    def project_admin(self):
        """Clients of the administrator of the cluster's project."""
        if self._lacks_admin:
            self.skipTest(self._lacks_admin)
        return factories.Magnum(self.os_project_admin, self.microversion)

    def setUp(self):
        super().setUp()
        self.uuid = self.cluster['uuid']
        self.template = self.cluster['cluster_template_id']

    def group(self, microversion=None, **fields):
        """Request a node group that should be refused."""
        group = self.magnum.nodegroups.create_nodegroup(
            self.uuid, microversion=microversion,
            **{'name': 'refused', 'node_count': 1, **fields})
        self.addCleanup(self.remove_group, self.cluster, group)
        return group

    def assert_groups_refused(self, cases):
        """Assert that no node group of these cases is created."""
        self.assert_refused_all(cases)
        self.assert_no_new_group()

    def bodies(self, *bodies, microversion=None):
        """Yield the cases of node groups with such fields."""
        for body in bodies:
            yield ('node group', 'node group', repr(body),
                   lambda body=body: self.group(microversion, **body))

    def assert_no_new_group(self):
        listed = self.magnum.nodegroups.list_nodegroups(self.uuid)
        self.assertEqual([True, True], [
            g['is_default'] for g in listed['nodegroups']])

    @staticmethod
    def patches(where, ask, *patches):
        """Yield the cases of fields that cannot be changed.

        :param where: what is changed.
        :param ask: function that sends a JSON patch.
        :param patches: (path, value) pairs.
        """
        for path, value in patches:
            yield (where, 'patch of a cluster', f'{path} {value!r}',
                   lambda path=path, value=value: ask(replace(path, value)))

    def update_group(self, patch):
        """Send a patch of the default worker group."""
        return self.magnum.nodegroups.update_nodegroup(
            self.uuid, operations.WORKERS, patch)
