# SPDX-License-Identifier: Apache-2.0

"""What a process caches of clusters between two polls.

Magnum makes a new driver for each poll of each cluster. Nothing here is needed
to be right: a process that has just begun decides the same, and reads more.
What all conductors must know is in the recorded state (``desired.state``).
"""

import dataclasses
import datetime
import threading
import typing

from magnum_capi.driver.desired import goal
from magnum_capi.driver.desired import state as state_module
from magnum_capi.kube import kinds

#: Polls between two times that a cluster is read whole, while it changes.
CHANGING = 3

#: Seconds between them while nothing changes. The Cluster does not show
#: Events, or a request that was lost while its conductor survived.
UNCHANGED = 300

#: Seconds after which a cluster is forgotten that is not polled any more:
#: another conductor has it, or it is gone.
_FORGOTTEN_AFTER = 600


@dataclasses.dataclass
class PollCache:
    """What is cached of one cluster.

    :param used_at: monotonic time in seconds of the last poll.
    :param polls: number of polls since it was read whole. The first poll of
        an operation is too early for that, the second is not.
    :param version: resourceVersion of the Cluster then.
    :param read_at: when that was, by the clock of the management cluster.
    :param changing: what was found then may change without a change of the
        Cluster.
    :param desired: the desired state then, which has a limit of time.
    :param template: see scope.Scope.rows.
    :param state: resourceVersion of the Secret with the driver's state, and
        what is in it without secrets.
    :param written: when the row of the cluster was last written, by the
        writer's clock, and when this process first saw that, by the clock of
        the management cluster.
    :param waiting: the request of a resize that has not begun, and since when
        it is unchanged, monotonic time in seconds.
    :param settles_at: monotonic time in seconds before which a rotation that
        outlived its operation is not tried again.
    :param credential: id of the application credential, Keystone's answer
        about it, and the monotonic time in seconds until which that counts.
    """

    used_at: float = 0.0
    polls: int = CHANGING - 2
    version: str | None = None
    read_at: datetime.datetime | None = None
    changing: bool = True
    desired: goal.DesiredCluster | None = None
    template: typing.Any = None
    state: tuple[str, state_module.State] | None = None
    written: tuple[datetime.datetime | None,
                   datetime.datetime | None] = (None, None)
    waiting: tuple[str, float] | None = None
    settles_at: float = 0.0
    credential: tuple[str | None, str, float] | None = None

    def is_due(self, cluster: kinds.Object | None,
               now: datetime.datetime) -> bool:
        """Count a poll of a cluster that is changing.

        :param cluster: the Cluster, which shows that it is not finished.
        :param now: by the clock of the management cluster.
        :returns: whether the cluster must be read whole.
        """
        self.polls += 1
        version = _version(cluster)
        return self.polls >= CHANGING and (
            self.changing or version is None or version != self.version
            or self.read_at is None
            or (now - self.read_at).total_seconds() >= UNCHANGED)

    def note_read(self, cluster: kinds.Object | None,
                  desired: goal.DesiredCluster, changing: bool,
                  now: datetime.datetime) -> None:
        """Note that the cluster was read whole."""
        self.polls, self.desired, self.read_at = 0, desired, now
        self.version = _version(cluster)
        self.changing = changing

    def operation_ended(self) -> None:
        """Forget what is about an operation."""
        new = PollCache()
        self.polls, self.version, self.changing = (
            new.polls, new.version, new.changing)
        self.desired, self.written = new.desired, new.written
        self.template = new.template


def _version(obj: kinds.Object | None) -> str | None:
    return obj['metadata'].get('resourceVersion') if obj else None


_caches: dict[str, PollCache] = {}
_lock = threading.Lock()


def of(uuid: str, now: float) -> PollCache:
    """This process's PollCache of a cluster; forgets old ones of others.

    :param now: monotonic time in seconds.
    """
    with _lock:
        for other, cache in list(_caches.items()):
            if now - cache.used_at >= _FORGOTTEN_AFTER:
                del _caches[other]
        found = _caches.setdefault(uuid, PollCache())
        found.used_at = now
        return found


def forget(uuid: str) -> None:
    """Forget a cluster that is gone."""
    with _lock:
        _caches.pop(uuid, None)
