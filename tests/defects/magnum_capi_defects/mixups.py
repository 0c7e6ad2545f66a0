# SPDX-License-Identifier: Apache-2.0

"""A Magnum that asks magnum-capi-helm to serve clusters of this driver.

These drivers stand for that Magnum: what it should ask k8s_capi_v1, they ask
magnum-capi-helm.
"""

from magnum_capi_helm import driver as helm_driver

from magnum_capi_defects import taps


@taps.seen_by('ClashTest.test_two_clusters_side_by_side',
              'Another driver than seeded_.*its stack_id .* is not',
              clash=True)
class CreatedByOther(helm_driver.Driver):
    """Everything is served by the other driver."""

    #: No cluster type, see taps.Tapped.
    provides = ()


@taps.seen_by('ClashTest.test_two_clusters_side_by_side',
              'Another driver than seeded_.*Secret sh.helm.*has no .'
              '*cluster-uuid', clash=True)
class ResizedByOther(taps.Tapped):
    """Resizes are served by the other driver."""

    def resize_cluster(self, *args, **kwargs):
        helm_driver.Driver().resize_cluster(*args, **kwargs)


@taps.seen_by('ClashTest.test_two_clusters_side_by_side',
              'Another driver than seeded_.*Secret sh.helm.*has no .'
              '*cluster-uuid', clash=True)
class UpgradedByOther(taps.Tapped):
    """Upgrades are served by the other driver."""

    def upgrade_cluster(self, *args, **kwargs):
        helm_driver.Driver().upgrade_cluster(*args, **kwargs)


@taps.seen_by('ClashTest.test_two_clusters_side_by_side',
              'Another driver than seeded_.* has deleted cluster', clash=True)
class DeletedByOther(taps.Tapped):
    """Deletions are served by the other driver."""

    def delete_cluster(self, *args, **kwargs):
        helm_driver.Driver().delete_cluster(*args, **kwargs)
