# SPDX-License-Identifier: Apache-2.0


"""The idempotent reconciliation of a cluster with Magnum's rows.

Create, update, resize, node groups and upgrade all use it, and so does the
periodic status when a request was lost half-way: whatever already exists is
found and kept. The caller holds the lock of the cluster, and reads the rows
only then, so that the last request counts.
"""

import collections.abc
import dataclasses

from oslo_log import log as logging

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import server_groups
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import placement
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import spec as spec_module
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver import failures
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.observed import conditions
from magnum_capi.driver.observed import health
from magnum_capi.driver import observer
from magnum_capi.driver import scope
from magnum_capi import errors

LOG = logging.getLogger(__name__)


class Reconciler(scope.Scope):
    """Reconciles one cluster with its rows."""

    #: Whether the request is in the driver's state, so the loop knows it.
    recorded = False

    def plan(self, state: state_module.State,
             current: desired_values.DesiredValues | None, *, creating: bool,
             joining: collections.abc.Container[str] | None) -> gather.Plan:
        """The plan for Helm, completely checked.

        :param current: see :meth:`current_values`.
        :param creating, joining: see validation.check.
        """
        plan = gather.Planner(
            self.rows(), self.store.cloud, self.runtime.options,
            applied=state.applied, batch=state.batch, deferred=state.deferred,
            defaults=self.store.defaults(), current=current, creating=creating,
            joining=joining, core=observer.cluster_api(self.runtime.kube)
            if creating else None).plan()
        self._refuse_full_server_groups(plan, current)
        return self.with_server_groups(plan)

    def _refuse_full_server_groups(
            self, plan: gather.Plan,
            current: desired_values.DesiredValues | None) -> None:
        """Refuse more nodes in a server group than Nova allows.

        Parts that do not grow are as they are.

        :raises spec.InvalidSpec: with the limit and the number.
        """
        desired = placement.members(plan.values, plan.missing_server_groups)
        before = placement.members(current.values) if current else {}
        grows = {key: count for key, count in desired.items()
                 if count > max(before.get(key, 0), 1)}
        limit = server_groups.members_limit(
            self._cloud_of_project().services,
            self.cluster.project_id) if grows else None
        problems = [
            f'{"the control plane" if key == placement.CONTROL_PLANE else key}'
            f' would have {count} nodes in a server group, and Nova allows '
            f'{limit} (quota server_group_members)'
            for key, count in grows.items()
            if limit is not None and count > limit]
        if problems:
            raise spec_module.InvalidSpec(problems)

    def with_server_groups(self, plan: gather.Plan) -> gather.Plan:
        """A plan whose server groups exist.

        They are made after everything else was checked. If Nova refuses one
        that was not requested (its quota is ten in a project), the plan goes
        without it.

        :raises services.CloudError: Nova refuses one that was requested.
        """
        ids = {}
        for key, group in plan.missing_server_groups.items():
            try:
                ids[key] = server_groups.ensure(
                    self._cloud_of_project().services, group.name,
                    group.policy)
            except services.CloudUnreachable:
                raise
            except services.CloudError as e:
                if group.requested:
                    raise
                LOG.warning('Cluster %s: its control plane is in no server '
                            'group: %s', self.cluster.uuid, e)
        return plan.with_server_groups(ids)

    def drop_unused_server_groups(
            self, before: desired_values.DesiredValues | None,
            now: desired_values.DesiredValues) -> None:
        """Delete server groups that no new node will be in.

        :param now: as Helm has applied it.
        """
        used = desired_values.server_groups(now.values)
        if not before or desired_values.server_groups(before.values) <= used:
            return
        try:
            server_groups.delete_unused(
                self._cloud_of_project().services, self.naming, used)
        except errors.MagnumCapiError as e:
            LOG.warning('Cluster %s: server groups that it does not need any '
                        'more are still there: %s', self.cluster.uuid, e)

    def _cloud_of_project(self) -> openstack.Cloud:
        """The cloud as a member of the cluster's project sees it.

        Nova makes and finds server groups in the project of the session
        (nova, api/openstack/compute/server_groups.py), and Magnum's own and an
        operator's are for other projects. The cluster builds its machines with
        its own credential, so it must find them.
        """
        if self.store.user.id is None:
            own = app_credentials.auth(self.secrets.credentials() or {})
            if own is not None:
                return self.store.cloud_as(own)
        return self.store.cloud

    def current_values(self, state: state_module.State
                       ) -> desired_values.DesiredValues | None:
        """The last chart and values of the cluster, None: it is new.

        If the state does not have them, they are those of Helm's record.
        """
        if state.desired is not None:
            return state.desired
        chart = self.runtime.options.chart
        found = releases.deployed(
            self.runtime.kube, self.namespace, self.release)
        if found is None:
            return None
        metadata = found['chart']['metadata']
        known = (not chart.is_path
                 and metadata['name'] == chart.name.rpartition('/')[2])
        return desired_values.DesiredValues(
            found.get('config') or {},
            dataclasses.replace(chart, version=metadata['version'])
            if known else None,
            # An upgrade that is in progress may not have been applied.
            '' if state.operation else self.cluster.cluster_template_id)

    def state(self, rows: rows_module.Rows) -> state_module.State:
        """The driver's state, without an upgrade that Magnum does not have.

        An upgrade is recorded first, then its node groups are saved, and the
        cluster last. If a conductor dies before that, nobody was told that
        the upgrade has begun, and it is undone.

        :param rows: the present ones, which are changed and saved.
        """
        state = self.secrets.state()
        if state.former is None or self._is_in_rows(
                state.former, state.desired):
            return state
        LOG.warning('Cluster %s: an upgrade that was recorded is not in '
                    'Magnum; it is undone', self.cluster.uuid)
        return self._undone(dataclasses.replace(
            state, operation='', since=None), state.former, rows)

    def _is_in_rows(self, former: state_module.Former,
                    current: desired_values.DesiredValues | None) -> bool:
        present = self.cluster.cluster_template_id
        if former.desired.template != present:
            return True
        return (current is not None and current.template == present
                and former.in_rows)

    def undo_upgrade(self, state: state_module.State) -> state_module.State:
        """Undo an upgrade that Helm has refused, if there is one.

        Once Helm has accepted one, nothing is undone: Cluster API continues,
        and a control plane cannot be downgraded.

        :returns: as written to the Secret.
        """
        former = state.former
        if former is None:
            return state
        self.lock.check()
        deployed = releases.last_deployed(
            self.runtime.kube, self.namespace, self.release)
        if deployed and deployed.digest not in (None, former.desired.digest):
            return self.secrets.write_state(
                dataclasses.replace(state, former=None))
        return self._undone(state, former, self.rows())

    def _undone(self, state: state_module.State, former: state_module.Former,
                rows: rows_module.Rows) -> state_module.State:
        self.lock.check()
        for group in rows.groups:
            group.image_id = former.images.get(group.uuid, group.image_id)
            self.store.save(group)
        # The template changes back when the node groups match it.
        self.cluster.cluster_template_id = former.desired.template
        self.store.save(self.cluster)
        return self.secrets.write_state(dataclasses.replace(
            state, desired=former.desired, deferred=former.deferred,
            batch=None, former=None))

    def reconcile(self, *, resume: bool = False,
                  joining: collections.abc.Container[str] | None = None,
                  request: collections.abc.Callable[
                      [state_module.State], state_module.State] | None = None,
                  recorded: collections.abc.Callable[[], None] = lambda: None
                  ) -> None:
        """Reconcile the cluster with the rows. Call with the lock just taken.

        What is refused changes nothing. If it cannot be judged now, the
        request is recorded all the same.

        :param resume: go on with a request that may have been half done.
        :param joining: see validation.check.
        :param request: returns the state with what is not in the rows.
        :param recorded: called when the request is recorded.
        :raises failures.ClusterGone: the cluster is being deleted.
        :raises MagnumCapiError: ``failures.owner_message`` has the text.
        """
        # Before a change is recorded, the row has the last operation.
        rows = self.rows()
        operation = rows.operation if rows.in_progress else 'UPDATE'
        before = self.state(rows)
        state = request(before) if request else before
        current = self.current_values(state)
        try:
            plan = self.plan(state, current, creating=operation == 'CREATE',
                             joining=joining)
        except failures.TRANSIENT:
            if state != before:
                self.secrets.write_state(state)
                self.recorded = True
            raise
        began = state_module.resumed if resume else state_module.begun
        self.lock.check()
        state = self.record(plan, dataclasses.replace(
            began(state, operation, self.runtime.now()), desired=plan.desired,
            sizes=self._sizes(plan, state, current)))
        self.recorded = True
        recorded()
        self.unmark(set(before.marked) - set(state.marked))
        try:
            self._carry_out(plan, state, current, operation)
        except (failures.ClusterGone, *failures.TRANSIENT):
            raise
        except Exception:
            # A new credential, for example, may have been written.
            self.end_operation(self.undo_upgrade(self.secrets.state()))
            raise

    def _carry_out(self, plan: gather.Plan, state: state_module.State,
                   current: desired_values.DesiredValues | None,
                   operation: str) -> None:
        """Apply what is recorded.

        :param current: before the change.
        """
        if operation == 'CREATE' or not credentials.in_use(state.record):
            state = self.ownership.ensure_credential(state)
            if self.ownership.check() == credentials.UNTRUSTED:
                # Its machines, load balancers and volumes would fail later.
                raise failures.Failed(health.DISTRUST)
            self.lock.check()
            self.secrets.write_authorities(
                self.store.authorities(self.cluster))
            self.secrets.ensure_service_account_key()
        else:
            state = self.ownership.replace_refused(state)
        # After everything that can refuse, and before the size changes.
        for name in state.marked:
            self.runtime.kube.mark_for_deletion(self.namespace, name)
        self.stop_if_deleting()
        desired = {group.uuid for group in plan.spec.node_groups}
        self.helm_release.apply(plan, [
            self.naming.machine_deployment(row.uuid)
            for row in self.store.groups(self.cluster)
            if row.role != rows_module.MASTER and row.uuid not in desired])
        if state.former:
            # Accepted by Helm: it is not undone from now on.
            current = state.former.desired
            state = self.secrets.write_state(
                dataclasses.replace(state, former=None))
        self.drop_unused_server_groups(current, plan.desired)
        self._scale(state.sizes)
        done = dataclasses.replace(
            state, sizes={}, applied=state.applied | {
                group.uuid for group in self.rows().live(state.applied)
                if not group.is_default})
        if done != state:
            self.secrets.write_state(done)

    def record(self, plan: gather.Plan,
               state: state_module.State) -> state_module.State:
        """Write the state of the cluster, before the plan is applied.

        :param state: with ``desired`` of the plan. It names the Secret with a
            file of nodes, and could not restore it, so that comes first.
        :returns: as written to the Secret.
        """
        if plan.proxies:
            self.secrets.write_proxies(plan.proxies)
        return self.secrets.write_state(state)

    def advance(self, state: state_module.State,
                uuid: str) -> state_module.State:
        """Release a node group for its upgrade, without applying it yet.

        The end of the previous step is progress, so the next step gets the
        full time limit.

        :returns: as written to the Secret.
        """
        state = dataclasses.replace(state, progress=None, deferred={
            other: pair for other, pair in state.deferred.items()
            if other != uuid})
        return self.secrets.write_state(state)

    def _sizes(self, plan: gather.Plan, state: state_module.State,
               current: desired_values.DesiredValues | None) -> dict[
                   str, int]:
        """Sizes of autoscaled groups that the autoscaler would not reach.

        * Sizes that users requested.
        * The first size of a group: charts leave replicas out, and Cluster
          API then begins with the minimum (core/webhooks/admission/
          machinedeployment.go, calculateMachineDeploymentReplicas).
        * The bound that a group is beyond, when bounds change: the autoscaler
          neither adds nodes to reach a minimum nor removes used ones for a
          maximum (cluster-autoscaler, FAQ.md).

        :param state: with requested sizes of any groups.
        :param current: before the change.
        :returns: by uuid; see state.State.
        """
        before = desired_values.bounds(current.values) if current else {}
        after = desired_values.bounds(plan.values)
        sizes = {}
        for group in plan.spec.node_groups:
            limits = after.get(group.kube_name)
            if limits is None:
                continue
            if group.uuid in state.sizes:
                sizes[group.uuid] = state.sizes[group.uuid]
                continue
            if limits == before.get(group.kube_name):
                continue
            there = self.replicas(group.uuid)
            if there is None:
                sizes[group.uuid] = group.count
            elif not limits[0] <= there <= limits[1]:
                sizes[group.uuid] = min(max(there, limits[0]), limits[1])
        return sizes

    def replicas(self, uuid: str) -> int | None:
        """Size of a node group in Cluster API, None: it is not there."""
        found = self.runtime.kube.get(
            'MachineDeployment', self.namespace,
            self.naming.machine_deployment(uuid))
        return conditions.replicas(found or {}).desired

    def _scale(self, sizes: collections.abc.Mapping[str, int]) -> None:
        """Set sizes of autoscaled groups, and write them to the rows.

        :param sizes: by uuid.
        """
        for group in self.store.groups(self.cluster) if sizes else ():
            size = sizes.get(group.uuid)
            if size is None:
                continue
            self.runtime.kube.scale(
                self.namespace, self.naming.machine_deployment(group.uuid),
                size)
            if group.node_count != size:
                group.node_count = size
                self.store.save(group)

    def end_operation(self, state: state_module.State,
                      failed: str = '') -> None:
        """Write that no operation is in progress.

        :param failed: see state.State.
        :raises lease.LockLost: the next holder's state is not ours to change.
        """
        self.lock.check()
        self.unmark(state.marked)
        self.secrets.write_state(state_module.ended(state, failed))

    def fail_groups(self, reason: str) -> None:
        """Save that the node groups in progress have failed."""
        for group in self.store.groups(self.cluster):
            operation, _, rest = (group.status or '').partition('_')
            if rest == 'IN_PROGRESS':
                group.status = f'{operation}_FAILED'
                group.status_reason = reason
                self.store.save(group)

    def unmark(self, machines: collections.abc.Iterable[str]) -> None:
        """Remove the deletion marks from Machines that still exist."""
        for name in machines:
            self.runtime.kube.unmark_for_deletion(self.namespace, name)
