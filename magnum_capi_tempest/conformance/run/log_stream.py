# SPDX-License-Identifier: Apache-2.0

"""Follows the log of a container across connections.

Each line has the kubelet's time, so that a new connection continues after the
last line that was shown. Lines are held back for a moment: a secret of several
lines is only recognized while they are together.
"""

import codecs
import time

from magnum_capi_tempest.kubeclient import kube

#: Seconds for which lines are held back; after a silence of the second length
#: all are shown, and the API is asked whether the container has ended.
_HELD, _QUIET = 2, 5

#: Seconds between two attempts to connect, and until they are given up.
_PAUSE, _PATIENCE = 5, 600

#: Most characters of a line, and of all lines held back; each of these counts
#: for some more, as even an empty one takes memory.
_LINE, _MOST, _EACH = 64 << 10, 1 << 20, 150


class Follower:
    """Follows the log of one container.

    :param reader: :class:`kube.Client`.
    :param say: function of one line, for lost connections.
    :param clock: for ``monotonic`` and ``sleep``.
    """

    def __init__(self, reader, namespace, pod, container, say, clock=time):
        self._reader = reader
        self._namespace, self._pod = namespace, pod
        self._container = container
        self._say, self._clock = say, clock
        self._shown = ''
        self._lost_since = None

    def texts(self, tail=None):
        """Yield the log in pieces of whole lines, until its container ends.

        Lines that were lost with a connection are read again.

        :param tail: start this many lines before the end (default: all).
        :raises KubeError: refused, or no connection for ten minutes.
        """
        while True:
            try:
                yield from self._connection(tail)
                if self._ended():
                    return
                self._again('the connection ended')
            except kube.Quiet:
                self._lost_since = None
            except kube.KubeError as e:
                if e.status == 404 and self._shown:
                    # Its results were fetched, and the pod was removed.
                    return
                self._again(e)

    def _connection(self, tail):
        query = {'container': self._container, 'follow': 'true',
                 'timestamps': 'true'}
        if self._shown:
            query['sinceTime'] = self._shown
        elif tail:
            query['tailLines'] = tail
        before = self._shown
        held, size, in_key, due = [], 0, False, 0
        try:
            for time_, line in stamped(self._reader.follow(
                    kube.log_path(self._namespace, self._pod), _QUIET,
                    **query)):
                self._lost_since = None
                # The API ignores fractions of a second.
                if time_ and time_ <= before:
                    continue
                now = self._clock.monotonic()
                if held and (size > _MOST or now > due and not in_key):
                    yield self._show(held)
                    held, size, in_key = [], 0, False
                if not held:
                    due = now + _HELD
                held.append((time_, line))
                size += len(line) + _EACH
                if 'PRIVATE KEY' in line:
                    in_key = '-----BEGIN ' in line and '-----END ' not in line
        except kube.Quiet:
            if held:
                yield self._show(held)
            raise
        if held:
            yield self._show(held)

    def _show(self, held):
        self._shown = max(self._shown, *(time_ for time_, _ in held))
        return ''.join(f'{line}\n' for _, line in held)

    def _ended(self):
        pod = self._reader.get(kube.pod_path(self._namespace, self._pod))
        if pod is None:
            return True
        status = pod.get('status') or {}
        return status.get('phase') in ('Succeeded', 'Failed') or any(
            one.get('name') == self._container
            and 'terminated' in (one.get('state') or {})
            for one in status.get('containerStatuses') or ())

    def _again(self, why):
        """Wait before the next attempt; report the first of an outage."""
        now = self._clock.monotonic()
        if self._lost_since is None:
            self._lost_since = now
            self._say(f'no log of {self._pod}: {why}; reconnecting '
                      f'every {_PAUSE} s')
        final = isinstance(why, kube.KubeError) and why.is_final
        if final or now - self._lost_since > _PATIENCE:
            raise why if final else kube.KubeError(
                f'No log of {self._pod} for {_PATIENCE // 60} minutes',
                last_seen=why, hint='magnum-capi conformance status')
        self._clock.sleep(_PAUSE)


def stamped(pieces):
    """Yield times and lines of a log that arrives in pieces of bytes.

    Only the beginning of an overlong line is kept.
    """
    decode = codecs.getincrementaldecoder('utf-8')('replace').decode
    rest, cut = '', False
    for piece in pieces:
        *lines, rest = (rest + decode(piece)).split('\n')
        for line in lines:
            if not cut:
                yield _parted(line)
            cut = False
        if cut:
            rest = ''
        elif len(rest) > _LINE:
            yield _parted(rest[:_LINE] + ' [...]')
            rest, cut = '', True
    if rest:
        yield _parted(rest)


def _parted(line):
    time_, blank, text = line.partition(' ')
    return (time_, text) if blank and time_[:2] == '20' else ('', line)
