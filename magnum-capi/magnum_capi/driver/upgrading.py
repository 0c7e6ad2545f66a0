# SPDX-License-Identifier: Apache-2.0


"""Upgrade of a cluster to another template: checked, then recorded.

Magnum waits for the answer, and a refusal must not have changed anything, so
all checks come first. Then the new values and rows are recorded, and the
periodic status applies them like those of a request that was lost. An upgrade
that Helm refuses is undone.
"""

import collections.abc
import dataclasses
import typing

from oslo_log import log as logging

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import kept as kept_module
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rollout
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import upgrade as rules
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.keys import state as state_module
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import machines
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi import errors

if typing.TYPE_CHECKING:
    from magnum_capi.driver import store as store_module

LOG = logging.getLogger(__name__)

#: Seconds to wait for the lock: Magnum's API waits for all of this.
LOCK_TIMEOUT = 15

_TEMPLATE_FIELDS = (
    'coe', 'server_type', 'cluster_distro', 'network_driver',
    'external_network_id', 'fixed_network', 'fixed_subnet', 'tls_disabled')


class Upgrade:
    """One upgrade.

    :param cluster: Magnum's row, as the conductor has it.
    :param template: Magnum's row of the new template.
    :param group: row of the node group that Magnum names. A default one
        stands for all that have the template's image, another one for itself.
    :param batch: nodes to replace at once, None: the chart's default.
    """

    def __init__(self, runtime: reconcile.Runtime, store: 'store_module.Store',
                 cluster: typing.Any, template: typing.Any,
                 group: typing.Any, batch: int | None = None) -> None:
        self._runtime = runtime
        self._store = store
        self._cluster = cluster
        self._template = template
        self._group = group
        self._only = None if group.is_default else group.uuid
        self._batch = batch
        self._began = runtime.clock.monotonic()
        self._reconciler = reconcile.Reconciler(runtime, store, cluster)
        self._kept: kept_module.Kept | None = None

    def run(self) -> None:
        """Record the upgrade.

        :raises failures.NotViable: refused, nothing was changed.
        """
        try:
            with self._reconciler.held(min(
                    LOCK_TIMEOUT, self._runtime.options.lock_timeout)):
                self._record()
        except failures.NotViable:
            raise
        except failures.ClusterGone as e:
            # For any other error Magnum would save UPDATE_FAILED.
            raise failures.NotViable(failures.owner_message(e)) from None
        except errors.MagnumCapiError as e:
            raise failures.NotViable(
                f'it cannot be checked now: {failures.owner_message(e)}'
            ) from None

    def _record(self) -> None:
        reconciler = self._reconciler
        batch = self._viable_batch()
        reconciler.stop_if_deleting()
        rows = reconciler.rows()
        state = reconciler.vault.state()
        self._kept = reconciler.kept(state)
        self._refuse(rows, state)
        held = self._held(rows, state)
        images = {group.uuid: group.image_id for group in rows.groups}
        followers = self._move(rows, state)
        try:
            plan = self._planned(rows, state, held, batch, followers)
            state = reconciler.ownership.replace_refused(state)
            self._refuse_late()
            if reconciler.is_deleting():
                raise failures.ClusterGone('The cluster is being deleted')
        except Exception as e:
            # Magnum saves this row after other errors.
            self._store.reload(self._cluster)
            if not isinstance(e, errors.MagnumCapiError):
                raise
            raise failures.NotViable(failures.owner_message(e)) from None
        former = (state_module.Former(self._kept, images, state.held)
                  if self._kept else None)
        reconciler.record(plan, dataclasses.replace(
            state_module.begun(state, 'UPDATE', self._runtime.now()),
            batch=batch, held=held, kept=plan.kept, former=former))
        for row in (*rows.groups, self._cluster):
            self._store.save(row)
        # Otherwise Magnum would save this later, when it may be wrong.
        self._group.status = 'UPDATE_IN_PROGRESS'
        self._store.save(self._group)

    def _planned(self, rows: rows_module.Rows, state: state_module.State,
                 held: rows_module.Held, batch: int | None,
                 followers: collections.abc.Container[str]) -> gather.Plan:
        """The plan of the upgrade, completely checked.

        :param followers: uuids of the node groups that are upgraded.
        """
        def made(joining: collections.abc.Container[str]) -> gather.Plan:
            # Magnum upgrades one node group only to the present template of
            # its cluster, so the others must not change.
            return gather.plan(
                dataclasses.replace(rows, template=self._template),
                self._store.cloud, self._runtime.options,
                applied=state.applied, joining=joining, batch=batch,
                held=held, defaults=self._store.defaults(), kept=self._kept,
                renew=not self._only)
        plan = self._reconciler.placed(made(followers))
        self._refuse_replaced(plan, made)
        return plan

    def _refuse_late(self) -> None:
        """Magnum's API has answered its user by now, with an error."""
        elapsed = self._runtime.clock.monotonic() - self._began
        if elapsed > self._runtime.options.answer_timeout:
            raise failures.NotViable(
                f'it took {elapsed:.0f} s to check it, because the cloud or '
                'the management cluster is slow now; nothing was changed')

    def _viable_batch(self) -> int | None:
        try:
            return rollout.batch(self._batch)
        except errors.UsageError as e:
            raise failures.NotViable(failures.owner_message(e)) from None

    def _refuse(self, rows: rows_module.Rows,
                state: state_module.State) -> None:
        cloud = self._store.cloud
        kube, where = self._runtime.kube, (
            self._reconciler.namespace, self._reconciler.release)
        plane = observer.control_plane(
            kube, *where, kube.get('Cluster', *where))
        running = conditions.status(plane or {}).get('version')
        groups = []
        for group in rows.live(state.applied):
            pinned = not rows_module.follows(group, rows.template)
            if group.role != rows_module.MASTER and group.uuid != self._only:
                groups.append(rules.Group(
                    group.name, _image(cloud, group.image_id).kube_version
                    if pinned else None, pinned))
        found = rules.refusals(
            _template(self._store, rows.template),
            _template(self._store, self._template), running, groups,
            observer.cluster_api(kube))
        if found:
            raise failures.NotViable('; '.join(found))

    def _refuse_replaced(
            self, plan: gather.Plan, made: collections.abc.Callable[
                [collections.abc.Container[str]], gather.Plan]) -> None:
        """Check node groups with their own image as if their nodes joined.

        Helm is only asked who is replaced if there are some that could not.

        :param made: makes the plan, given the uuids of joining node groups.
        :raises spec.InvalidSpec: new nodes of one could not join.
        """
        groups = plan.spec.node_groups
        own = {group.uuid for group in groups
               if group.image and not group.held}
        if not own:
            return
        try:
            made(own)
        except spec.InvalidSpec:
            reconciler = self._reconciler
            replaced = replacement.replaced(
                reconciler.helm_release.applied() or (),
                reconciler.helm_release.preview(plan))
            made({group.uuid for group in groups if (
                replacement.NODE_GROUP,
                reconciler.naming.machine_deployment(group.uuid)
            ) in replaced and not group.held})

    def _move(self, rows: rows_module.Rows,
              state: state_module.State) -> set[str]:
        """Change rows without saving; returns uuids of upgraded groups."""
        followers: set[str] = set()
        live = rows.live(state.applied)
        for group in rows.groups:
            if group not in live and group.uuid != self._only:
                continue
            if self._follows(group, rows):
                group.image_id = self._template.image_id
                group.status = 'UPDATE_IN_PROGRESS'
                group.status_reason = None
                followers.add(group.uuid)
        self._cluster.cluster_template_id = self._template.uuid
        self._cluster.status = 'UPDATE_IN_PROGRESS'
        self._cluster.status_reason = None
        return followers

    def _follows(self, group: typing.Any, rows: rows_module.Rows) -> bool:
        """Whether a node group is upgraded."""
        if self._only:
            return bool(group.uuid == self._only)
        return rows_module.follows(group, rows.template)

    def _held(self, rows: rows_module.Rows, state: state_module.State
              ) -> dict[str, tuple[str, str]]:
        """What upgraded groups keep until their turn.

        This is what their machines are made of now; their old image may no
        longer be in Glance.

        :returns: see state.State.
        :raises failures.NotViable: the image of one is unknown.
        """
        kube, where = self._runtime.kube, (
            self._reconciler.namespace, self._reconciler.release)
        deployments = observer.cached(kube, *where).machine_deployments
        held = {}
        for group in rows.live(state.applied):
            deployment = deployments.get(rows.naming.node_group(group.uuid))
            if not deployment or not self._follows(group, rows):
                # Without machines there is nothing to keep.
                continue
            made_of = conditions.spec(
                conditions.spec(deployment).get('template') or {})
            template = made_of.get('infrastructureRef') or {}
            image_id = template.get('kind') == 'OpenStackMachineTemplate' and (
                machines.image_id(kube.get(
                    template['kind'], where[0], template['name'])))
            held[group.uuid] = (image_id or self._looked_up(group, rows),
                                made_of.get('version', '').removeprefix('v'))
        return held

    def _looked_up(self, group: typing.Any, rows: rows_module.Rows) -> str:
        """Id of the image in the row of a node group."""
        reference = group.image_id or rows.template.image_id
        if self._kept and reference in self._kept.images:
            return self._kept.images[reference].id
        try:
            return self._store.cloud.image(reference).id
        except services.NotThere:
            raise failures.NotViable(
                f'node group {group.name} must keep its image until its turn '
                f'comes, but the image {reference} no longer exists'
            ) from None


def undo(reconciler: reconcile.Reconciler, rows: rows_module.Rows,
         state: state_module.State) -> state_module.State:
    """Undo an upgrade that Helm has refused.

    Once Helm has accepted one, nothing is undone: Cluster API continues, and
    a control plane cannot be downgraded.

    :param rows: the present ones, which are changed and saved.
    :param state: with ``former``.
    :returns: as written to the Secret.
    """
    former = state.former
    assert former
    state = dataclasses.replace(
        state, kept=former.kept, held=former.held, batch=None, former=None)
    reconciler.lock.check()
    for group in rows.groups:
        group.image_id = former.images.get(group.uuid, group.image_id)
        reconciler.store.save(group)
    # The template changes back when the node groups match it.
    rows.cluster.cluster_template_id = former.kept.template
    reconciler.store.save(rows.cluster)
    return reconciler.vault.write_state(state)


def _template(store: 'store_module.Store', row: typing.Any) -> rules.Template:
    return rules.Template(
        driver=store.driver_of(row), image=_image(store.cloud, row.image_id),
        kube_tag=(row.labels or {}).get('kube_tag'),
        **{field: getattr(row, field) for field in _TEMPLATE_FIELDS})


def _image(cloud: openstack.Cloud, reference: str) -> rules.Image:
    try:
        found = cloud.image(reference)
    except services.NotThere:
        return rules.Image(reference, None, None)
    except services.NotUsable as e:
        status = str(e.last_seen or '').removeprefix('status ')
        return rules.Image(reference, status or 'not usable', None)
    return rules.Image(found.id, found.status, found.kube_version)
