# SPDX-License-Identifier: Apache-2.0

"""The status of a cluster, judged from one observation of it. Pure.

Two mistakes are easy: to report COMPLETE too early, and to wait forever. So
every part must match the desired state, not just be settled. An
operation that does not get there ends as FAILED with the reason: because of a
failure, or a creation by Magnum's create_timeout, or an update, or a creation
without a timeout, after too long without progress (``progress``). A deletion
is never given up.

Magnum only asks while an operation is in progress, so a verdict that ends the
operation leaves no node group in progress. If called later, with the status
FAILED, the verdict is COMPLETE once everything is good, so self-healing is
noticed.
"""

import collections.abc
import datetime
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.observed import addons
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import deletion
from magnum_capi.driver.observed import groups as node_groups
from magnum_capi.driver.observed import progress
from magnum_capi.driver.observed import reasons
from magnum_capi.driver.observed import snapshot as snapshot_module
from magnum_capi.driver.observed import upgrade_order
from magnum_capi.driver.observed import verdicts

#: Conditions of the Cluster that must be True: v1beta2, v1beta1.
_CLUSTER_NEW = ('InfrastructureReady', 'ControlPlaneInitialized',
                'ControlPlaneAvailable', 'Available')
_CLUSTER_OLD = ('InfrastructureReady', 'ControlPlaneReady', 'Ready')

#: Those that are not about machines.
_CLUSTER_ONLY = ('InfrastructureReady', 'TopologyReconciled')

#: States in which a killed Helm leaves a release, which blocks all changes.
_STUCK = ('pending-install', 'pending-upgrade', 'pending-rollback',
          'uninstalling', 'unknown')

#: By the key of the node group.
_Observed: typing.TypeAlias = collections.abc.Mapping[
    str, node_groups.Observation]

#: Failed machines that were replaced without progress, to give up after.
_IN_VAIN = 3


def judge(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
          now: datetime.datetime) -> verdicts.Verdict:
    """Judge a cluster.

    :param now: aware.
    """
    if desired.operation == 'DELETE':
        return deletion.judge(snapshot, desired)
    observed = {group.key: node_groups.observe(snapshot, group, desired)
                for group in desired.groups}
    action, blockers = _applied(snapshot, desired, observed)
    # The latest request may fix earlier failures.
    failures = {} if action else _failures(snapshot, desired, observed)
    failing = {} if action else _since(snapshot, desired, failures, now)
    blockers += _blockers(snapshot, observed)
    turn = ''
    deferred = [group.why for group in observed.values()
                if group.state is node_groups.State.DEFERRED]
    if deferred and not (action or failures):
        turn = upgrade_order.turn(snapshot, desired, observed)
        action = verdicts.ADVANCE if turn else action
    if deferred:
        blockers += deferred
    elif not blockers:
        blockers = _addons(snapshot, desired)
    lasting = _is_lasting(desired, failures, failing, now)
    status, headline, details = _outcome(
        desired, now, list(failures.values()), lasting, blockers, turn)
    reason = (reasons.text(headline, details, desired, snapshot.events)
              if headline else _unknown(snapshot, observed))
    return verdicts.Verdict(
        status, reason, verdicts.address(snapshot.cluster),
        verdicts.version(snapshot),
        {group.key: _group(group, observed[group.key], status, desired)
         for group in desired.groups},
        action if desired.in_progress else verdicts.NOTHING, failing, turn)


def overdue(desired: goal.DesiredCluster, now: datetime.datetime) -> str:
    """Why the time of an operation is over; empty while it is not."""
    age = verdicts.age(desired, now)
    if desired.timeout and age is not None and age >= desired.timeout * 60:
        return f'Not finished within {desired.timeout:g} minutes'
    if progress.is_over(desired.progress, now, desired.limit):
        return f'No progress for {desired.limit:g} minutes'
    return ''


def _applied(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
             observed: _Observed) -> tuple[str, list[str]]:
    """What must be done first, and why."""
    release = snapshot.release
    if release is None or release.status == 'uninstalled':
        return verdicts.APPLY, ['Helm release: does not exist yet']
    if release.status in _STUCK:
        return verdicts.APPLY, [f'Helm release: {release.status}']
    if release.status == 'failed':
        why = conditions.one_line(release.description)
        return verdicts.APPLY, ['Helm release: failed' + (why and f': {why}')]
    if desired.digest and release.digest != desired.digest:
        return verdicts.APPLY, [
            'Helm release: the latest request is not applied']
    if snapshot.cluster is None:
        return verdicts.APPLY, ['Cluster: does not exist yet']
    if any(group.drift for group in observed.values()):
        return verdicts.APPLY, []
    return verdicts.NOTHING, []


def _unknown(snapshot: snapshot_module.Snapshot, observed: _Observed) -> str:
    """A remark on MachineDeployments that are no node groups in Magnum.

    A chart may render one itself, or somebody made it by hand. Helm removes
    only what it has deployed before and the chart no longer renders, so once
    the desired state is deployed, to run it again would change nothing.
    """
    found = sorted(
        conditions.name(deployment) for key, deployment
        in snapshot.machine_deployments.items()
        if key not in observed and not conditions.deleting(deployment))
    return reasons.cut(
        f'Not a node group in Magnum, so it is left as it is: '
        f'MachineDeployment {", ".join(found)}. If it is not meant to be '
        'there, its operator must delete it', reasons.LIMIT) if found else ''


def _failures(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
              observed: _Observed) -> dict[str, str]:
    """What controllers report as failed: texts by keys of Verdict.failing."""
    found = {}
    why = conditions.failure_of_cluster(snapshot.cluster or {})
    if why:
        found['cluster/'] = f'Cluster: {why}'
    for group in observed.values():
        found |= group.failures
    for addon in snapshot.addons:
        state, why = addons.state(addon)
        if state is addons.State.FAILED and desired.addons:
            name = conditions.name(addon)
            found[f'addons/{name}'] = f'addon {name}: {why}'
    return found


def _since(snapshot: snapshot_module.Snapshot, desired: goal.DesiredCluster,
           failures: collections.abc.Iterable[str],
           now: datetime.datetime) -> dict[str, datetime.datetime]:
    """When each failure was first seen.

    An addon is retried by its
    provider, and does not look failed between two tries, so it counts as
    failed until it is deployed. A machine that was replaced is remembered
    until there is progress.
    """
    there = {f'machines/{conditions.name(machine)}'
             for machine in snapshot.machines
             if not conditions.deleting(machine)}
    trying = {f'addons/{conditions.name(addon)}'
              for addon in snapshot.addons
              if addons.state(addon)[0] is not addons.State.DEPLOYED}
    kept = {key: since for key, since in desired.failing.items()
            if key in trying or key.startswith('machines/')
            and key not in there and not _has_progress(desired, since)}
    return kept | {key: desired.failing.get(key, now) for key in failures}


def _blockers(snapshot: snapshot_module.Snapshot,
              observed: _Observed) -> list[str]:
    """Observed parts that are not yet as desired."""
    found = []
    cluster = snapshot.cluster
    if cluster is not None:
        if conditions.deleting(cluster):
            found.append('Cluster: is being deleted')
        if conditions.spec(cluster).get('paused'):
            found.append('Cluster: is paused by an operator')
        if not conditions.observed(cluster):
            found.append('Cluster: its change is not yet seen by its '
                         'controller')
    found += [group.why for group in observed.values()
              if group.state in (node_groups.State.WAITING,
                                 node_groups.State.FAILED)]
    lacking = conditions.missing(
        cluster, _CLUSTER_NEW, _CLUSTER_OLD) if cluster else []
    problems = conditions.problems(cluster) if cluster and lacking else []
    # The Cluster repeats what its parts say.
    details = [str(problem) for problem in problems
               if not found or problem.type in _CLUSTER_ONLY]
    if lacking and not found and not details:
        details = [f'{kind} is not known' for kind in lacking]
    return found + [f'Cluster: {text}' for text in details]


def _addons(snapshot: snapshot_module.Snapshot,
            desired: goal.DesiredCluster) -> list[str]:
    """Addons that are not deployed yet."""
    if not desired.addons:
        return []
    # The chart creates them with the release, so "none" means that this was
    # read too early.
    if not snapshot.addons:
        return ['addons: none is there yet']
    waiting = []
    for addon in snapshot.addons:
        state, why = addons.state(addon)
        if state is not addons.State.DEPLOYED:
            waiting.append(f'addon {conditions.name(addon)}: {why}')
    return waiting


def _has_progress(desired: goal.DesiredCluster,
                  since: datetime.datetime) -> bool:
    return desired.progress is not None and desired.progress.at > since


def _is_lasting(desired: goal.DesiredCluster,
                failures: collections.abc.Collection[str],
                failing: collections.abc.Mapping[str, datetime.datetime],
                now: datetime.datetime) -> bool:
    """Whether self-healing has had enough time for something that failed.

    Also if it was in vain: it replaces machines before that time is over, and
    each new one fails, too.
    """
    def lasts(since: datetime.datetime) -> bool:
        return (now - since).total_seconds() >= desired.patience
    vain = [since for key, since in failing.items()
            if key.startswith('machines/') and key not in failures
            and not _has_progress(desired, since)]
    return any(lasts(failing[key]) for key in failures) or bool(
        failures and len(vain) >= _IN_VAIN and lasts(min(vain)))


def _outcome(desired: goal.DesiredCluster, now: datetime.datetime,
             failures: list[str], lasting: bool, blockers: list[str],
             turn: str) -> tuple[str, str, list[str]]:
    """Status of the cluster, headline and texts of the reason.

    :param lasting: whether self-healing has had enough time for one of the
        failures.
    :param turn: the next group in an upgrade, which then is not overdue.
    """
    if desired.status.endswith('_COMPLETE'):
        # Failures after an operation only affect the health.
        return desired.status, '', []
    if not failures and not blockers:
        return f'{desired.operation}_COMPLETE', '', []
    details = failures + [text for text in blockers if text not in failures]
    if not desired.in_progress:
        return desired.status, 'Failed' if failures else 'Waiting for', details
    if lasting:
        return f'{desired.operation}_FAILED', 'Failed', details
    over = not turn and overdue(desired, now)
    if over:
        return f'{desired.operation}_FAILED', f'{over}, waiting for', details
    return desired.status, 'Waiting for', details


def _group(group: goal.DesiredGroup, seen: node_groups.Observation,
           cluster_status: str, desired: goal.DesiredCluster
           ) -> verdicts.GroupVerdict:
    """Verdict about a node group, given that of its cluster."""
    operation = group.status.partition('_')[0]
    complete = group.status.endswith('_COMPLETE')
    reason = reasons.cut(reasons.readable(seen.why, desired), reasons.PART)
    if seen.state is node_groups.State.GONE:
        return verdicts.GroupVerdict('DELETE_COMPLETE', gone=True)
    if seen.state is node_groups.State.READY:
        return verdicts.GroupVerdict(f'{operation}_COMPLETE', '', seen.count)
    ended = cluster_status.endswith('_FAILED') and desired.in_progress
    if ended and seen.state is node_groups.State.FAILED and complete:
        return verdicts.GroupVerdict('UPDATE_FAILED', reason, seen.count)
    if ended and group.status.endswith('_IN_PROGRESS'):
        return verdicts.GroupVerdict(f'{operation}_FAILED', reason, seen.count)
    return verdicts.GroupVerdict(
        group.status, '' if complete else reason, seen.count)
