# SPDX-License-Identifier: Apache-2.0

"""Stories: requests of users, periodic jobs, faults, time; by hypothesis."""

import base64
import contextlib
import copy
import dataclasses

from hypothesis import stateful
from hypothesis import strategies as st

from tests.lib import doors
from tests.lib import magnum_api
from tests.proofs.soak import model as soak
from tests.proofs.soak import stories
from tests.unit.driver.model import oracle
from tests.unit.driver.model import world as world_module

WORKERS, MASTERS = soak.WORKERS, soak.MASTERS

#: Faults that are not the driver's to mend, and today's findings: name and
#: reason. A check with a name that is here is not made.
KNOWN: dict[str, str] = {
    'keypair': 'a key pair that was handed to the next owner stays when the '
               'cluster is deleted: it has no mark, and may be used '
               'elsewhere',
}


class Broken(AssertionError):
    """Something does not hold."""


@dataclasses.dataclass
class Disturbance:
    """A fault during one step."""

    door: str
    kind: str
    after: int
    times: int
    text: str = ''


@dataclasses.dataclass
class Cluster:
    """What is wanted of one cluster.

    :ivar named: parts that requests since the last quiet period named.
    :ivar bounds: of autoscaled groups: (low, high) by name.
    :ivar labels: own labels of groups, by name.
    :ivar defaults: the operator's default labels when it was made of them.
    :ivar to_go: uids of Machines that a user has named for removal, by group.
    :ivar died: a conductor died during the last request. What it did not save
        is no operation, and its lock, which has expired, stays until the next
        one.
    """

    name: str
    uuid: str
    owner: str
    labels: dict
    defaults: dict
    expected: soak.Expected = dataclasses.field(
        default_factory=soak.Expected)
    named: set = dataclasses.field(default_factory=set)
    bounds: dict = dataclasses.field(default_factory=dict)
    group_labels: dict = dataclasses.field(default_factory=dict)
    uuids: dict = dataclasses.field(default_factory=dict)
    to_go: dict = dataclasses.field(default_factory=dict)
    excused: bool = False
    died: bool = False
    whole: bool = True


_DISTURBANCES = st.one_of(
    st.none(), st.none(), st.none(),
    st.builds(
        Disturbance, st.just(doors.KUBE), st.sampled_from((
            'refused', 'slow', 'lost', 'error', 'busy', 'many', 'crash',
            'crash-after')),
        st.integers(0, 30), st.sampled_from((1, 1, 2, 40))),
    st.builds(
        Disturbance, st.just(doors.CLOUD), st.sampled_from((
            'refused', 'lost', 'error', 'busy', 'crash', 'crash-after')),
        st.integers(0, 12), st.sampled_from((1, 1, 3, 40))),
    st.builds(
        Disturbance, st.just(doors.HELM), st.sampled_from((
            'refused', 'slow', 'lost', 'error', 'many', 'crash',
            'crash-after')), st.just(0), st.sampled_from((1, 2))),
    st.builds(
        Disturbance, st.just(doors.ROWS), st.sampled_from((
            'crash', 'crash-after')), st.integers(0, 12), st.just(1)),
    st.builds(
        Disturbance, st.just(doors.WATCH), st.sampled_from((
            'refused', 'lost', 'busy')), st.integers(0, 4),
        st.sampled_from((1, 5))))

_CONDUCTOR = st.integers(0, world_module.CONDUCTORS - 1)
_USER = st.sampled_from(world_module.USERS)
_ASKER = st.sampled_from((*world_module.USERS, *world_module.USERS,
                          world_module.OPERATOR))
_COUNT = st.integers(1, 3)
_PICK = st.integers(0, 59)
_GROUP_NAMES = ('one', 'two')
_ZONES = st.sampled_from((None, None, 'az1', 'az2'))
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
#: Seconds after which a conductor's cache is right.
_LATE = 30
_SECONDS = st.sampled_from((
    5, 30, 61, 5 * _MINUTE, 31 * _MINUTE, 2 * _HOUR, _DAY - 60, _DAY + 60,
    8 * _DAY, 40 * _DAY, 100 * _DAY))

#: Labels of clusters and node groups that may compete.
_LABELS = st.fixed_dictionaries({}, optional={
    'availability_zone': st.sampled_from(('az1', 'az2')),
    'control_plane_availability_zones': st.sampled_from(('az3', 'az1')),
    'boot_volume_size': st.sampled_from(('0', '20', '30')),
    'auto_healing_enabled': st.sampled_from(('true', 'false')),
    'server_group_policies': st.sampled_from((
        'none', 'soft-anti-affinity', 'anti-affinity')),
    'csi_cinder_reclaim_policy': st.sampled_from(('Retain', 'Delete')),
    'auto_scaling_enabled': st.sampled_from(('true', 'false')),
})
_GROUP_LABELS = st.fixed_dictionaries({}, optional={
    'availability_zone': st.sampled_from(('az1', 'az2')),
    'boot_volume_size': st.sampled_from(('0', '20', '30')),
    'auto_healing_enabled': st.sampled_from(('true', 'false')),
    'server_group_policies': st.sampled_from((
        'none', 'soft-anti-affinity', 'anti-affinity')),
    'auto_scaling_enabled': st.sampled_from(('true', 'false')),
})
_BOUNDS = st.sampled_from((None, None, (1, 4), (2, 5), (0, 3)))


class Model(stateful.RuleBasedStateMachine):
    """Plays stories in an estate.

    :cvar estate: set by the test.
    """

    estate: world_module.Estate

    def __init__(self):
        super().__init__()
        self.w = world_module.World(self.estate)
        self.clusters: dict[str, Cluster] = {}
        self.gone: list[Cluster] = []
        self.broken = False
        self.away: set[str] = set()
        self.found: list[str] = []
        self.w.magnum.watchers.append(self._wrote)
        self.templates = [
            self.w.template('t34', 'ubuntu-34'),
            self.w.template('t35', 'ubuntu-35'),
            self.w.template('t36', 'ubuntu-36')]
        self.specs = {}
        self.steps, self.calm_at = 0, -1
        self.defaults: dict = {}
        #: What no cluster may delete: (table of the cloud, id).
        self.others: set[tuple[str, str]] = set()
        #: Certificates of the clusters that are gone.
        self.certificates: set[str] = set()

    # What is watched.

    def _wrote(self, row, before, now):
        self.found += oracle.claims(self.w, row, before, now)
        if now is None:
            self.certificates |= {before.get(field) for field
                                  in magnum_api.CERTIFICATES}

    @stateful.invariant()
    def holds(self):
        """What must hold after each step."""
        self.steps += 1
        found, self.found = self.found, []
        found += oracle.always(self.w)
        found += (f'bystander: {one} of {table} is not the cluster\'s, or '
                  'its owner keeps it, and it is gone'
                  for table, one in sorted(self.others)
                  if one not in getattr(self.w.cloud, table))
        found += self._bystanders()
        if found:
            raise Broken('\n'.join(dict.fromkeys(found)))

    def _bystanders(self):
        now = oracle.specs(self.w)
        for key, spec in self.specs.items():
            uuid, part = key
            its = self._by_uuid(uuid)
            if its is None or key not in now or now[key] == spec or (
                    {part, '*'} & its.named):
                continue
            yield (f'bystander: {part} of {its.name} was {spec}, is '
                   f'{now[key]}, which nobody asked for')
        self.specs = now

    def _by_uuid(self, uuid):
        return next((its for its in self.clusters.values()
                     if its.uuid == uuid), None)

    # Requests.

    @contextlib.contextmanager
    def _disturbed(self, disturbance):
        faults = self.w.doors.faults
        if disturbance is not None:
            faults.append(doors.Fault(
                disturbance.door, disturbance.kind, disturbance.after,
                disturbance.times, text=disturbance.text))
        before = list(faults)
        try:
            yield
        finally:
            if any(fault.met for fault in before):
                self.broken = True
            faults.clear()

    def _ask(self, conductor, its, step, call, disturbance,
             release=None) -> soak.Answer:
        """Send a request; the desired state is what was answered."""
        crashed = True
        with self._disturbed(disturbance):
            try:
                with self.w.as_conductor(conductor) as handler:
                    call(handler)
                    crashed = False
                answer = (soak.Answer.UNKNOWN if crashed
                          else soak.Answer.ACCEPTED)
            except magnum_api.NotSupported:
                answer = soak.Answer.REFUSED
            except magnum_api.MagnumException as e:
                answer = soak.Answer.REFUSED
                # Magnum itself makes it a failure.
                its.excused = True
                if not (self.broken or self.away or self._is_bad(its)):
                    self.found.append(
                        f'refused, and nothing was broken: {step}: {e}')
        if crashed:
            self.broken = True
        if its is not None:
            if answer is not soak.Answer.REFUSED:
                its.died = crashed
            its.expected = soak.asked(
                its.expected, step, answer, release=release)
        return answer

    def _is_bad(self, its):
        behaviour = self.w.controllers.behaviour
        name = oracle.release(its.uuid)
        return (name in behaviour.stuck | behaviour.refused | behaviour.held
                or name in behaviour.addons or its.excused)

    def _row(self, context, its):
        """The row for a request, None: Magnum's API finds none."""
        try:
            return self.w.row(context, its.uuid)
        except magnum_api.ClusterNotFound:
            return None

    def _row_with_groups(self, context, its):
        """The row for a request that names or needs a default node group.

        None: Magnum's API finds none. It ends with an IndexError if the
        conductor died before it had created them (magnum.objects.Cluster).
        """
        row = self._row(context, its)
        if row and sum(group.is_default for group in row.nodegroups) == 2:
            return row
        return None

    def _group(self, row, name):
        return next((group for group in row.nodegroups
                     if group.name == name), None)

    def _pick(self, pick):
        """A cluster, or None."""
        names = sorted(self.clusters)
        return self.clusters[names[pick % len(names)]] if names else None

    @stateful.initialize(
        user=_USER, workers=_COUNT, labels=_LABELS, own=_LABELS,
        which=st.integers(0, 1), cached=st.booleans())
    def first(self, user, workers, labels, own, which, cached):
        # Without the right to watch, conductors have no caches.
        self.w.api.watchable = cached
        self._create('a', user, workers, which, labels, own, 60, None, 0)
        self.quiet()

    @stateful.rule(
        name=st.sampled_from(('a', 'b')), user=_USER, workers=_COUNT,
        which=st.integers(0, 1), labels=_LABELS, own=_LABELS,
        timeout=st.sampled_from((0, 60, 2 * 24 * 60)),
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR)
    def create(self, name, user, workers, which, labels, own, timeout,
               disturbance, conductor):
        if name not in self.clusters and user not in self.away:
            self._create(name, user, workers, which, labels, own, timeout,
                         disturbance, conductor)

    def _create(self, name, user, workers, which, labels, own, timeout,
                disturbance, conductor):
        world = self.w
        uuid = self.templates[which]
        if labels:
            # A template of its own; later ones have its labels, too.
            uuid = world.template(f't{len(world.magnum.templates)}',
                                  f'ubuntu-3{4 + which}', labels=labels)
        given = {**labels, **own}
        context = world.context(user)
        scaled = given.get('auto_scaling_enabled', self.defaults.get(
            'auto_scaling_enabled')) == 'true'
        if scaled:
            given = {**given, 'max_node_count': '5'}
        row = world.new_cluster(context, f'{name}-1', uuid, labels=given,
                                keypair='key' if user == 'alice' else None)
        its = self.clusters[name] = Cluster(
            row.name, row.uuid, user, given, dict(self.defaults))
        its.named.add('*')
        if scaled:
            its.bounds[WORKERS] = 1, 5
        answer = self._ask(
            conductor, its, stories.step('create', name, workers, '-'),
            lambda handler: handler.cluster_create(
                context, row, 1, workers, timeout), disturbance,
            (uuid, world_module.IMAGES[f'ubuntu-3{4 + which}']))
        if answer is not soak.Answer.ACCEPTED:
            its.excused = True
        if row.uuid not in world.magnum.clusters:
            # The conductor died before there was a row.
            del self.clusters[name]

    @stateful.rule(
        pick=_PICK, which=_PICK, count=_COUNT, user=_ASKER,
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR,
        update=st.booleans(), remove=st.booleans())
    def resize(self, pick, which, count, user, disturbance, conductor,
               update, remove=False):
        its = self._pick(pick)
        row = its and self._row_with_groups(self.w.context(user), its)
        if not row or user in self.away:
            return
        names = sorted(group.name for group in row.nodegroups)
        group = self._group(row, names[which % len(names)])
        if group.name == MASTERS:
            count = count if count % 2 else 3
        bounds = its.bounds.get(group.name)
        if bounds and not max(bounds[0], 1) <= count <= bounds[1]:
            return
        its.named.add(group.name)
        its.to_go.pop(group.name, None)
        context = self.w.context(user)
        there = oracle.Sight(self.w, its.uuid).machines_of(
            self.w.magnum.groups[group.uuid])
        nodes = there[:1] if (
            remove and not update and row.status.endswith('_COMPLETE')
            and group.name != MASTERS and count < group.node_count) else []

        def call(handler):
            if update and group.name == WORKERS:
                handler.cluster_update(context, row, count)
            else:
                handler.cluster_resize(
                    context, row, count,
                    [one['metadata']['name'] for one in nodes], group)
        answer = self._ask(conductor, its, stories.step(
            'resize', its.name, group.name, count), call, disturbance)
        if nodes and answer is soak.Answer.ACCEPTED:
            its.to_go[group.name] = nodes[0]['metadata']['uid']

    @stateful.rule(
        pick=_PICK, name=st.sampled_from(_GROUP_NAMES), count=_COUNT,
        user=_USER, bounds=_BOUNDS, labels=_GROUP_LABELS,
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR)
    def add_group(self, pick, name, count, user, bounds, labels,
                  disturbance, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row(context, its)
        if not row or user in self.away or self._group(row, name) or (
                row.status.startswith(('DELETE', 'CREATE_IN', 'CREATE_F'))):
            return
        merged = {**its.labels, **labels}
        fields = {}
        scaled = merged.get('auto_scaling_enabled', its.defaults.get(
            'auto_scaling_enabled')) == 'true'
        if bounds:
            low, high = bounds
            count = min(max(count, low), high)
            fields = {'min_node_count': low, 'max_node_count': high}
        new = self.w.new_group(
            context, row, name, node_count=count,
            labels=merged, **fields)
        its.named.add(name)
        its.uuids[name] = new.uuid
        its.group_labels[name] = merged
        its.bounds.pop(name, None)
        if bounds and scaled:
            its.bounds[name] = max(bounds[0], 1), bounds[1]
        self._ask(conductor, its, stories.step(
            'add-group', its.name, name, count, '-'),
            lambda handler: handler.nodegroup_create(context, row, new),
            disturbance)

    @stateful.rule(
        pick=_PICK, which=_PICK, user=_USER,
        bounds=st.sampled_from(((1, 4), (2, 3), (1, 2), (3, 5))),
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR)
    def update_group(self, pick, which, user, bounds, disturbance,
                     conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row(context, its)
        if not row or user in self.away or row.status not in (
                'CREATE_COMPLETE', 'UPDATE_COMPLETE'):
            return
        names = sorted(set(its.bounds) & {
            group.name for group in row.nodegroups} - {WORKERS})
        if not names:
            return
        group = self._group(row, names[which % len(names)])
        # Magnum compares bounds with its row (api/controllers/v1/
        # nodegroup.py).
        if not bounds[0] <= group.node_count <= bounds[1]:
            return
        its.named.add(group.name)
        group.min_node_count, group.max_node_count = bounds
        answer = self._ask(
            conductor, its, stories.step('rotate', its.name),
            lambda handler: handler.nodegroup_update(context, row, group),
            disturbance)
        if answer is soak.Answer.ACCEPTED:
            its.bounds[group.name] = bounds
        elif self.w.magnum.groups[group.uuid]['max_node_count'] == bounds[1]:
            its.bounds[group.name] = bounds

    @stateful.rule(
        pick=_PICK, name=st.sampled_from(_GROUP_NAMES), user=_ASKER,
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR)
    def remove_group(self, pick, name, user, disturbance, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row(context, its)
        group = row and self._group(row, name)
        if not group or user in self.away or (
                group.status.startswith('DELETE')
                or row.status.startswith(('DELETE', 'CREATE_IN'))):
            return
        its.named.add(name)
        self._ask(conductor, its, stories.step(
            'remove-group', its.name, name),
            lambda handler: handler.nodegroup_delete(context, row, group),
            disturbance)

    @stateful.rule(
        pick=_PICK, user=_ASKER, batch=st.sampled_from((None, 1, 2)),
        disturbance=_DISTURBANCES, conductor=_CONDUCTOR)
    def upgrade(self, pick, user, batch, disturbance, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row_with_groups(context, its)
        if not row or user in self.away:
            return
        here = self.w.magnum.templates[row.cluster_template_id]
        images = sorted(world_module.IMAGES)
        there = images.index(here['image_id']) + 1
        if there == len(images):
            return
        uuid = self.w.template(
            f't{len(self.w.magnum.templates)}', images[there],
            labels=here['labels'])
        template = self.w.magnum.get_template(context, uuid)
        its.named.add('*')
        answer = self._ask(
            conductor, its, stories.step('upgrade', its.name),
            lambda handler: handler.cluster_upgrade(
                context, row, template, batch, row.default_ng_worker),
            disturbance, (uuid, world_module.IMAGES[images[there]]))
        if answer is not soak.Answer.REFUSED:
            its.defaults = dict(self.defaults)

    @stateful.rule(pick=_PICK, user=_USER, disturbance=_DISTURBANCES,
                   conductor=_CONDUCTOR)
    def rotate(self, pick, user, disturbance, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row(context, its)
        if not row or user in self.away:
            return
        self._ask(conductor, its, stories.step('rotate', its.name),
                  lambda handler: handler.credential_rotate(context, row),
                  disturbance)

    @stateful.rule(pick=_PICK, user=_USER, conductor=_CONDUCTOR)
    def rotate_ca(self, pick, user, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        row = its and self._row(context, its)
        if not row or user in self.away or row.status not in (
                'CREATE_COMPLETE', 'UPDATE_COMPLETE'):
            return
        self._ask(conductor, its, stories.step('rotate-ca', its.name),
                  lambda handler: handler.rotate_ca_certificate(
                      context, row), None)

    @stateful.rule(pick=_PICK, user=_ASKER, disturbance=_DISTURBANCES,
                   conductor=_CONDUCTOR)
    def delete(self, pick, user, disturbance, conductor):
        its = self._pick(pick)
        context = self.w.context(user)
        if its is None or user in self.away or not self._row(context, its):
            return
        its.named.add('*')
        self._ask(conductor, its, stories.step('delete', its.name),
                  lambda handler: handler.cluster_delete(context, its.uuid),
                  disturbance)

    # Periodic jobs, controllers, time.

    @stateful.rule(conductor=_CONDUCTOR, disturbance=_DISTURBANCES)
    def check(self, conductor, disturbance):
        """The periodic status of a conductor."""
        with self._disturbed(disturbance):
            with self.w.as_conductor(conductor) as handler:
                handler.sync_cluster_status()

    @stateful.rule(conductor=_CONDUCTOR, disturbance=_DISTURBANCES)
    def poll(self, conductor, disturbance):
        """The periodic health of a conductor."""
        with self._disturbed(disturbance):
            with self.w.as_conductor(conductor) as handler:
                handler.sync_cluster_health_status()

    @stateful.rule(rounds=st.integers(1, 8), conductor=_CONDUCTOR)
    def work(self, rounds, conductor):
        """Controllers reconcile, and a conductor polls after each round."""
        for _round in range(rounds):
            self.w.controllers.round()
            self.w.clock.sleep(10)
            self.check(conductor, None)

    @stateful.rule(seconds=_SECONDS)
    def time_passes(self, seconds):
        self.w.clock.sleep(seconds)

    @stateful.rule(conductor=_CONDUCTOR)
    def restart(self, conductor):
        self.w.restart(conductor)

    @stateful.rule(
        zone=_ZONES, volume=st.sampled_from((None, '20', '40')),
        healing=st.sampled_from((None, 'false')))
    def operator_changes_options(self, zone, volume, healing):
        """Conductors begin anew with other options."""
        self.defaults = {key: text for key, text in (
            ('availability_zone', zone), ('boot_volume_size', volume),
            ('auto_healing_enabled', healing)) if text is not None}
        self._options(default_labels=self.defaults)

    def _options(self, **changes):
        self.w.set_options(**changes)
        for number in range(world_module.CONDUCTORS + 1):
            self.w.restart(number)

    @stateful.rule(
        pick=_PICK, which=_PICK, count=_COUNT, conductor=_CONDUCTOR,
        health=st.booleans(), rounds=st.integers(0, 6),
        door=st.sampled_from((doors.KUBE, doors.ROWS)),
        after=st.integers(0, 25), request=st.sampled_from((
            'resize', 'resize', 'remove_group', 'delete', 'upgrade')),
        pause=st.sampled_from((0, 0, 61)))
    def interrupted(self, pick, which, count, conductor, health, rounds,
                    door, after, request, pause):
        """A request comes while a periodic job is at work.

        :param pause: seconds for which the job's process stands still on its
            way to Kubernetes: its lock is over, and it does not know.
        """
        self.work(rounds, conductor)
        other = (conductor + 1) % world_module.CONDUCTORS

        def act():
            user = world_module.USERS[which % 2]
            if door == doors.KUBE:
                self.w.clock.now += pause
            if request == 'resize':
                self.resize(pick, which, count, user, None, other, False)
            elif request == 'remove_group':
                self.remove_group(pick, _GROUP_NAMES[which % 2], user, None,
                                  other)
            else:
                args = (None,) if request == 'upgrade' else ()
                getattr(self, request)(pick, user, *args, None, other)
        self.w.doors.faults.append(doors.Fault(
            door, 'meanwhile', after, act=act))
        (self._poll if health else self._check)(conductor)
        self.w.doors.clear()

    # Limits and ages, from seconds to months.

    def _calm(self, pick):
        """A cluster with nothing in progress, None: there is none."""
        if self.steps != self.calm_at:
            self.quiet()
        its = self._pick(pick)
        if its is None or its.uuid not in self.w.magnum.clusters:
            return None
        its.excused = True
        return its

    def _look(self, conductor):
        """As often as Magnum asks, for long enough to be sure."""
        for _time in range(5):
            self.w.controllers.round()
            self.w.clock.sleep(15)
            self._check(conductor)

    def _must(self, sight, status, what):
        if sight.row['status'] != status:
            self.found.append(
                f'time: {sight.row["name"]} is {sight.row["status"]}, not '
                f'{status}, {what}: {sight.row["status_reason"]}')

    @stateful.rule(
        minutes=st.sampled_from((60, 24 * 60 + 30, 10 * 24 * 60)),
        conductor=_CONDUCTOR)
    def creation_ends(self, minutes, conductor):
        """A creation that stands still ends with its create_timeout."""
        if self.steps != self.calm_at:
            self.quiet()
        if 'c' in self.clusters or len(self.clusters) > 1:
            return
        self._create('c', 'alice', 1, 0, {}, {}, minutes, None, conductor)
        its = self.clusters['c']
        its.excused = True
        self.w.controllers.behaviour.stuck.add(oracle.release(its.uuid))
        for share, status in ((0.02, 'CREATE_IN_PROGRESS'),
                              (0.9, 'CREATE_IN_PROGRESS'),
                              (0.2, 'CREATE_FAILED')):
            self.w.clock.sleep(minutes * 60 * share)
            self._look(conductor)
            self._must(oracle.Sight(self.w, its.uuid), status,
                       f'of {minutes} minutes {share} more have passed')
        self.quiet()

    @stateful.rule(
        pick=_PICK, conductor=_CONDUCTOR,
        minutes=st.sampled_from((60, 24 * 60 + 30, 10 * 24 * 60)))
    def update_ends(self, pick, conductor, minutes):
        """An update without progress ends with progress_timeout."""
        its = self._calm(pick)
        if its is None:
            return
        self._options(progress_timeout=minutes)
        self.w.controllers.behaviour.stuck.add(oracle.release(its.uuid))
        row = self.w.row(self.w.context('alice'), its.uuid)
        count = row.default_ng_worker.node_count
        if its.bounds.get(WORKERS, (0, 9))[1] <= count:
            return
        names = sorted(group.name for group in row.nodegroups)
        self.resize(
            sorted(self.clusters).index(its.name.partition('-')[0]),
            names.index(WORKERS), count + 1, 'alice', None, conductor, False)
        for number in range(8):
            self.w.controllers.round()
            for _time in range(2):
                self.w.clock.sleep(minutes * 60 / 10)
                self._look(conductor)
            passed = (number + 1) * 2 / 10
            if passed < 0.8 or passed > 1.3:
                self._must(oracle.Sight(self.w, its.uuid), (
                    'UPDATE_IN_PROGRESS' if passed < 1 else 'UPDATE_FAILED'),
                    f'{passed} of {minutes} minutes have passed')
        self.quiet()

    @stateful.rule(
        pick=_PICK, conductor=_CONDUCTOR,
        seconds=st.sampled_from((_HOUR, _DAY + 30 * _MINUTE, 10 * _DAY)))
    def failure_lasts(self, pick, conductor, seconds):
        """An update with an addon that failed ends by failure_patience."""
        its = self._calm(pick)
        if its is None:
            return
        row = self.w.row(self.w.context('alice'), its.uuid)
        count = row.default_ng_worker.node_count
        if its.bounds.get(WORKERS, (0, 9))[1] <= count:
            return
        self._options(failure_patience=seconds, progress_timeout=0)
        self.w.controllers.behaviour.addons[
            oracle.release(its.uuid)] = 'failed'
        self.w.controllers.round()
        names = sorted(group.name for group in row.nodegroups)
        self.resize(
            sorted(self.clusters).index(its.name.partition('-')[0]),
            names.index(WORKERS), count + 1, 'alice', None, conductor, False)
        for share, status in ((0, 'UPDATE_IN_PROGRESS'),
                              (0.6, 'UPDATE_IN_PROGRESS'),
                              (0.6, 'UPDATE_FAILED')):
            self.w.clock.sleep(seconds * share)
            self._look(conductor)
            self._must(oracle.Sight(self.w, its.uuid), status,
                       f'of {seconds} s {share} more have passed')
        self.quiet()

    @stateful.rule(pick=_PICK, seconds=_SECONDS, conductor=_CONDUCTOR)
    def machine_waits(self, pick, seconds, conductor):
        """A machine that is no node is unhealthy after half an hour."""
        its = self._calm(pick)
        if its is None:
            return
        sight = oracle.Sight(self.w, its.uuid)
        machine = next(one for one in sight.machines
                       if oracle._PLANE not in one['metadata']['labels'])
        self.w.controllers.behaviour.stuck.add(oracle.release(its.uuid))
        self.w.api.delete({**machine, 'kind': 'Machine'})
        its.expected = soak.without(
            its.expected, machine['metadata']['uid'])
        for _round in range(4):
            self.w.controllers.round()
        self.w.clock.sleep(seconds)
        self.w.controllers.round()
        self.w.clock.sleep(_LATE)
        self._poll(conductor)
        row = self.w.magnum.clusters[its.uuid]
        old = seconds > 30 * _MINUTE
        if (row['health_status'] == 'UNHEALTHY') != old:
            self.found.append(
                f'time: {its.name} is {row["health_status"]} with a machine '
                f'that waits for {seconds} s: {row["health_status_reason"]}')
        self.quiet()

    @stateful.rule(pick=_PICK, which=_PICK, conductor=_CONDUCTOR,
                   young=st.booleans())
    def node_is_ill(self, pick, which, conductor, young):
        """A node of a group that nobody scales is never excused.

        :param young: whether it has just replaced another one.
        """
        its = self._calm(pick)
        if its is None:
            return
        sight = oracle.Sight(self.w, its.uuid)
        machines = [
            (name, machine) for name, group in sorted(sight.groups.items())
            if name not in its.bounds for machine in sight.machines_of(group)]
        if not machines:
            return
        name, machine = machines[which % len(machines)]
        if young and name != MASTERS:
            machine = self._replaced(its, name, machine)
        self.w.controllers.behaviour.ill.add(machine['metadata']['name'])
        self.w.controllers.round()
        self.w.clock.sleep(_LATE)
        self._poll(conductor)
        row = self.w.magnum.clusters[its.uuid]
        if row['health_status'] != 'UNHEALTHY':
            self.found.append(
                f'health: {its.name} is {row["health_status"]} with an ill '
                f'node of {name}: {row["health_status_reason"]}')
        self.heals()
        self.w.controllers.round()

    def _replaced(self, its, name, machine):
        """The Machine that replaces one."""
        self.w.api.delete({**machine, 'kind': 'Machine'})
        its.expected = soak.without(
            its.expected, machine['metadata']['uid'])
        for _round in range(6):
            self.w.controllers.round()
            self.w.clock.sleep(10)
        sight = oracle.Sight(self.w, its.uuid)
        return max(sight.machines_of(sight.groups[name]),
                   key=lambda one: one['metadata']['creationTimestamp'])

    @stateful.rule(pick=_PICK, conductors=st.sets(_CONDUCTOR, min_size=1),
                   seconds=_SECONDS)
    def owner_is_away(self, pick, conductors, seconds):
        """Keystone refuses a credential, and takes it again."""
        its = self._calm(pick)
        if its is None:
            return
        owner = self.w.magnum.clusters[its.uuid]['user_id']
        self.user_disabled(owner)
        self.w.clock.sleep(seconds + 400)
        for conductor in sorted(conductors):
            self._poll(conductor)
            row = self.w.magnum.clusters[its.uuid]
            if row['health_status'] != 'UNHEALTHY':
                self.found.append(
                    f'health: {its.name} is {row["health_status"]}, but '
                    'Keystone refuses its credential')
        self.quiet()

    # The world.

    @stateful.rule(seconds=st.sampled_from((5, 25)))
    def caches_are_late(self, seconds):
        """What a conductor reads from its cache is that old."""
        self.w.api.lag = seconds

    @stateful.rule(pick=_PICK, kind=st.sampled_from((
        'stuck', 'refused', 'held', 'waiting', 'failed')))
    def goes_wrong(self, pick, kind):
        its = self._pick(pick)
        if its is None:
            return
        behaviour, name = (self.w.controllers.behaviour,
                           oracle.release(its.uuid))
        its.excused = True
        if kind in ('waiting', 'failed'):
            behaviour.addons[name] = kind
        else:
            getattr(behaviour, kind).add(name)

    @stateful.rule()
    def heals(self):
        behaviour = self.w.controllers.behaviour
        for one in (behaviour.stuck, behaviour.refused, behaviour.held,
                    behaviour.ill, behaviour.addons):
            one.clear()

    @stateful.rule(user=_USER)
    def user_disabled(self, user):
        self.w.cloud.disabled.add(user)
        self.away.add(user)
        for its in self.clusters.values():
            its.excused = True

    @stateful.rule()
    def users_enabled(self):
        self.w.cloud.disabled.clear()
        self.away.clear()

    @stateful.rule(pick=_PICK, which=_PICK, change=st.sampled_from((-1, 1)))
    def autoscaler(self, pick, which, change):
        """The autoscaler changes the size of a group that it may change."""
        its = self._pick(pick)
        if its is None or its.uuid not in self.w.magnum.clusters:
            return
        sight = oracle.Sight(self.w, its.uuid)
        found = []
        for name, group in sorted(sight.groups.items()):
            obj = sight.deployment(group) if name in its.bounds else None
            annotations = (obj or {}).get('metadata', {}).get(
                'annotations') or {}
            if obj is not None and 'replicas' in obj['spec'] and any(
                    key.startswith(oracle._SIZES) for key in annotations):
                found.append((name, obj, annotations))
        if not found or not sight.row['status'].endswith('_COMPLETE'):
            return
        name, obj, annotations = found[which % len(found)]
        low, high = (int(annotations[f'{oracle._SIZES}-{key}-size'])
                     for key in ('min', 'max'))
        size = min(max(obj['spec']['replicas'] + change, low), high)
        obj = copy.deepcopy(obj)
        obj['spec']['replicas'] = size
        self.w.api.write({**obj, 'kind': 'MachineDeployment'})
        self.specs = oracle.specs(self.w)
        its.expected = soak.asked(
            its.expected, stories.step('resize', its.name, name, size),
            soak.Answer.ACCEPTED)

    @stateful.rule(pick=_PICK)
    def made_by_hand(self, pick):
        """Somebody gives a Cluster workers that Magnum does not know."""
        its = self._pick(pick)
        sight = its and oracle.Sight(self.w, its.uuid)
        if not sight or not sight.row or not sight.row['status'].endswith(
                '_COMPLETE') or not sight.deployments:
            return
        name = f'{sight.release}-by-hand'
        obj = copy.deepcopy(next(iter(sight.deployments.values())))
        if name not in sight.deployments:
            self.w.api.write({
                **obj, 'kind': 'MachineDeployment', 'metadata': {
                    'name': name, 'namespace': oracle.namespace(),
                    'labels': obj['metadata']['labels']},
                'spec': {**obj['spec'], 'replicas': 0}, 'status': {}})

    @stateful.rule(pick=_PICK, conductor=_CONDUCTOR,
                   content=st.sampled_from(('{', '{"schema": 1000}')))
    def state_is_unreadable(self, pick, conductor, content):
        """The driver's Secret is damaged, or a later release has written it.

        That is said, and nothing is done, until it is restored.
        """
        its = self._pick(pick)
        sight = its and oracle.Sight(self.w, its.uuid)
        secret = its and self.w.api.get(
            'Secret', oracle.namespace(), f'{sight.release}-magnum')
        if not secret or not sight.row or not sight.row['status'].endswith(
                '_COMPLETE'):
            return
        before = copy.deepcopy(secret)
        self.w.api.write({**secret, 'kind': 'Secret', 'data': {
            key: base64.b64encode(content.encode()).decode()
            for key in secret['data']}})
        self._look(conductor)
        self._poll(conductor)
        row = self.w.magnum.clusters[its.uuid]
        if row['health_status'] != 'UNKNOWN' or 'Secret' not in str(
                row['health_status_reason']):
            self.found.append(
                f'health: {its.name} is {row["health_status"]} with an '
                f'unreadable state: {row["health_status_reason"]}')
        if row['status'] != sight.row['status']:
            self.found.append(
                f'untrue: {its.name} has become {row["status"]} with an '
                'unreadable state')
        self.w.api.write({**before, 'kind': 'Secret'})

    @stateful.rule(pick=_PICK, kept=st.booleans())
    def service(self, pick, kept):
        """A cluster makes a volume and a load balancer; so do others."""
        its = self._pick(pick)
        sight = its and oracle.Sight(self.w, its.uuid)
        if not sight or not sight.row or not sight.machines or (
                sight.row['status'].startswith('DELETE')):
            # Its cloud controller makes none.
            return
        for name in (oracle.release(its.uuid), 'c' + '0' * 32):
            number = f'{name}-{self.w.cloud._number(name)}'
            self.w.cloud.volumes[number] = {
                'id': number, 'status': 'available', 'name': number,
                'metadata': {'cinder.csi.openstack.org/cluster': name,
                             oracle.KEEP: str(kept).lower()}}
            if kept:
                self.others.add(('volumes', number))
            self.w.cloud.balancers[number] = {
                'id': number, 'provisioning_status': 'ACTIVE', 'tags': [],
                'project_id': world_module.PROJECT, 'vip_port_id': number,
                'name': f'kube_service_{name}_default_web',
                'description': 'Kubernetes external service default/web '
                               f'from cluster {name}'}
            # One of the same name, in a project that sees none of this.
            self.w.cloud.server_groups[number] = (
                f'{name}-control-plane', oracle.FOREIGN, world_module.OTHER)
            self.others.add(('server_groups', number))
        self.others |= {('volumes', number), ('balancers', number)}

    # Judgement.

    @stateful.rule()
    def quiet(self):
        """All faults end; then everything is as it was asked for."""
        self.heals()
        self.users_enabled()
        self.w.doors.clear()
        self.w.api.lag = 1
        for its in list(self.clusters.values()):
            its.excused = its.excused or self.broken
        for _cure in range(4):
            self._settle()
            if not self._cure():
                break
        self._poll_all()
        self.holds()
        found = []
        for name, its in list(self.clusters.items()):
            found += self._judge(name, its)
        for its in self.gone:
            found += (f'left: {text} of {its.name}'
                      for text in oracle.left(self.w, its.uuid))
        found += oracle.misplaced(self.w)
        if found:
            raise Broken('\n'.join(dict.fromkeys(found)))
        self.broken = False
        # The next step begins with this one's invariant.
        self.calm_at = self.steps + 1

    def teardown(self):
        if self.steps != self.calm_at:
            self.quiet()

    def _settle(self):
        """Time passes until nothing is in progress any more."""
        calm = 0
        for number in range(300):
            changed = self.w.controllers.round()
            self.w.clock.sleep(10 if number < 60 else 120)
            if number % 8 == 7:
                self._poll(number // 8 % 3)
            self._check(number % 3)
            busy = any(row['status'].endswith('_IN_PROGRESS') for table in (
                self.w.magnum.clusters, self.w.magnum.groups)
                for row in table.values())
            calm = 0 if changed or busy else calm + 1
            if calm == 3:
                return

    def _check(self, conductor):
        with self.w.as_conductor(conductor) as handler:
            handler.sync_cluster_status()

    def _poll(self, conductor):
        with self.w.as_conductor(conductor) as handler:
            handler.sync_cluster_health_status()

    def _cure(self):
        """Do what users do after failures; returns whether they did."""
        cured = False
        for its in list(self.clusters.values()):
            sight = oracle.Sight(self.w, its.uuid)
            if sight.row is None:
                continue
            seen = sight.seen()
            if not its.expected.there.values[-1] or (
                    its.expected.there.doubt
                    and seen.status.startswith('DELETE')):
                step = stories.step('delete', its.name)
            elif seen.has_failed:
                step = soak.cure(seen, its.name)
            else:
                continue
            if seen.has_failed and not its.excused:
                self.found.append(
                    f'failed, and nothing was broken: {seen.statuses} '
                    f'{seen.reason}')
            if not seen.has_failed and step.op == 'delete' and (
                    seen.status.endswith('_IN_PROGRESS')):
                continue
            its.expected = soak.failed(its.expected)
            its.named.add('*' if step.op == 'delete' else step.args[1])
            self._cure_by(its, step)
            cured = True
        return cured

    def _cure_by(self, its, step):
        context = self.w.context(its.owner)
        row = self._row(context, its)

        def call(handler):
            if step.op == 'delete':
                handler.cluster_delete(context, its.uuid)
            elif step.op == 'remove-group':
                handler.nodegroup_delete(
                    context, row, self._group(row, step.args[1]))
            else:
                handler.cluster_resize(
                    context, row, int(step.args[2]), [],
                    self._group(row, step.args[1]))
        self._ask(0, its, step, call, None)

    def _poll_all(self):
        """After the age of all that is remembered, every process is right.

        They poll meanwhile: what is not used for long is forgotten, right or
        not.
        """
        for _time in range(4):
            self.w.clock.sleep(250)
            for conductor in range(world_module.CONDUCTORS):
                self._poll(conductor)
        self._check(0)
        self._poll(0)
        told = []
        for conductor in (*range(world_module.CONDUCTORS), -1):
            if conductor == -1:
                self.w.restart(conductor)
            self._poll(conductor)
            told.append({
                row['name']: (row['health_status'],
                              row['health_status_reason'])
                for row in self.w.magnum.clusters.values()})
        for number, one in enumerate(told[:-1]):
            for name, health in one.items():
                if health != told[-1][name]:
                    self.found.append(
                        f'memory: conductor {number} says of {name} {health},'
                        f' a process that has just begun {told[-1][name]}')

    def _judge(self, name, its):
        sight = oracle.Sight(self.w, its.uuid)
        seen = sight.seen()
        found = [f'{its.name}: {text}'
                 for text in soak.problems(its.expected, seen)]
        if sight.row is None:
            del self.clusters[name]
            self.gone.append(its)
            reclaim = self._label(its, {}, 'csi_cinder_reclaim_policy',
                                  'Retain') == 'Delete'
            found += oracle.services_left(self.w, its.uuid, reclaim)
            found += (
                f'left: certificate {one} of {its.name}' for one in sorted(
                    self.certificates & self.w.magnum.certificates.keys()))
            return found
        if seen.is_all('_COMPLETE'):
            found += oracle.complete(sight)
            found += oracle.deployed(sight)
            found += self._labels(its, sight)
            found += (
                f'lost: a node of {group} of {its.name} was named for '
                'removal, and is there' for group, uid in its.to_go.items()
                if group in seen.groups and not its.excused and any(
                    one.uid == uid for one in seen.groups[group].machines))
            if sight.row['health_status'] != 'HEALTHY':
                found.append(
                    f'health: {its.name} is {sight.row["health_status"]}: '
                    f'{sight.row["health_status_reason"]}')
        if oracle.lease(self.w, its.uuid) is not None and not its.died:
            found.append(f'left: the lock of {its.name}')
        its.expected = dataclasses.replace(soak.quiet(seen), rolled=False)
        its.named.clear()
        its.to_go.clear()
        its.excused = False
        return found

    # Competing labels.

    def _label(self, its, group, name, default=None):
        """A group's own label, else the cluster's, else the operator's."""
        for labels in (group, its.labels, its.defaults):
            if name in labels:
                return labels[name]
        return default

    def _labels(self, its, sight):
        """The effect of each label on each part."""
        values = sight.values()
        groups = {one['name']: one for one in values['nodeGroups']}
        health = oracle.health_checks(sight)
        wanted_servers = set()
        if self._label(its, {}, 'server_group_policies') != 'none':
            wanted_servers.add('control-plane')
        zones = [text for text in (
            its.labels.get('control_plane_availability_zones')
            or self._label(its, {}, 'availability_zone'),) if text]
        if values['controlPlane'].get('failureDomains', []) != zones:
            yield (f'labels: the control plane of {its.name} is in '
                   f'{values["controlPlane"].get("failureDomains")}, not '
                   f'{zones}')
        for name, row in sight.groups.items():
            if name == MASTERS:
                continue
            # Helm gets each group by its own name.
            key = oracle.node_group(row['uuid'])
            group, own = groups.get(key), row['labels'] or {}
            if group is None:
                yield f'labels: helm was not given {name}'
                continue
            deployment = sight.deployment(row)
            template = deployment['spec']['template']['spec']

            def told(label, default=None):
                return own.get(label, its.defaults.get(label, default))
            if template.get('failureDomain') != told('availability_zone'):
                yield (f'labels: {name} of {its.name} is in '
                       f'{template.get("failureDomain")}, not '
                       f'{told("availability_zone")}')
            machines = self.w.api.get(
                'OpenStackMachineTemplate', oracle.namespace(),
                template['infrastructureRef']['name'])
            disk = machines['spec']['template']['spec'].get(
                'rootVolume', {}).get('sizeGiB', 0)
            if disk != int(told('boot_volume_size', 0)):
                yield (f'labels: {name} of {its.name} has a disk of {disk}, '
                       f'not {told("boot_volume_size", 0)}')
            healing = told('auto_healing_enabled', 'true') == 'true'
            if (deployment['metadata']['name'] in health) != healing:
                yield (f'labels: healing of {name} of {its.name} is not '
                       f'{healing}')
            if told('server_group_policies', 'none') != 'none':
                wanted_servers.add(key)
            yield from self._scaling(its, name, deployment)
        servers = oracle.group_servers(self.w, its.uuid)
        if servers != wanted_servers:
            yield (f'left: {its.name} has the server groups '
                   f'{sorted(servers)}, not {sorted(wanted_servers)}')

    def _scaling(self, its, name, deployment):
        annotations = deployment['metadata'].get('annotations') or {}
        found = tuple(int(annotations[key]) for key in (
            f'{oracle._SIZES}-min-size', f'{oracle._SIZES}-max-size')
            if key in annotations) or None
        if found != its.bounds.get(name):
            yield (f'labels: {name} of {its.name} is scaled within {found}, '
                   f'not {its.bounds.get(name)}')
