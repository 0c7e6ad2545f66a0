# SPDX-License-Identifier: Apache-2.0

"""Records requests to Magnum, so that its logs can be searched.

Magnum answers every request with an id (oslo.middleware, request_id), but logs
another one: magnum 23.0.0, magnum/api/hooks.py, ContextHook, creates its
context without the id of the request. Only filters in front of Magnum log
both, such as the discovery filter of this project.
"""

import collections
import collections.abc
import dataclasses
import re
import time

#: Header with the id, in every answer of an OpenStack service.
HEADER = 'x-openstack-request-id'

#: An id in the form of oslo.context. Other texts are rejected, because ids
#: become part of command lines.
_ID = re.compile(r'req-[0-9a-fA-F-]{1,64}')

_UUID = re.compile(r'\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b')

#: Beginning of an answer that is searched for its own uuid, in characters.
_HEAD = 4096

#: Most requests to record, the latest; a class of tests sends fewer.
MOST = 300


@dataclasses.dataclass(frozen=True)
class Sent:
    """A request that changed something, or was refused.

    :param at: seconds since the epoch, when it was answered.
    :param about: uuids in the URL, in the body, and of created resources.
    """

    method: str
    url: str
    status: int
    request_id: str
    at: float
    about: frozenset[str] = frozenset()

    def __str__(self) -> str:
        when = time.strftime('%H:%M:%S', time.gmtime(self.at))
        return (f'{when} {self.method} {self.url} {self.status} '
                f'{self.request_id}')


class Journal:
    """Records the requests of several clients, in their order."""

    def __init__(self, clock: collections.abc.Callable[[], float] = time.time
                 ) -> None:
        self._sent: collections.deque[Sent] = collections.deque(maxlen=MOST)
        self._clock = clock
        self.began = clock()

    def add(self, method: str, url: str, status: int,
            headers: collections.abc.Mapping[str, str],
            sent: str | bytes | None = '', made: str | bytes = '') -> None:
        """Record a request, unless it is a successful GET.

        :param headers: the answer's, with lower-case names.
        :param sent: body of the request.
        :param made: body of the answer to a POST.
        """
        found = _ID.fullmatch(headers.get(HEADER) or '')
        if found and (method != 'GET' or status >= 400):
            self._sent.append(Sent(
                method, url, status, found.group(), self._clock(),
                frozenset(_UUID.findall(' '.join(
                    (url, _text(sent), _text(made[:_HEAD])))))))

    def select(self, uuids: collections.abc.Iterable[str], since: float
               ) -> list[Sent]:
        """Return the requests for any of these clusters, and the latest ones.

        :param uuids: of clusters.
        :param since: seconds since the epoch; all requests from then on.
        """
        return [s for s in self._sent
                if s.at >= since or s.about.intersection(uuids)]


def _text(body: str | bytes | None) -> str:
    """Return a body as text: urllib3 returns bytes."""
    if isinstance(body, bytes):
        return body.decode(errors='replace')
    return body or ''
