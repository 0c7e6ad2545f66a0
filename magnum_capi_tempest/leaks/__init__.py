# SPDX-License-Identifier: Apache-2.0

"""Finds leftovers of a run, a test or a user.

:mod:`.listing` lists what exists, with the GET requests of :mod:`.cloud` or of
Tempest's clients; :mod:`.attribution` decides what was left behind, and by
which test. :mod:`.watch` checks one test or class, :func:`take` and
:func:`compare` a whole run.
"""

import dataclasses

from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import cloud
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model


def take(name=None, kubeconfig=None, *, clouds=None, real_nodes=False):
    """Record the state of a cloud and its management cluster: model.Snapshot.

    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    seen = cloud.Cloud(name, clouds)
    found = dataclasses.replace(
        listing.of_cloud(seen.get, (seen.viewer.user,),
                         real_nodes=real_nodes), viewer=seen.viewer)
    if kubeconfig:
        found = found.union(listing.of_management(
            capi.ManagementCluster(str(kubeconfig))))
    return found


def left_by(users, artefacts, *, admin):
    """Return what the tests of a run created and did not delete: model.Left.

    Only what they recorded, and what belongs to it: other users may work in
    the same cloud. No earlier snapshot is needed.

    :param users: settings of clouds, as in clouds.yaml, one per user.
    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    :param admin: the users may list what belongs to all users.
    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    made = files.read_made(artefacts)
    found = model.Snapshot()
    for settings in users if made else ():
        seen = cloud.Cloud(settings=settings)
        who = seen.viewer
        # Not what else the user has who may be a person.
        made = [one if one.user != who.user else dataclasses.replace(
            one, user='', project='') for one in made
            if one.ident not in (who.user, who.project)]
        found = found.union(
            listing.of_cloud(seen.get, (who.user,)) if admin else
            listing.of_user(seen.get, who.user, who.project).union(
                listing.keypairs(seen.get)))
    return attribution.left_by(found, made)


def compare(before, after, artefacts=None, strict=False):
    """Return what a run left behind, a model.Left.

    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    :param strict: everything counts, as it does anyway without a record of
        what the tests created.
    :raises UsageError: another user, or one in another project, took the
        first snapshot, and sees other things.
    """
    if (before.viewer and after.viewer
            and not before.viewer.sees_the_same(after.viewer)):
        raise errors.UsageError(
            'The snapshot is that of another user or project, who sees other '
            'things', where=f'now {after.viewer.cloud}: user '
            f'{after.viewer.user}, project {after.viewer.project}',
            last_seen=f'then {before.viewer.cloud}: user '
            f'{before.viewer.user}, project {before.viewer.project}',
            hint='Name the same one with --os-cloud or OS_CLOUD')
    return attribution.left(
        before, after, files.read_made(artefacts) if artefacts else (),
        strict)
