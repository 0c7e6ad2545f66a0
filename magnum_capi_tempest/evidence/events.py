# SPDX-License-Identifier: Apache-2.0

"""What controllers have reported, and when last. Pure."""

import dataclasses

from magnum_capi_tempest import json_types


@dataclasses.dataclass(frozen=True, order=True)
class Event:
    """Something that a controller reported.

    :param at: time of the last occurrence, in the format of Kubernetes.
    :param count: how often it occurred.
    """

    at: str
    kind: str
    name: str
    type: str
    reason: str
    message: str
    count: int = 1

    def __str__(self) -> str:
        return (f'{self.at} {self.type} {self.kind} {self.name} '
                f'{self.reason}: {self.message}'
                + (f' ({self.count} times)' if self.count > 1 else ''))


def event(obj: json_types.Object) -> Event:
    """Return the Event for an object of the API.

    Both APIs for events write the same objects: the older one sets
    lastTimestamp and count, the newer one eventTime and series.
    """
    about = obj.get('involvedObject') or {}
    series = obj.get('series') or {}
    return Event(
        (obj.get('lastTimestamp') or series.get('lastObservedTime')
         or obj.get('eventTime')
         or obj['metadata'].get('creationTimestamp') or ''),
        about.get('kind', ''), about.get('name', ''), obj.get('type') or '',
        obj.get('reason') or '', ' '.join((obj.get('message') or '').split()),
        obj.get('count') or series.get('count') or 1)
