# SPDX-License-Identifier: Apache-2.0

"""Which requests to the management cluster are disturbed, and how; pure.

A request is identified by one line of text, ``METHOD /path/name?query``. The
name of an object to create is in the body; here it is put at the end of the
path, as in all other requests, so that one pattern matches them.
"""

import dataclasses
import enum
import json
import re
from urllib import parse


_REVISION = re.compile(rb'sh\.helm\.release\.v1\.[a-z0-9-]+\.v[0-9]+')


class Action(enum.Enum):
    """What is done with a request."""

    DELAY = 'delay'
    ANSWER = 'answer'
    #: Held until it is released, and then passed on or dropped.
    HOLD_REQUEST = 'hold the request'
    #: Passed on; its answer is held until it is released.
    HOLD_ANSWER = 'hold the answer'


@dataclasses.dataclass(frozen=True, eq=False)
class Rule:
    """Which requests are disturbed, and how.

    :param pattern: regular expression, searched in the line of a request.
    :param nth: number of the first match that counts.
    :param times: how many matches count; None: all from then on.
    :param seconds: of a DELAY, and of Retry-After with an ANSWER; 0: none.
    :param status: of an ANSWER.
    """

    pattern: str
    action: Action
    nth: int = 1
    times: int | None = None
    seconds: float = 0
    status: int = 0


class Book:
    """The current rules, and how often each has matched."""

    def __init__(self):
        self._met = {}

    def add(self, rule):
        self._met[rule] = 0

    def remove(self, rule):
        self._met.pop(rule, None)

    def take(self, line) -> Rule | None:
        """The rule for a request, which counts as a match.

        Every rule counts the requests that it matches; the first one that
        was added wins.
        """
        winner = None
        for rule in list(self._met):
            if not re.search(rule.pattern, line):
                continue
            self._met[rule] += 1
            number = self._met[rule] - rule.nth
            if winner is None and number >= 0 and (
                    rule.times is None or number < rule.times):
                winner = rule
        return winner


def line(method, target, body=b'') -> str:
    """The line that identifies a request.

    :param target: path and query, as they come.
    :param body: bytes; read for the name of what is created.
    """
    path, mark, query = target.partition('?')
    if method == 'POST':
        name = _name(body)
        path += f'/{name}' if name else ''
    return f'{method} {path}{mark}{parse.unquote(query)}'


def _name(body):
    try:
        return json.loads(body)['metadata']['name']
    except (LookupError, TypeError):
        return None
    except ValueError:
        # Helm writes its own Secrets in protobuf, where names are plain.
        found = _REVISION.search(body)
        return found and found[0].decode()


#: Kubernetes' reason and a real message for statuses
#: (apimachinery, pkg/api/errors/errors.go; apiserver, pkg/storage/etcd3).
_SAID = {
    409: ('Conflict', 'Operation cannot be fulfilled on {what}: the object '
          'has been modified; please apply your changes to the latest '
          'version and try again'),
    429: ('TooManyRequests', 'Too many requests, please try again later.'),
    500: ('InternalError', 'Internal error occurred: etcdserver: leader '
          'changed'),
}


def answer(rule, line_) -> tuple[int, dict, bytes]:
    """Status, headers and body of an ANSWER, as Kubernetes writes them."""
    path = line_.split()[1].partition('?')[0]
    reason, message = _SAID[rule.status]
    body = {'kind': 'Status', 'apiVersion': 'v1', 'metadata': {},
            'status': 'Failure', 'reason': reason, 'code': rule.status,
            'message': message.format(what=path.rpartition('/')[2])}
    headers = {'Content-Type': 'application/json'}
    if rule.seconds:
        headers['Retry-After'] = f'{rule.seconds:g}'
        body['details'] = {'retryAfterSeconds': int(rule.seconds)}
    return rule.status, headers, json.dumps(body).encode()
