# SPDX-License-Identifier: Apache-2.0
"""Client of the machine service: HTTP with JSON over a unix socket.

``PUT /machines/ID`` creates a machine and may be repeated, ``GET`` describes
it, ``GET /machines/ID/console`` returns its console, ``POST
/machines/ID/stop``, ``start`` and ``reboot`` change it, and ``DELETE`` removes
it if it exists.

If machines are containers the service also forwards packets to them: ``PUT
/balancers/ID`` and ``PUT /floating-ips/ID`` say what an address forwards and
may be repeated, ``DELETE`` ends it.
"""

import http.client
import json
import socket
import time

#: Seconds for a response: more than the service takes to give up a change of a
#: container (changeTimeout).
TIMEOUT = 150

#: Seconds to wait for a service that restarts.
PATIENCE = 30

#: Kinds of addresses that forward.
BALANCERS, FLOATING_IPS = 'balancers', 'floating-ips'


class Refused(Exception):
    """The service has not done it; the message says why."""


class Failed(Refused):
    """The request is right, but the service failed; it may work later."""


class Unreachable(Exception):
    """The socket does not answer."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=TIMEOUT)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Machines:
    """The machines of a service.

    :param path: of its socket.
    :param patience: seconds to retry while the socket does not answer.
    """

    def __init__(self, path, patience=PATIENCE):
        self._path = path
        self._patience = patience

    def put(self, uuid, machine):
        """Create a machine unless it exists.

        :param machine: dict with name, user_data, addresses, flavor, image
            and metadata; for a container also config_drive, base64 by path,
            and interfaces.
        :raises Refused: its description is not understood.
        :raises Failed: it cannot be made now.
        """
        self._ask('PUT', f'/machines/{uuid}', machine)

    def get(self, uuid):
        """The machine with its state, None if there is none."""
        return self._ask('GET', f'/machines/{uuid}', missing=None)

    def console(self, uuid):
        """The last lines of a machine's console, None if there is none."""
        found = self._ask('GET', f'/machines/{uuid}/console', missing=None)
        return found and found['console']

    def list(self):
        """All machines: dicts with id, name and state."""
        return self._ask('GET', '/machines')['machines']

    def act(self, uuid, action):
        """``stop``, ``start`` or ``reboot`` a machine.

        :returns: whether there is one.
        """
        return self._ask('POST', f'/machines/{uuid}/{action}',
                         missing=False) is not False

    def delete(self, uuid):
        """Remove a machine if it exists."""
        self._ask('DELETE', f'/machines/{uuid}', missing=None)

    def forward(self, kind, uuid, target):
        """Make an address forward to a target, whatever it did before.

        :param kind: :data:`BALANCERS` or :data:`FLOATING_IPS`.
        :param target: for a load balancer a dict with network, address and
            listeners, which have port and members, which have address and
            port; for a floating IP a dict with address, network and fixed.
        """
        self._ask('PUT', f'/{kind}/{uuid}', target)

    def forget(self, kind, uuid):
        """Make an address forward no more if it does."""
        self._ask('DELETE', f'/{kind}/{uuid}', missing=None)

    def _ask(self, method, path, body=None, **missing):
        end = time.monotonic() + self._patience
        while True:
            try:
                status, text = self._once(method, path, body)
                break
            except (OSError, http.client.HTTPException) as e:
                # Every request is idempotent.
                if time.monotonic() > end:
                    raise Unreachable(
                        f'The machine service does not answer at '
                        f'{self._path}: {e!r}') from e
            # This package is independent of the library, which has "waiting".
            time.sleep(0.2)  # noqa: MC103
        if status == 404 and missing:
            return missing['missing']
        try:
            answer = json.loads(text) if text.strip() else {}
        except ValueError:
            answer = {}
        if status >= 300:
            raise (Refused if status < 500 else Failed)(
                answer.get('message') or f'{method} {path}: HTTP {status}')
        return answer

    def _once(self, method, path, body):
        connection = _Connection(self._path)
        try:
            connection.request(
                method, path,
                body=None if body is None else json.dumps(body),
                headers={'Content-Type': 'application/json'})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()
