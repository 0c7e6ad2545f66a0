# SPDX-License-Identifier: Apache-2.0


"""Quotas that tests create. Those that others have set are left alone.

With accounts of [auth] test_accounts_file, projects are older than the run,
and an operator may have set quotas for them.
"""

import unittest

from tempest.lib.common.utils import test_utils
from tempest.lib import exceptions as lib_exc


#: A quota of clusters that limits nobody: others may be using the project.
PLENTY = 10_000


def create(magnum, cleanup, project: str, **fields) -> dict:
    """Create a quota and register its deletion; return it.

    :param magnum: factories.Magnum of an admin.
    :param cleanup: see :mod:`.factories`.
    :param project: id.
    :param fields: of the quota; by default :data:`PLENTY` of clusters.
    :raises Conflict: the project has one, whose deletion is not registered.
    """
    quota = magnum.quotas.create_quota(**{
        'project_id': project, 'resource': 'Cluster', 'hard_limit': PLENTY,
        **fields})
    cleanup(delete, magnum, quota)
    return quota


def create_own(magnum, cleanup, project: str, **fields) -> dict:
    """Like :func:`create`, for a test of its own quota.

    :raises SkipTest: the project already has one.
    """
    try:
        return create(magnum, cleanup, project, **fields)
    except lib_exc.Conflict:
        raise unittest.SkipTest(
            f'Project {project} has a quota of clusters that this run did not '
            'create and must not change') from None


def delete(magnum, quota: dict):
    """Delete a quota, unless another one has replaced it.

    :param quota: Magnum's answer when it was created.
    """
    where = quota['project_id'], quota['resource']
    # Magnum deletes by project and resource, whoever created the quota; a
    # default has no id (magnum/api/controllers/v1/quota.py).
    if magnum.quotas.show_quota(*where).get('id') == quota['id']:
        test_utils.call_and_ignore_notfound_exc(
            magnum.quotas.delete_quota, *where)
