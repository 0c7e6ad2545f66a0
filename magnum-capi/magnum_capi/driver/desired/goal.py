# SPDX-License-Identifier: Apache-2.0

"""The desired state of a cluster that a snapshot is compared with.

``rows`` derives it from the database.
"""

import dataclasses
import datetime
import typing

#: Node groups of this role are the control plane.
MASTER = 'master'


@dataclasses.dataclass(frozen=True)
class Progress:
    """The progress of an operation.

    :param at: when a part last came closer to its goal, aware datetime;
        shifted by unobserved time that does not count.
    :param observed_at: when the cluster was last observed, to a quarter of the
        limit.
    :param left: for each part a pair: a text that changes with the part's
        goal, and the least that was left to do so far.
    """

    at: datetime.datetime
    observed_at: datetime.datetime
    left: typing.Mapping[str, tuple[str, int]]


@dataclasses.dataclass(frozen=True)
class DesiredGroup:
    """The desired state of a node group.

    :param key: its name in Kubernetes (``names.node_group``); anything
        unique for the control plane.
    :param name: its name in Magnum, for texts.
    :param status: its status in Magnum now; ``DELETE_IN_PROGRESS`` means
        that it is to be deleted.
    :param count: desired machines; ignored when ``autoscaled``.
    :param deferred: whether its upgrade waits for its turn; until then it
        stays unchanged.
    """

    key: str
    name: str
    role: str
    status: str
    count: int
    autoscaled: bool = False
    deferred: bool = False

    @property
    def deleting(self) -> bool:
        return self.status.startswith('DELETE_')


@dataclasses.dataclass(frozen=True)
class DesiredCluster:
    """The desired state of a cluster, and its progress as known so far.

    :param name: of the Cluster and of the release (``names.cluster``).
    :param status: the cluster's in Magnum now: ``CREATE_IN_PROGRESS`` ...
    :param groups: all node groups, also those being deleted.
    :param since: when the operation began, aware datetime; None: no limit.
    :param timeout: minutes a creation may take; None or 0: no limit.
    :param limit: minutes that an update, or a creation without a timeout, may
        take without progress; 0: no limit.
    :param progress: None before the cluster was first read.
    :param patience: seconds for which self-healing may repair a failed machine
        or addon before the operation fails.
    :param failing: since when failures are seen; see
        ``verdicts.Verdict.failing``.
    :param addons: whether the chart deploys any.
    :param digest: of the desired chart and values; needs
        ``snapshot.Snapshot.release``. Detects changes that other parts cannot
        show, such as another image or flavor.
    """

    name: str
    status: str
    groups: tuple[DesiredGroup, ...]
    since: datetime.datetime | None = None
    timeout: float | None = None
    patience: float = 0.0
    addons: bool = True
    digest: str | None = None
    failing: typing.Mapping[str, datetime.datetime] = dataclasses.field(
        default_factory=dict)
    limit: float = 0.0
    progress: Progress | None = None

    @property
    def operation(self) -> str:
        """CREATE, UPDATE, DELETE ..."""
        return self.status.partition('_')[0]

    @property
    def in_progress(self) -> bool:
        return self.status.endswith('_IN_PROGRESS')

    @property
    def creating(self) -> bool:
        return self.status == 'CREATE_IN_PROGRESS'
