# SPDX-License-Identifier: Apache-2.0

"""Finds leftovers of a run, a test or a user.

:mod:`.listing` lists what exists, with the GET requests of :mod:`.cloud` or of
Tempest's clients; :mod:`.attribution` decides what was left behind, and by
which test of the :mod:`.record`. :mod:`.watch` checks one test or class;
:func:`left_by` a run by its record; :func:`take` and :func:`compare` a cloud
that nobody else uses.
"""

import collections.abc
import dataclasses
import pathlib

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import cloud
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record


def take(name: str | None = None, kubeconfig: str | pathlib.Path | None = None,
         *, clouds: pathlib.Path | None = None, real_nodes: bool = False
         ) -> model.Snapshot:
    """Record the state of a cloud and its management cluster: model.Snapshot.

    :param name: cloud of an administrator in clouds.yaml.
    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    seen = cloud.Cloud(name, clouds)
    return listing.of_cloud(
        seen.get, (seen.user,), real_nodes=real_nodes).union(
            _of_management(kubeconfig))


def compare(before: model.Snapshot, after: model.Snapshot,
            artefacts: str | pathlib.Path | None = None) -> model.Left:
    """Return what a run left behind in a cloud of its own, a model.Left.

    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    """
    return attribution.left(
        after, record.read(artefacts) if artefacts else (), before)


def left_by(users: collections.abc.Iterable[json_types.Object],
            artefacts: str | pathlib.Path, *, admin: bool,
            kubeconfig: str = '', real_nodes: bool = False) -> model.Left:
    """Return what the tests of a run created and did not delete: model.Left.

    Only what they recorded, and what belongs to it: other users may work in
    the same cloud.

    :param users: settings of clouds, as in clouds.yaml, one per user.
    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    :param admin: the users may list what belongs to all users.
    :param kubeconfig: of the management cluster; empty: it is not read.
    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    made = record.read(artefacts)
    kinds = {one.kind for one in made}
    # Tests may create networks although nodes are in memory.
    real_nodes = real_nodes or not kinds.isdisjoint(model.REAL)
    found = model.Snapshot()
    for settings in users if made else ():
        seen = cloud.Cloud(settings=settings)
        # Not what else the user has who may be a person.
        made = [one if one.user != seen.user else dataclasses.replace(
            one, user='', project='') for one in made
            if one.ident not in (seen.user, seen.project)]
        found = found.union(
            listing.of_cloud(seen.get, (seen.user,), real_nodes=real_nodes)
            if admin else listing.of_user(
                seen.get, seen.user, seen.project,
                model.OWN + (model.REAL if real_nodes else ())
            ).union(listing.keypairs(seen.get)))
        if model.IMAGE in kinds:
            found = found.union(listing.images(seen.get))
    return attribution.left(
        found.union(_of_management(kubeconfig if made else None)), made)


def _of_management(kubeconfig: str | pathlib.Path | None) -> model.Snapshot:
    return listing.of_management(capi.ManagementCluster(
        str(kubeconfig))) if kubeconfig else model.Snapshot()
