# SPDX-License-Identifier: Apache-2.0
"""A thousand clusters that are well, and what it costs to look at them.

    python -m tests.benchmarks.scale [--clusters 1000] [--minutes 5]

Starts etcd and kube-apiserver, makes the objects of so many clusters there
as the driver and Cluster API would have left them, and lets three processes
do what conductors do: ask for the health of every cluster each minute, and
for the status of those in progress every ten seconds. It prints requests,
CPU and memory of each, what the API server counted, and how long it took
until a change was seen.

CPU and memory are those of the driver: rows are in memory, Keystone is not
asked. An object has the given size without managedFields, which the API
server adds.
"""

import argparse
import base64
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
import uuid

from oslo_config import cfg
import psutil

from magnum_capi.driver import config
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import state as state_module
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver import loop
from magnum_capi.driver import monitor
from magnum_capi.driver import operations
from magnum_capi.driver import reconcile
from magnum_capi.driver import scope
from magnum_capi.kube import access
from magnum_capi.kube import cache
from magnum_capi.kube import client
from magnum_capi.kube import rest
from magnum_capi import waiting
from tests.functional import real_api
from tests.lib import kube_server
from tests.unit.driver import small_world

CONDUCTORS = 3
PROJECTS = 50
#: Seconds.
HEALTH, STATUS = 60, 10
#: One of so many clusters is in progress.
BUSY = 50

_CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'


def settings():
    conf = cfg.ConfigOpts()
    conf.register_opts(config.OPTIONS, group=config.GROUP)
    conf.set_override('chart_name', '/charts/sandbox-cluster', config.GROUP)
    return config.Options.read(conf)


def uuids(number):
    return [str(uuid.uuid5(uuid.NAMESPACE_DNS, f'cluster-{n}'))
            for n in range(number)]


def own(group, cluster):
    """Uuid of the node group of another cluster."""
    return str(uuid.uuid5(uuid.UUID(cluster), group))


def is_busy(number):
    return number % BUSY == 0


def project(number):
    return f'{number % PROJECTS:032x}'


# The objects.

def model():
    """Objects of one cluster by path, as a scripted server has them."""
    with (kube_server.ApiServer() as api,
          small_world.World(api, settings()) as world):
        row = world.row()
        world.rows.make_certificates(row)
        operations.Operations(reconcile.Reconciler(
            world.runtime, world.store, row)).create(60)
        loop.Loop(reconcile.Reconciler(
            world.runtime, world.store, world.row())).poll()
        assert world.cluster.status == 'CREATE_COMPLETE', world.cluster
        return {path: obj for path, obj in api.objects.items()
                if '/leases/' not in path and 'templates/' not in path
                and path.count('/', path.find('/namespaces/')) == 4}


def copies(objects, number, cluster, size):
    """(path of the collection, object) of one cluster."""
    text = json.dumps(objects)
    for group in small_world.MASTERS, small_world.WORKERS:
        text = text.replace(
            names.node_group(group), names.node_group(own(group, cluster))
        ).replace(group, own(group, cluster))
    text = text.replace(
        small_world.RELEASE, names.cluster(cluster)).replace(
        small_world.CLUSTER, cluster).replace(
        small_world.NAMESPACE, names.namespace(project(number))).replace(
        small_world.PROJECT, project(number))
    for path, obj in json.loads(text).items():
        for key in ('resourceVersion', 'uid', 'creationTimestamp'):
            obj['metadata'].pop(key, None)
        version, plural = path.split('/namespaces/')[0], path.split('/')[-2]
        obj['apiVersion'] = version.partition('/api/')[2] or (
            version.partition('/apis/')[2])
        obj.setdefault('kind', kind_of(plural))
        if plural == 'clusters' and is_busy(number):
            obj['status']['observedGeneration'] = 0
        if state_module.KEY in obj.get('data', {}):
            # Keystone is asked for each credential.
            state = state_module.load(base64.b64decode(
                obj['data'][state_module.KEY]).decode())
            state = dataclasses.replace(state, record=tuple(
                dataclasses.replace(entry, id=f'{entry.id}-{number}')
                for entry in state.record))
            obj['data'][state_module.KEY] = base64.b64encode(
                state_module.dump(state).encode()).decode()
        if obj['kind'] != 'Secret':
            obj.setdefault('spec', {})['filler'] = 'x' * max(
                0, size - len(json.dumps(obj)))
        yield path.rpartition('/')[0], obj


def kind_of(plural):
    from magnum_capi.kube import kinds
    for name, (_, known) in kinds.DISCOVERED.items():
        if known == plural:
            return name
    return 'Secret'


def definitions():
    found = {}
    for group in kube_server.DISCOVERY['items']:
        for version in group['versions']:
            for resource in version['resources']:
                found.setdefault((group['metadata']['name'],
                                  resource['resource']), []).append(
                                      version['version'])
    for (group, plural), versions in found.items():
        yield real_api.definition(group, plural, kind_of(plural), versions)


def fill(api, args):
    connection = rest.Rest(access.load(api.kubeconfig))
    for definition in definitions():
        connection.request('POST', _CRDS, body=definition)
    kube = client.Kube(connection)
    waiting.wait_for(
        lambda: served(connection), done=bool, timeout=60, what='the kinds')
    for number in range(PROJECTS):
        kube.ensure_namespace(names.namespace(project(number)), {})
    objects = model()

    def make(number, cluster):
        for path, obj in copies(objects, number, cluster, args.size):
            connection.request('POST', path, body=obj)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for made in [pool.submit(make, *pair) for pair in enumerate(
                uuids(args.clusters))]:
            made.result()
    return kube


def served(connection):
    found = client.Kube(connection)
    with contextlib.suppress(rest.KubeError):
        return all(found.list(kind, 'default') == [] for kind in (
            *cache.KINDS, 'HelmRelease', 'MachineSet'))
    return False


# A conductor.

class Conductor:

    def __init__(self, args):
        self.rest = rest.Rest(access.load(args.kubeconfig))
        self.kube = client.Kube(self.rest)
        self.cached = cache.CachedKube(self.kube, names.CLUSTER_UUID)
        self.runtime = scope.Runtime(
            settings(), self.kube, None, self.kube.now, {}, cached=self.cached)
        self.magnum = small_world.Magnum(settings())
        self.magnum.setUp()
        self.add(args.clusters)
        self.health = {}
        app_credentials.check = lambda *_: credentials.VALID

    def add(self, clusters):
        """Rows of so many clusters, made of the one that is there."""
        rows = self.magnum.rows
        one = rows.clusters.pop(small_world.CLUSTER)
        groups = [rows.groups.pop(uuid) for uuid in [*rows.groups]]
        rows.make_certificates(one)
        for number, cluster in enumerate(uuids(clusters)):
            common = {'project_id': project(number), 'status': (
                'CREATE_IN_PROGRESS' if is_busy(number)
                else 'CREATE_COMPLETE')}
            rows.clusters[cluster] = {
                **one, **common, 'uuid': cluster,
                'stack_id': names.cluster(cluster)}
            for group in groups:
                found = own(group['uuid'], cluster)
                rows.groups[found] = {
                    **group, **common, 'uuid': found, 'cluster_id': cluster}

    def of(self, cluster):
        """The store and the row for a poll, as Magnum has them."""
        row = self.magnum.row(cluster)
        return self.magnum.stores.of_magnum(
            self.runtime.options, row.project_id), row

    def poll_health(self, cluster):
        found = monitor.Monitor(lambda: self.runtime, *self.of(cluster))
        found.poll_health_status()
        self.health[cluster] = found.data['health_status']

    def poll_status(self, cluster):
        loop.Loop(reconcile.Reconciler(
            self.runtime, *self.of(cluster))).poll()

    def statuses(self):
        return {cluster: row['status'] for cluster, row
                in self.magnum.rows.clusters.items()}

    def run(self, pool, work, seconds):
        """Have all of it done, as often as Magnum does."""
        begin = time.monotonic()
        while True:
            for done in [pool.submit(*piece) for piece in work()]:
                done.result()
            begin += seconds
            waiting.wait_for(time.monotonic, done=lambda now: now >= begin,
                             timeout=2 * seconds, what='the next turn',
                             pace=waiting.Pace(0.5, 1, 0.5))

    def main(self):
        pool = concurrent.futures.ThreadPoolExecutor(32)
        for work, seconds in (
                (lambda: [(self.poll_health, cluster)
                          for cluster in self.statuses()], HEALTH),
                (lambda: [(self.poll_status, cluster) for cluster, status
                          in self.statuses().items()
                          if status.endswith('_IN_PROGRESS')], STATUS)):
            threading.Thread(target=self.run, args=(pool, work, seconds),
                             daemon=True).start()
        seen = {}
        for line in sys.stdin:
            said = json.loads(line)
            if said['do'] == 'count':
                times = os.times()
                answer = {
                    'requests': self.rest.requests,
                    'cpu': times.user + times.system,
                    'rss': psutil.Process().memory_info().rss / 2**20,
                    'well': sum(h == 'HEALTHY' for h in
                                self.health.values()),
                    'busy': sum(status.endswith('_IN_PROGRESS')
                                for status in self.statuses().values())}
            else:
                # In the memory of this process, asked every 20 ms.
                seen = waiting.wait_for(
                    lambda: self.cached.get(
                        'Cluster', said['namespace'], said['name'])[
                            'metadata'].get('annotations', {}).get('bench'),
                    done=lambda text: text == said['text'], timeout=60,
                    what='a change', pace=waiting.Pace(0.02, 1, 0.02))
                answer = {'seen': time.time() if seen else None}
            print(json.dumps(answer), flush=True)


class Process:
    """A conductor, from outside."""

    def __init__(self, api, args):
        self._process = subprocess.Popen(
            [sys.executable, '-m', 'tests.benchmarks.scale',
             '--clusters', str(args.clusters),
             '--kubeconfig', str(api.kubeconfig)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def send(self, **said):
        print(json.dumps(said), file=self._process.stdin, flush=True)

    def answer(self):
        return json.loads(self._process.stdout.readline())

    def ask(self, **said):
        self.send(**said)
        return self.answer()

    def end(self):
        self._process.kill()
        self._process.communicate()


def idle(seconds):
    end = time.monotonic() + seconds
    waiting.wait_for(time.monotonic, done=lambda now: now >= end,
                     timeout=seconds + 60, what='the end of a time',
                     pace=waiting.Pace(1, 1, 1))


def lags(kube, conductors, clusters):
    """Seconds from a change to each conductor's knowing it."""
    found = []
    for turn in range(20):
        cluster = clusters[turn * 37 % len(clusters)]
        where = {'namespace': names.namespace(project(
            clusters.index(cluster))), 'name': names.cluster(cluster)}
        text = f'{turn}-{time.time()}'
        for conductor in conductors:
            conductor.send(do='see', text=text, **where)
        begin = time.time()
        kube.annotate('Cluster', where['namespace'], where['name'],
                      {'bench': text})
        found += [conductor.answer()['seen'] - begin
                  for conductor in conductors]
    return sorted(found)


def finish(kube, conductors, clusters):
    """Seconds until one conductor, and until all have ended what was busy."""
    begin = time.monotonic()
    for number, cluster in enumerate(clusters):
        if is_busy(number):
            where = names.namespace(project(number)), names.cluster(cluster)
            found = kube.get('Cluster', *where)
            found['status']['observedGeneration'] = found['metadata'][
                'generation'] + 1
            kube.replace(found)
    found = []
    for over in (all, any):
        waiting.wait_for(
            lambda: [c.ask(do='count')['busy'] for c in conductors],
            done=lambda busy, over=over: not over(busy), timeout=300,
            what='their ends', pace=waiting.Pace(0.2, 1, 0.2))
        found.append(time.monotonic() - begin)
    return found


def measure(api, args):
    begin = time.monotonic()
    kube = fill(api, args)
    print(f'{args.clusters} clusters made in '
          f'{time.monotonic() - begin:.0f} s', flush=True)
    conductors = [Process(api, args) for _ in range(CONDUCTORS)]
    try:
        idle(HEALTH + 15)
        before, start = [c.ask(do='count') for c in conductors], (
            time.monotonic())
        idle(args.minutes * 60)
        after, seconds = [c.ask(do='count') for c in conductors], (
            time.monotonic() - start)
        print('conductor  requests/s  CPU, cores  memory, MiB  healthy  busy')
        rates = []
        for number, (then, now) in enumerate(zip(before, after), 1):
            rates.append([(now[key] - then[key]) / seconds
                          for key in ('requests', 'cpu')])
            print(f'{number:9} {rates[-1][0]:11.2f} {rates[-1][1]:11.3f} '
                  f'{now["rss"]:12.0f} {now["well"]:8} {now["busy"]:5}')
        requests, cpu = map(sum, zip(*rates))
        per = 60 * requests / CONDUCTORS / args.clusters
        print(f'together {requests:12.2f} {cpu:11.3f}; requests a cluster, '
              f'minute and conductor: {per:.3f}', flush=True)
        found = lags(kube, conductors, uuids(args.clusters))
        print(f'a change was known after {statistics.median(found):.3f} s '
              f'(median of {len(found)}), {found[-1]:.3f} s at most')
        first, last = finish(kube, conductors, uuids(args.clusters))
        print(f'the end of {after[0]["busy"]} operations was said by one '
              f'conductor after {first:.1f} s, by all after {last:.1f} s')
    finally:
        for conductor in conductors:
            conductor.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--clusters', type=int, default=1000)
    parser.add_argument('--minutes', type=float, default=5)
    parser.add_argument('--size', type=int, default=5000,
                        help='bytes of an object')
    parser.add_argument('--kubeconfig', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.kubeconfig:
        args.kubeconfig = pathlib.Path(args.kubeconfig)
        return Conductor(args).main()
    print(f'{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}')
    with real_api.RealApi() as api:
        measure(api, args)


if __name__ == '__main__':
    sys.exit(main())
