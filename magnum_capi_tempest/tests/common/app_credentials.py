# SPDX-License-Identifier: Apache-2.0

"""Application credentials that drivers make of a user, and no others.

The user may be a person, who has some of their own.
"""

from tempest.lib.common.utils import test_utils


def of_cluster(manager, cluster_id: str) -> list[str]:
    """Return the ids of those that a driver has made for a cluster, sorted.

    Drivers have the uuid of the cluster in the name: "magnum-UUID-RANDOM" of
    magnum-capi-helm 1.4 (common/app_creds.py) and of this project's driver,
    "UUID" of magnum-cluster-api 0.38 (driver.py).

    :param manager: tempest client manager of the user.
    :param cluster_id: uuid.
    """
    client = manager.application_credentials_client
    found = client.list_application_credentials(manager.credentials.user_id)
    return sorted(one['id'] for one in found['application_credentials']
                  if cluster_id in one['name'])


def delete_of_cluster(manager, cluster_id: str):
    """Delete those that a driver has made for a cluster."""
    client = manager.application_credentials_client
    for ident in of_cluster(manager, cluster_id):
        test_utils.call_and_ignore_notfound_exc(
            client.delete_application_credential,
            manager.credentials.user_id, ident)
