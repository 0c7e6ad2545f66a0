# SPDX-License-Identifier: Apache-2.0


"""Quotas that tests make. One that somebody else has set is left alone.

With accounts of [auth] test_accounts_file, projects are older than the run,
and an operator may have given them quotas.
"""

import unittest

from tempest.lib.common.utils import test_utils
from tempest.lib import exceptions as lib_exc


#: Clusters of a quota that keeps nobody from anything: the project may be in
#: use by others.
PLENTY = 10_000


def create(magnum, cleanup, project: str, **fields) -> dict:
    """Create a quota and register its deletion; return it.

    :param magnum: factories.Magnum of an admin.
    :param cleanup: as in :mod:`.factories`.
    :param project: id.
    :param fields: of the quota; by default :data:`PLENTY` of clusters.
    :raises Conflict: the project has one. Its deletion is not registered.
    """
    quota = magnum.quotas.create_quota(**{
        'project_id': project, 'resource': 'Cluster', 'hard_limit': PLENTY,
        **fields})
    cleanup(delete, magnum, quota)
    return quota


def create_own(magnum, cleanup, project: str, **fields) -> dict:
    """As :func:`create`, for a test that is about a quota of its own.

    :raises SkipTest: the project has one.
    """
    try:
        return create(magnum, cleanup, project, **fields)
    except lib_exc.Conflict:
        raise unittest.SkipTest(
            f'Project {project} has a quota of clusters, which this run has '
            'not made and must not change') from None


def delete(magnum, quota: dict):
    """Delete a quota that was made, unless another one is in its place.

    :param quota: as Magnum answered when it was made.
    """
    where = quota['project_id'], quota['resource']
    # Magnum deletes by project and resource, whoever has made it; a default
    # has no id (magnum/api/controllers/v1/quota.py).
    if magnum.quotas.show_quota(*where).get('id') == quota['id']:
        test_utils.call_and_ignore_notfound_exc(
            magnum.quotas.delete_quota, *where)
