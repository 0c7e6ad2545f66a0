# SPDX-License-Identifier: Apache-2.0
"""The Magnum driver k8s_skeleton_v1: nothing works yet.

Magnum's API and its conductor make an object of the class for each request,
in many threads: keep no state in it. The text of an exception in an operation
becomes the status_reason of the cluster. A method returns when the change has
begun; ``update_cluster_status`` reports its end.
"""

from magnum.drivers.common import driver


def _missing(operation):
    raise NotImplementedError(
        f'k8s_skeleton_v1 has no {operation} yet: write it in {__name__}')


class Driver(driver.Driver):
    """See magnum.drivers.common.driver.Driver for the methods."""

    @property
    def provides(self):
        # "os" is the image property os_distro. An exception here breaks all
        # drivers of Magnum.
        return [{'server_type': 'vm', 'os': 'ubuntu', 'coe': 'kubernetes'}]

    def create_cluster(self, context, cluster, cluster_create_timeout):
        # cluster_create_timeout: minutes. Set cluster.stack_id and status.
        _missing('create_cluster')

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        # Magnum calls this every 10 s while a status is *_IN_PROGRESS. Save
        # the cluster's status, addresses and node groups. Magnum removes the
        # row of a cluster that is DELETE_COMPLETE.
        return None

    def update_cluster(self, context, cluster, scale_manager=None,
                       rollback=False):
        _missing('update_cluster')

    def resize_cluster(self, context, cluster, resize_manager, node_count,
                       nodes_to_remove, nodegroup=None):
        _missing('resize_cluster')

    def upgrade_cluster(self, context, cluster, cluster_template,
                        max_batch_size, nodegroup, scale_manager=None,
                        rollback=False):
        _missing('upgrade_cluster')

    def delete_cluster(self, context, cluster):
        # Also for a cluster whose creation failed.
        _missing('delete_cluster')

    def create_nodegroup(self, context, cluster, nodegroup):
        _missing('create_nodegroup')

    def update_nodegroup(self, context, cluster, nodegroup):
        _missing('update_nodegroup')

    def delete_nodegroup(self, context, cluster, nodegroup):
        _missing('delete_nodegroup')

    def rotate_credential(self, context, cluster):
        _missing('rotate_credential')

    def rotate_ca_certificate(self, context, cluster):
        _missing('rotate_ca_certificate')

    # Abstract in Magnum, but never called.

    def create_federation(self, context, federation):
        _missing('create_federation')

    def update_federation(self, context, federation):
        _missing('update_federation')

    def delete_federation(self, context, federation):
        _missing('delete_federation')
