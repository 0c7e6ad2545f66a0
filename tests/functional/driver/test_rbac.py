# SPDX-License-Identifier: Apache-2.0

"""The rights of rbac.yaml: the driver's life takes all of them, and no more.

The API server is a real one and judges by RBAC; its audit log says which
rights were used. The driver, its helm and its informers are the real ones,
rows are in memory, and this test does what Cluster API's controllers would.
"""

import dataclasses
import json
import os
import pathlib

from oslo_config import cfg
import testtools
import yaml

from magnum_capi.driver.desired import names
from magnum_capi.driver.keys import rotation
from magnum_capi.driver import monitor
from magnum_capi.driver import observer
from magnum_capi.driver import operations
from magnum_capi.driver import reconcile
from magnum_capi.driver import settings
from magnum_capi.driver import watch
from magnum_capi.kube import access
from magnum_capi.kube import kinds
from magnum_capi.kube import kube as kube_module
from magnum_capi.kube import lock
from magnum_capi.kube import remembered
from magnum_capi.kube import rest
from magnum_capi import waiting
from tests.functional.driver import test_helm as real_helm
from tests.functional import real_api
from tests.unit.driver import small_world

RULES = (pathlib.Path(__file__).resolve().parents[3]
         / 'drivers' / 'k8s_capi_v1' / 'rbac.yaml')
USER = 'magnum'
CAPI = '/apis/cluster.x-k8s.io/v1beta1'


def granted():
    """(group, resource, verb) of the rules."""
    return {(group, resource, verb)
            for role in yaml.safe_load_all(RULES.read_text())
            for rule in role['rules'] for group in rule['apiGroups']
            for resource in rule['resources'] for verb in rule['verbs']}


class Life:
    """One cluster, with the rights of a user.

    :param admin: rest.Rest of the administrator.
    :param limited: of the user.
    """

    def __init__(self, admin, limited, kubeconfig, chart):
        self.admin = kube_module.Kube(admin)
        conf = cfg.ConfigOpts()
        options = settings.Settings.of(conf)
        options = dataclasses.replace(
            options, chart=settings.Chart(chart), lock_timeout=5,
            failure_patience=0, credential_settle=0, retry_time=5)
        self.kube = kube_module.Kube(limited)
        self.looks = remembered.Remembered(limited, names.CLUSTER_UUID)
        self.store = small_world.Store(small_world.Cloud())
        self.runtime = reconcile.Runtime(
            options, self.kube, real_helm.of(kubeconfig), self.kube.now, {},
            looks=self.looks)

    def operations(self):
        return operations.Operations(
            self.runtime, self.store, self.store.row())

    def look(self):
        watch.Watch(self.runtime, self.store, self.store.row()).update()

    def live(self):
        row = self.store.row()
        row.ca_cert_ref = 'ca'
        operations.Operations(self.runtime, self.store, row).create(60)
        for _time in range(3):
            self.look()
        monitor.Monitor(lambda: self.runtime, self.store,
                        self.store.row()).poll_health_status()
        namespace, release = small_world.NAMESPACE, small_world.RELEASE
        # As the look that finds everything complete.
        observer.look(self.kube, namespace, release, thorough=True)
        self.resize()
        self.operations().change(group=self.store.row(small_world.WORKERS))
        self.wait_for_lock(namespace)
        self.orphan('OpenStackMachine', f'{release}-lost')
        for known in (*self.looks._informers.values(), self.looks._versions):
            waiting.wait_for(lambda known=known: known.fresh, done=bool,
                             timeout=60, what='an informer')
        self.operations().delete()
        self.store.clusters[small_world.CLUSTER][
            'status'] = 'DELETE_IN_PROGRESS'
        waiting.wait_for(
            self.deleting, done=lambda status: status == 'DELETE_COMPLETE',
            timeout=120, what='the deletion')

    def orphan(self, kind, name):
        """An object that no other owns."""
        self.admin.create({'kind': kind, 'metadata': {
            'name': name, 'namespace': small_world.NAMESPACE,
            'labels': {names.CAPI_CLUSTER_NAME: small_world.RELEASE}}})

    def wait_for_lock(self, namespace):
        """One conductor waits for the lock of another, which renews it."""
        first, second = (lock.Lock(
            self.kube, namespace, small_world.RELEASE, duration=30,
            background=False) for _ in range(2))
        with first.hold(5):
            first.renew()
            try:
                second.acquire(0)
            except lock.LockBusy:
                return
        raise AssertionError('two have the lock')

    def resize(self):
        """A node that was named goes first, and its mark is taken off."""
        machine = f'{small_world.RELEASE}-m'
        self.orphan('Machine', machine)
        self.kube.mark_for_deletion(small_world.NAMESPACE, machine)
        self.kube.unmark_for_deletion(small_world.NAMESPACE, machine)
        self.kube.scale(
            small_world.NAMESPACE, names.machine_deployment(
                small_world.RELEASE, names.node_group(small_world.WORKERS)),
            2)

    def deleting(self):
        self.look()
        return self.store.status(self.store.row()) if (
            small_world.CLUSTER in self.store.clusters) else 'DELETE_COMPLETE'


class RightsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.patch(rotation, 'check', lambda *_: 'VALID')
        self.api = self.useFixture(real_api.RealApi())
        self.admin = rest.Rest(access.load(self.api.kubeconfig))
        served = {}
        for kind, (group, plural) in kinds._DISCOVERED.items():
            if group == 'addons.cluster.x-k8s.io' or kind.startswith('Dev'):
                continue
            versions = ['v1alpha1'] if group.startswith('addons') else [
                'v1beta1']
            self.admin.request(
                'POST', '/apis/apiextensions.k8s.io/v1/'
                'customresourcedefinitions', body=real_api.definition(
                    group, plural, kind, versions))
            served.setdefault(f'apis/{group}/{versions[0]}', set()).add(kind)
        waiting.wait_for(
            lambda: {path: wanted - self.described(path)
                     for path, wanted in served.items()},
            done=lambda missing: not any(missing.values()), timeout=60,
            what='the OpenAPI documents of all kinds')
        for role in yaml.safe_load_all(RULES.read_text()):
            name = role['metadata']['name']
            path = '/apis/rbac.authorization.k8s.io/v1'
            self.admin.request('POST', f'{path}/clusterroles', body=role)
            self.admin.request('POST', f'{path}/clusterrolebindings', body={
                'metadata': {'name': name},
                'roleRef': {'apiGroup': 'rbac.authorization.k8s.io',
                            'kind': 'ClusterRole', 'name': name},
                'subjects': [{'kind': 'ServiceAccount', 'name': USER,
                              'namespace': 'default'}]})
        self.path = self.kubeconfig()

    def described(self, path):
        """The kinds in an OpenAPI document.

        Helm lists all CustomResourceDefinitions while a kind of its chart is
        not in it, which takes some seconds from its definition on.
        """
        try:
            schemas = self.admin.request(
                'GET', f'/openapi/v3/{path}')['components']['schemas']
        except rest.NotServed:
            return set()
        return {kind['kind'] for schema in schemas.values()
                for kind in schema.get('x-kubernetes-group-version-kind', ())}

    def kubeconfig(self):
        """Of the user, with a token."""
        where = '/api/v1/namespaces/default/serviceaccounts'
        waiting.wait_for(
            lambda: self.admin.find('GET', '/api/v1/namespaces/default'),
            done=bool, timeout=60, what='the namespace default')
        self.admin.request('POST', where, body={'metadata': {'name': USER}})
        token = self.admin.request('POST', f'{where}/{USER}/token', body={
            'kind': 'TokenRequest', 'apiVersion': 'authentication.k8s.io/v1',
            'spec': {}})['status']['token']
        config = yaml.safe_load(self.api.kubeconfig.read_text())
        config['users'][0]['user'] = {'token': token}
        path = self.api.folder / 'limited.kubeconfig'
        path.write_text(yaml.safe_dump(config))
        return path

    def used(self):
        """(group, resource, verb) of the user's requests, by status."""
        found = {}
        for line in self.api.audit.read_text().splitlines():
            event = json.loads(line)
            if not event['user']['username'].endswith(f':{USER}'):
                continue
            what = event.get('objectRef') or {}
            if 'resource' not in what:
                continue
            right = (what.get('apiGroup', ''), what['resource'],
                     event['verb'])
            found.setdefault(
                event.get('responseStatus', {}).get('code') == 403,
                set()).add(right)
        return found

    def test_the_life_of_a_cluster_takes_all_of_them_and_no_more(self):
        life = Life(self.admin, rest.Rest(access.load(self.path)), self.path,
                    os.environ.get('MAGNUM_CAPI_PUBLISHED_CHART')
                    or real_helm.chart().name)
        self.addCleanup(life.looks.stop)

        life.live()

        waiting.wait_for(
            lambda: len(self.used().get(False, ())), timeout=15,
            done=lambda number: number >= len(granted()),
            what='all rights in the audit log')
        used = self.used()
        self.assertEqual(set(), used.get(True, set()))
        self.assertEqual(granted(), used[False])
