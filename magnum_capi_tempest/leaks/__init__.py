# SPDX-License-Identifier: Apache-2.0

"""Finds leftovers of a run, a test or a user.

:mod:`.listing` lists what exists, with the GET requests of :mod:`.cloud` or of
Tempest's clients; :mod:`.attribution` decides what was left behind, and by
which test. :mod:`.watch` checks one test or class, :func:`take` and
:func:`compare` a whole run.
"""

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import cloud
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import listing


def take(name=None, kubeconfig=None, *, clouds=None, real_nodes=False):
    """Record the state of a cloud and its management cluster: model.Snapshot.

    :raises EnvironmentProblem: the cloud cannot be reached.
    """
    seen = cloud.Cloud(name, clouds)
    found = listing.of_cloud(seen.get, (seen.user,), real_nodes=real_nodes)
    if kubeconfig:
        found = found.union(listing.of_management(
            capi.ManagementCluster(str(kubeconfig))))
    return found


def compare(before, after, artefacts=None, strict=False):
    """Return what a run left behind, a model.Left.

    :param artefacts: folder of [magnum_capi] artifact_dir of the run.
    :param strict: everything counts, as it does anyway without a record of
        what the tests created.
    """
    return attribution.left(
        before, after, files.read_made(artefacts) if artefacts else (),
        strict)
