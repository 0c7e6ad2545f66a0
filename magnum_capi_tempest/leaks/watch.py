# SPDX-License-Identifier: Apache-2.0

"""Verifies that everything a test created is gone after its cleanup.

There is one Watch per test and one per class. It only lists the relevant
kinds: nothing if a test creates nothing, templates if it only creates those.
For a cluster, they include what its driver creates: application credentials,
trusts with their users, objects of the management cluster.
"""

import collections.abc
import dataclasses
import logging
import time
import typing

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import owners
from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record as records

LOG = logging.getLogger(__name__)

#: Seconds in which resources of a cluster must disappear: the garbage
#: collector of Kubernetes takes a moment, and drivers delete old credentials
#: later.
COLLECTED = 60


class LeakFound(errors.MagnumCapiError):
    """Something was left behind.

    :param leaks: sorted list of model.Leak.
    """

    def __init__(self, found: collections.abc.Sequence[model.Leak],
                 elapsed: float | None) -> None:
        super().__init__(
            f'{len(found)} left behind after the cleanup', elapsed=elapsed,
            last_seen=''.join(f'\n  {leak}' for leak in found))
        self.leaks = found


def record(folder: str, made: model.Made) -> None:
    """Record a model.Made in a folder of artefacts; empty: nowhere."""
    if folder:
        try:
            records.append(folder, made)
        except OSError as e:
            LOG.warning('Not recorded: %s: %s', made, e)


class Watch:
    """Watches what one test, or one class, creates.

    :param get: see listing.of_user.
    :param admin_get: likewise for an admin; None: users cannot be listed.
    :param management: capi.ManagementCluster, or None.
    :param test: id of the test, or of the class.
    :param shared: others may use this user or this project: only what is
        named after something that a test created is a leak of that test.
    :param folder: of artefacts, for the record of what was created; empty:
        there is none.
    """

    def __init__(self, get: listing.Get, *, user: str, project: str, test: str,
                 management: capi.ManagementCluster | None = None,
                 admin_get: listing.Get | None = None,
                 real_nodes: bool = False, shared: bool = False,
                 folder: str = '', timeout: float = COLLECTED,
                 clock: waiting.Clock = time) -> None:
        self._get = get
        self._admin_get = admin_get
        self._management = management
        self._kinds = model.OWN + (model.REAL if real_nodes else ())
        self._shared = shared
        self._folder = folder
        self._timeout = timeout
        self._clock = clock
        self.user = user
        self.project = project
        self.test = test
        self.made: dict[tuple[str, str], model.Made] = {}
        #: Created by the tests of a class, which then are the owners.
        self.known: dict[tuple[str, str], model.Made] = {}
        #: Created by the class of this test, and deleted with the class.
        self.held: dict[tuple[str, str], model.Made] = {}
        self._before: model.Snapshot | None = None

    def look_at_cloud(self) -> set[model.Thing]:
        """Return the things that the cloud has for this user, a set.

        Also those of services without which machines can be in memory.
        Clusters and templates are not among them.
        """
        return set(listing.of_user(
            self._get, self.user, self.project,
            {*model.REAL, model.CREDENTIAL, model.TRUST}).things)

    def begin(self) -> None:
        """Record what exists, once; anything that appears later must go."""
        if self._before is None:
            self._before = self._list()

    def add(self, kind: str, ident: str, name: str, who: typing.Any = None
            ) -> None:
        """Remember something that was created.

        :param who: credentials of its owner, if that is another user: it is
            only recorded then, because the lists of this user lack it.
        """
        whose = {} if self._shared else {
            'project': who.project_id if who else self.project,
            'user': who.user_id if who else self.user}
        made = model.Made(kind, ident, name, self.test, **whose)
        if not who:
            self.made[kind, ident] = made
        record(self._folder, made)

    def clusters(self) -> list[model.Made]:
        return [m for m in self.made.values() if m.kind == model.CLUSTER]

    def check(self, stacks: collections.abc.Mapping[str, str]) -> None:
        """Wait until everything is gone.

        If Magnum still has a cluster, there is no point in waiting: its
        deletion was already waited for, and its resources stay as long as it
        does.

        :param stacks: mapping of uuids of clusters to their stack_id.
        :raises LeakFound: something stays.
        """
        if self._before is None and not self.made:
            return
        try:
            waiting.wait_for(
                lambda: self._left(stacks), done=lambda left: not left,
                failed=self._undeleted_cluster, timeout=self._timeout,
                what='nothing to be left behind', clock=self._clock)
        except errors.WaitFailed as e:
            raise LeakFound(e.state, e.elapsed) from None

    def _list(self, kinds: collections.abc.Set[str] | None = None
              ) -> model.Snapshot:
        found = listing.of_user(self._get, self.user, self.project,
                                kinds or self._kinds)
        for kind, why in found.unread.items():
            LOG.warning('Leaks of %s: %s cannot be listed: %s', self.test,
                        kind, why)
        return found

    def _left(self, stacks: collections.abc.Mapping[str, str]
              ) -> list[model.Leak]:
        own = tuple(self.made.values())
        if self._before is None:
            after = self._list({m.kind for m in own})
            return attribution.still_there(after, own)
        made, held = (
            [dataclasses.replace(m, stack_id=stacks.get(m.ident) or '')
             for m in them]
            for them in ((*own, *self.known.values()), self.held.values()))
        found = attribution.remaining(
            self._before, self._list(), own, made, self.test, self.user,
            self._shared, held)
        if self._admin_get:
            for cluster in self.clusters():
                users = listing.users_named(self._admin_get, cluster.ident)
                found += [attribution.attributed(user, made)
                          for user in users.things]
        if self._management and self.clusters():
            found += self._objects(stacks)
        return sorted(found)

    def _undeleted_cluster(
            self, left: collections.abc.Sequence[model.Leak]) -> str | None:
        """Return which cluster still exists, in words, or None."""
        for leak in left:
            thing = leak.thing
            if thing.kind == model.CLUSTER and (
                    thing.kind, thing.ident) in {**self.made, **self.known}:
                return f'{thing} was not deleted'
        return None

    def _objects(self, stacks: collections.abc.Mapping[str, str]
                 ) -> list[model.Leak]:
        try:
            objects = self._management.bodies() if self._management else []
        except errors.MagnumCapiError as e:
            return [model.Leak(
                model.Thing(model.OBJECT, 'an unknown number, as it cannot be '
                            f'read: {e}'),
                self.test, f'project {self.project}')]
        return [
            model.Leak(
                model.Thing(model.OBJECT, str(capi.Object.of(kind, obj))),
                cluster.test, f'cluster {cluster.name} ({cluster.ident}), '
                f'project {self.project}')
            for kind, obj in objects for cluster in self.clusters()
            if owners.belongs(obj['metadata'], stacks.get(cluster.ident),
                              words=cluster.words())]
