# SPDX-License-Identifier: Apache-2.0
"""Run with Magnum's Python: polls the status of clusters as a conductor does.

    python polls.py ADDRESS PORT --config-file FILE [--config-dir FOLDER]

Magnum itself must be stopped meanwhile: this process is its conductor then,
with real rows and a real management cluster, and nothing else in it but polls
uses CPU time or sends requests. A conductor would also answer REST requests
and carry out others, and what one of its ticks costs drowns in that.

A command is a line of JSON on standard input, an answer one on standard
output. ``mark`` makes rows look as the conductor leaves them when it accepted
an update; ``poll`` polls clusters once, one after another; ``settle`` comes
after the first ones.

Requests are counted where Python's http.client writes them: both drivers go
that way, below their libraries, so that repetitions count and Kubernetes is
asked nothing for it. The benchmark compares the sum with what the API server
counted.
"""

import collections
import gc
import http.client
import json
import os
import ssl
import sys
import time

from magnum.common import context as contexts
from magnum.common import rpc
from magnum.common import service
import magnum.conf
from magnum.drivers.common import driver as drivers
from magnum import objects
from oslo_log import log

CONF = magnum.conf.CONF

IN_PROGRESS = 'UPDATE_IN_PROGRESS'


class Wire:
    """Counts requests to one server, and TLS handshakes with any."""

    def __init__(self, host, port):
        self._server = (host, port)
        self.requests = collections.Counter()
        self.handshakes = 0

    def tap(self):
        wire, put = self, http.client.HTTPConnection.putrequest
        wrap = ssl.SSLContext.wrap_socket

        def putrequest(connection, method, url, *args, **kwargs):
            if (connection.host, int(connection.port)) == wire._server:
                wire.requests[method] += 1
            return put(connection, method, url, *args, **kwargs)

        def wrap_socket(context, *args, **kwargs):
            wire.handshakes += 1
            return wrap(context, *args, **kwargs)

        http.client.HTTPConnection.putrequest = putrequest
        ssl.SSLContext.wrap_socket = wrap_socket

    def total(self):
        return sum(self.requests.values())


def cpu():
    """CPU seconds: of all threads of this process, of its children."""
    times = os.times()
    return (time.process_time(),
            times.children_user + times.children_system)


class Conductor:
    """What a conductor does with its rows every ten seconds."""

    def __init__(self, wire):
        self._wire = wire
        self._context = contexts.make_admin_context(all_tenants=True)
        contexts.set_ctx(self._context)

    def mark(self, uuids):
        """Have updates of clusters and all their node groups be going on.

        :returns: how many clusters.
        """
        for uuid in uuids:
            cluster = objects.Cluster.get_by_uuid(self._context, uuid)
            for row in (cluster, *cluster.nodegroups):
                row.status, row.status_reason = IN_PROGRESS, None
                row.save()
        return len(uuids)

    def settle(self, uuids):
        """Have the garbage collector leave alone what is there by now.

        A full collection goes through all that Magnum has loaded, takes as
        long as ten polls and comes once in some hundred, so that it would be
        luck which driver pays for it.
        """
        gc.collect()
        gc.freeze()
        return len(uuids)

    def poll(self, uuids):
        """Poll each once; returns a dict for each, see :meth:`_poll`."""
        return [self._poll(uuid) for uuid in uuids]

    def _poll(self, uuid):
        """Poll one cluster.

        :returns: ``status`` afterwards; requests, TLS handshakes;
            milliseconds: ``wall``, ``cpu``, ``children`` (CPU of programs
            that were run) of the driver's method, ``own`` CPU of what Magnum
            does before it calls that.
        """
        cluster = objects.Cluster.get_by_uuid(self._context, uuid)
        begin = time.process_time()
        driver = drivers.Driver.get_driver_for_cluster(
            self._context, cluster)
        own = time.process_time() - begin
        sent, hands = self._wire.total(), self._wire.handshakes
        wall, (used, children) = time.perf_counter(), cpu()
        driver.update_cluster_status(self._context, cluster)
        (used_now, children_now), wall_now = cpu(), time.perf_counter()
        now = objects.Cluster.get_by_uuid(self._context, uuid)
        return {'status': now.status,
                'requests': self._wire.total() - sent,
                'handshakes': self._wire.handshakes - hands,
                'wall': (wall_now - wall) * 1e3,
                'cpu': (used_now - used) * 1e3,
                'children': (children_now - children) * 1e3,
                'own': own * 1e3}


def main():
    address, port, *config = sys.argv[1:]
    # Answers only; drivers and libraries may print.
    answers, sys.stdout = sys.stdout, sys.stderr
    service.prepare_service(['magnum-conductor', *config])
    # Its default, and what an operator has: lines for debugging cost more
    # than the requests that they tell of.
    CONF.set_override('debug', False)
    log.setup(CONF, 'magnum')
    rpc.init(CONF)
    wire = Wire(address, int(port))
    wire.tap()
    conductor = Conductor(wire)
    for line in sys.stdin:
        command = json.loads(line)
        found = getattr(conductor, command['do'])(command['uuids'])
        print(json.dumps(found), file=answers, flush=True)


if __name__ == '__main__':
    main()
