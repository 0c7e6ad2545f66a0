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
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import replacement
from magnum_capi.driver.desired import rollout
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver.desired import upgrade as rules
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.observed import conditions
from magnum_capi.driver import observer
from magnum_capi.driver import reconcile
from magnum_capi import errors

LOG = logging.getLogger(__name__)

#: Seconds to wait for the lock: Magnum's API waits for all of this.
LOCK_TIMEOUT = 15


class Upgrade:
    """One upgrade.

    :param reconciler: with Magnum's row as the conductor has it.
    :param template: Magnum's row of the new template.
    :param group: row of the node group that Magnum names. A default one
        stands for all that have the template's image, another one for itself.
    :param batch: nodes to replace at once, None: the chart's default.
    """

    def __init__(self, reconciler: reconcile.Reconciler, template: typing.Any,
                 group: typing.Any, batch: int | None = None) -> None:
        self._reconciler = reconciler
        self._runtime = reconciler.runtime
        self._store = reconciler.store
        self._cluster = reconciler.cluster
        self._template = template
        self._group = group
        self._only = None if group.is_default else group.uuid
        self._batch = batch
        self._began = self._runtime.clock.monotonic()
        self._current: desired_values.DesiredValues | None = None

    def run(self) -> None:
        """Record the upgrade.

        :raises failures.NotViable: refused, nothing was changed.
        """
        try:
            with self._reconciler.locked(min(
                    LOCK_TIMEOUT, self._runtime.options.lock_timeout)):
                self._record()
        except failures.NotViable:
            raise
        except failures.ClusterGone as e:
            # For any other error Magnum would save UPDATE_FAILED.
            raise failures.NotViable(failures.owner_message(e)) from None
        except Exception as e:
            if not isinstance(e, errors.MagnumCapiError):
                LOG.exception('Cluster %s: unexpected error',
                              self._cluster.uuid)
            raise failures.NotViable(
                f'it cannot be checked now: {failures.owner_message(e)}'
            ) from None

    def _record(self) -> None:
        reconciler = self._reconciler
        reconciler.stop_if_deleting()
        rows = reconciler.rows()
        state = reconciler.state(rows)
        self._current = reconciler.current_values(state)
        self._refuse(rows, state)
        deferred = self._deferred(rows, state)
        images = {group.uuid: group.image_id for group in rows.groups}
        followers = self._move_groups(rows, state)
        try:
            batch = rollout.batch(self._batch)
            plan = self._planned(rows, state, deferred, batch, followers)
            state = reconciler.ownership.replace_refused(state)
            self._refuse_late()
            if reconciler.is_deleting():
                raise failures.ClusterGone('The cluster is being deleted')
        except errors.MagnumCapiError as e:
            raise failures.NotViable(failures.owner_message(e)) from None
        former = (state_module.Former(self._current, images, state.deferred)
                  if self._current else None)
        state = reconciler.record(plan, dataclasses.replace(
            state_module.begun(state, 'UPDATE', self._runtime.now()),
            batch=batch, deferred=deferred, desired=plan.desired,
            former=former))
        self._save(rows)
        if former and former.desired.template == self._template.uuid:
            # Its rows would not show it.
            reconciler.secrets.write_state(dataclasses.replace(
                state, former=dataclasses.replace(former, in_rows=True)))

    def _save(self, rows: rows_module.Rows) -> None:
        """Save the rows; that of the cluster last, see Reconciler.state."""
        cluster = self._cluster
        for row in rows.groups:
            self._store.save(row)
        # Not before all is checked: others save this object, too.
        cluster.cluster_template_id = self._template.uuid
        cluster.status = 'UPDATE_IN_PROGRESS'
        cluster.status_reason = None
        self._store.save(cluster)
        # Otherwise Magnum would save this later, when it may be wrong.
        self._group.status = 'UPDATE_IN_PROGRESS'
        self._store.save(self._group)

    def _planned(self, rows: rows_module.Rows, state: state_module.State,
                 deferred: rows_module.Deferred, batch: int | None,
                 followers: collections.abc.Container[str]) -> gather.Plan:
        """The plan of the upgrade, completely checked.

        :param followers: uuids of the node groups that are upgraded.
        """
        # Magnum upgrades one node group only to the present template of its
        # cluster, so the others must not change.
        planner = gather.Planner(
            dataclasses.replace(rows, template=self._template),
            self._store.cloud, self._runtime.options,
            applied=state.applied, joining=followers, batch=batch,
            deferred=deferred, defaults=self._store.defaults(),
            current=self._current,
            renew=not self._only)
        plan = self._reconciler.with_server_groups(planner.plan())
        self._refuse_replaced(plan, planner)
        return plan

    def _refuse_late(self) -> None:
        """Magnum's API has answered its user by now, with an error."""
        elapsed = self._runtime.clock.monotonic() - self._began
        if elapsed > self._runtime.options.answer_timeout:
            raise failures.NotViable(
                f'it took {elapsed:.0f} s to check it, because the cloud or '
                'the management cluster is slow now; nothing was changed')

    def _refuse(self, rows: rows_module.Rows,
                state: state_module.State) -> None:
        cloud = self._store.cloud
        kube, where = self._runtime.kube, (
            self._reconciler.namespace, self._reconciler.release)
        plane = observer.control_plane(
            kube, *where, kube.get('Cluster', *where))
        running = conditions.status(plane or {}).get('version')
        pinned: dict[str, str] = {}
        for group in rows.workers(state.applied):
            if group.uuid != self._only and not rows_module.follows(
                    group, rows.template):
                version, _problem = _image(cloud, group.image_id)
                pinned |= {group.name: version} if version else {}
        found = rules.refusals(
            self._described(rows.template),
            self._described(self._template), running, pinned,
            observer.cluster_api(kube))
        if found:
            raise failures.NotViable('; '.join(found))

    def _described(self, template: typing.Any) -> rules.Template:
        return rules.Template(
            template, self._store.driver_of(template),
            *_image(self._store.cloud, template.image_id))

    def _refuse_replaced(self, plan: gather.Plan,
                         planner: gather.Planner) -> None:
        """Check node groups with their own image as if their nodes joined.

        Helm is only asked who is replaced if there are some that could not.

        :raises spec.InvalidSpec: new nodes of one could not join.
        """
        groups = plan.spec.node_groups
        own = {group.uuid for group in groups
               if group.image and not group.deferred}
        if not own:
            return
        try:
            dataclasses.replace(planner, joining=own).plan()
        except spec.InvalidSpec:
            reconciler = self._reconciler
            replaced = replacement.replaced(
                reconciler.helm_release.applied() or (),
                reconciler.helm_release.preview(plan))
            dataclasses.replace(planner, joining={
                group.uuid for group in groups if (
                    replacement.NODE_GROUP,
                    reconciler.naming.machine_deployment(group.uuid)
                ) in replaced and not group.deferred}).plan()

    def _move_groups(self, rows: rows_module.Rows,
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
        return followers

    def _follows(self, group: typing.Any, rows: rows_module.Rows) -> bool:
        """Whether a node group is upgraded."""
        if self._only:
            return bool(group.uuid == self._only)
        return rows_module.follows(group, rows.template)

    def _deferred(self, rows: rows_module.Rows, state: state_module.State
                  ) -> dict[str, tuple[str, str]]:
        """What upgraded groups keep until their turn: what they have now.

        :returns: see state.State.
        """
        known = desired_values.images(
            self._current.values if self._current else {})
        names = {group.uuid: rows.naming.node_group(group.uuid)
                 for group in rows.workers(state.applied)
                 if self._follows(group, rows)}
        return {uuid: known[name] for uuid, name in names.items()
                if name in known}


def _image(cloud: openstack.Cloud, reference: str) -> tuple[str | None, str]:
    """Kubernetes version of an image, and why it cannot be used."""
    try:
        return cloud.image(reference).kube_version, ''
    except (services.NotThere, services.NotUsable) as e:
        return None, failures.owner_message(e)
