# SPDX-License-Identifier: Apache-2.0

"""The application credentials that drivers create for a user.

The user may be a person who has others, which are left alone.
"""

from tempest.lib.common.utils import test_utils

from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import tempest_types


def of_user(manager: tempest_types.Manager) -> list[json_types.Object]:
    """Return all application credentials of a user, bodies.

    :param manager: clients of the user.
    """
    client = manager.application_credentials_client
    found: list[json_types.Object] = client.list_application_credentials(
        manager.credentials.user_id)['application_credentials']
    return found


def of_cluster(manager: tempest_types.Manager, cluster_id: str) -> list[str]:
    """Return the sorted ids of those that a driver created for a cluster.

    Drivers put the UUID of the cluster in the name: "magnum-UUID-RANDOM" in
    magnum-capi-helm 1.4 (common/app_creds.py) and in this project's driver,
    "UUID" in magnum-cluster-api 0.38 (driver.py).

    :param manager: clients of the user.
    :param cluster_id: uuid.
    """
    return sorted(one['id'] for one in of_user(manager)
                  if cluster_id in one['name'])


def delete_of_cluster(manager: tempest_types.Manager, cluster_id: str) -> None:
    """Delete those that a driver created for a cluster."""
    client = manager.application_credentials_client
    for ident in of_cluster(manager, cluster_id):
        test_utils.call_and_ignore_notfound_exc(
            client.delete_application_credential,
            manager.credentials.user_id, ident)
