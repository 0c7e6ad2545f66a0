# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""What have controllers reported, and when last? Pure."""

import dataclasses


@dataclasses.dataclass(frozen=True, order=True)
class Event:
    """Something that a controller reported.

    :param at: time of the last occurrence, as Kubernetes writes it.
    :param count: how often it occurred.
    """

    at: str
    kind: str
    name: str
    type: str
    reason: str
    message: str
    count: int = 1

    def __str__(self):
        return (f'{self.at} {self.type} {self.kind} {self.name} '
                f'{self.reason}: {self.message}'
                + (f' ({self.count} times)' if self.count > 1 else ''))


def event(obj):
    """Return an Event out of what the API says of it.

    Both APIs of events write the same objects: the older one fills
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
