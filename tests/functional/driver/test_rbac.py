# SPDX-License-Identifier: Apache-2.0

"""The driver needs exactly the rights of rbac.yaml.

A real API server enforces RBAC; its audit log shows the rights used. The
driver, its helm and its informers are real, rows are in memory, and this test
acts for Cluster API's controllers.
"""

import dataclasses
import json
import os
import pathlib

import fixtures
from oslo_config import cfg
import testtools
from testtools import content
import yaml

from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver import loop
from magnum_capi.driver import monitor
from magnum_capi.driver import observer
from magnum_capi.driver import operations
from magnum_capi.driver import poll_cache
from magnum_capi.driver import reconcile
from magnum_capi.driver import scope
from magnum_capi import errors as errors_module
from magnum_capi.kube import access
from magnum_capi.kube import cache
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import lease
from magnum_capi.kube import rest
from magnum_capi import waiting
from magnum_capi_tempest.management import requirements
from tests.functional import boxes
from tests.functional.driver import test_helm as real_helm
from tests.functional import real_api
from tests.unit.driver import small_world

RULES = (pathlib.Path(__file__).resolve().parents[3]
         / 'drivers' / 'k8s_capi_v1' / 'rbac.yaml')
USER = 'magnum'
CAPI = '/apis/cluster.x-k8s.io/v1beta1'
#: Versions of a group, the preferred one first. Others have two of them, as
#: Cluster API has since 1.11.
_VERSIONS = {'infrastructure.cluster.x-k8s.io': ['v1beta1'],
             'addons.stackhpc.com': ['v1alpha1']}


def granted():
    """(group, resource, verb) of the rules."""
    return {(group, resource, verb)
            for role in yaml.safe_load_all(RULES.read_text())
            for rule in role['rules'] for group in rule['apiGroups']
            for resource in rule['resources'] for verb in rule['verbs']}


def define(admin):
    """Make the API server serve the driver's kinds.

    :param admin: rest.Rest.
    """
    served = {}
    for kind, (group, plural) in kinds.DISCOVERED.items():
        if group == 'addons.cluster.x-k8s.io' or kind.startswith('Dev'):
            continue
        versions = _VERSIONS.get(group, ['v1beta2', 'v1beta1'])
        admin.request(
            'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
            body=real_api.definition(group, plural, kind, versions))
        for version in versions:
            served.setdefault(f'apis/{group}/{version}', set()).add(kind)
    waiting.wait_for(
        lambda: {path: wanted - described(admin, path)
                 for path, wanted in served.items()},
        done=lambda missing: not any(missing.values()), timeout=60,
        what='the OpenAPI documents of all kinds')


def described(admin, path):
    """The kinds in an OpenAPI document.

    Helm lists all CustomResourceDefinitions while a kind of its chart is
    missing there, which lasts for some seconds after its definition.
    """
    try:
        schemas = admin.request(
            'GET', f'/openapi/v3/{path}')['components']['schemas']
    except rest.NotServed:
        return set()
    return {kind['kind'] for schema in schemas.values()
            for kind in schema.get('x-kubernetes-group-version-kind', ())}


#: Rights without which nothing fails.
DONE_WITHOUT = {(right.group, right.resource, right.verb)
                for right in requirements.OPTIONAL}


class Life:
    """One cluster, with the rights of a user.

    :param admin: rest.Rest of the administrator.
    :param limited: of the user.
    :param prefix: of the namespace.
    :param told: function without arguments: whether the missing right was
        reported, which ends the life.
    :param patience: seconds to wait for the deletion.
    """

    def __init__(self, admin, limited, kubeconfig, chart, use,
                 prefix='magnum', told=lambda: False, patience=120):
        self.admin = client.Kube(admin)
        self.told = told
        self.patience = patience
        conf = cfg.ConfigOpts()
        options = config.Options.read(conf)
        options = dataclasses.replace(
            options, chart_name=chart, lock_timeout=5,
            failure_patience=0, credential_settle=0, retry_time=5,
            namespace_prefix=prefix)
        self.namespace = names.namespace(small_world.PROJECT, prefix)
        self.kube = client.Kube(limited)
        self.cached = cache.CachedKube(self.kube, names.CLUSTER_UUID)
        self.magnum = use(small_world.Magnum(options))
        self.store = self.magnum.store
        self.runtime = scope.Runtime(
            options, self.kube, real_helm.of(kubeconfig), self.kube.now, {},
            cached=self.cached)
        poll_cache.forget(small_world.CLUSTER)

    def operations(self):
        return operations.Operations(self.reconciler())

    def reconciler(self, row=None):
        return reconcile.Reconciler(
            self.runtime, self.store, row or self.magnum.row())

    def look(self):
        loop.Loop(self.reconciler()).poll()

    def steps(self):
        """Parts of the life, in order."""
        return (self.create, self.look, self.informers, self.look, self.look,
                self.health, self.thorough, self.resize, self.change,
                self.wait_for_lock, self.lose, self.delete, self.end)

    def live(self):
        for step in self.steps():
            step()

    def create(self):
        row = self.magnum.row()
        self.magnum.rows.make_certificates(row)
        operations.Operations(self.reconciler(row)).create(60)

    def health(self):
        monitor.Monitor(lambda: self.runtime, self.store,
                        self.magnum.row()).poll_health_status()

    def thorough(self):
        """Like the check that finds everything complete."""
        observer.whole(self.kube, self.namespace, small_world.RELEASE,
                       deleting=False)

    def change(self):
        self.operations().change(group=self.magnum.row(small_world.WORKERS))

    def lose(self):
        self.orphan('OpenStackMachine', f'{small_world.RELEASE}-lost')

    def informers(self):
        for known in (*self.cached._informers.values(), self.cached._versions):
            waiting.wait_for(
                lambda known=known: known.fresh or self.told(), done=bool,
                timeout=60, what='an informer')

    def delete(self):
        self.operations().delete()
        self.magnum.rows.clusters[small_world.CLUSTER][
            'status'] = 'DELETE_IN_PROGRESS'

    def end(self):
        waiting.wait_for(
            self.deleting, timeout=self.patience, what='the deletion',
            done=lambda status: status == 'DELETE_COMPLETE' or self.told())

    def orphan(self, kind, name):
        """An object without an owner."""
        self.admin.create({'kind': kind, 'metadata': {
            'name': name, 'namespace': self.namespace,
            'labels': {names.CAPI_CLUSTER_NAME: small_world.RELEASE}}})

    def wait_for_lock(self):
        """A conductor waits for the lock of another one, which renews it."""
        first, second = (lease.Lock(
            self.kube, self.namespace, small_world.RELEASE, duration=30,
            background=False) for _ in range(2))
        with first.hold(5):
            first.renew()
            try:
                second.acquire(0)
            except lease.LockBusy:
                return
        raise AssertionError('two have the lock')

    def resize(self):
        """A named node is removed first; its annotation is removed, too."""
        machine = f'{small_world.RELEASE}-m'
        self.orphan('Machine', machine)
        self.kube.mark_for_deletion(self.namespace, machine)
        self.kube.unmark_for_deletion(self.namespace, machine)
        self.kube.scale(
            self.namespace, names.machine_deployment(
                small_world.RELEASE, names.node_group(small_world.WORKERS)),
            2)

    def deleting(self):
        self.look()
        there = small_world.CLUSTER in self.magnum.rows.clusters
        return (self.store.status(self.magnum.row()) if there
                else 'DELETE_COMPLETE')

    def reasons(self):
        """The reasons that users see."""
        return [row['status_reason'] or '' for table in (
            self.magnum.rows.clusters, self.magnum.rows.groups)
            for row in table.values()]


class RightsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.patch(app_credentials, 'check', lambda *_: 'VALID')
        self.api = self.useFixture(real_api.RealApi())
        self.admin = rest.Rest(access.load(self.api.kubeconfig))
        define(self.admin)
        waiting.wait_for(
            lambda: self.admin.find('GET', '/api/v1/namespaces/default'),
            done=bool, timeout=60, what='the namespace default')

    def grant(self, user, without=None):
        """Make a user with all rights of the file, or all but one.

        :returns: path of its kubeconfig.
        """
        path = '/apis/rbac.authorization.k8s.io/v1'
        rules = [{'apiGroups': [group], 'resources': [resource],
                  'verbs': [verb]} for group, resource, verb in sorted(
                      granted() - {without})]
        self.admin.request('POST', f'{path}/clusterroles', body={
            'metadata': {'name': user}, 'rules': rules})
        self.admin.request('POST', f'{path}/clusterrolebindings', body={
            'metadata': {'name': user},
            'roleRef': {'apiGroup': 'rbac.authorization.k8s.io',
                        'kind': 'ClusterRole', 'name': user},
            'subjects': [{'kind': 'ServiceAccount', 'name': user,
                          'namespace': 'default'}]})
        return self.kubeconfig(user)

    def kubeconfig(self, user):
        """Kubeconfig of a new user, with a token."""
        where = '/api/v1/namespaces/default/serviceaccounts'
        self.admin.request('POST', where, body={'metadata': {'name': user}})
        token = self.admin.request('POST', f'{where}/{user}/token', body={
            'kind': 'TokenRequest', 'apiVersion': 'authentication.k8s.io/v1',
            'spec': {}})['status']['token']
        config = yaml.safe_load(self.api.kubeconfig.read_text())
        config['users'][0]['user'] = {'token': token}
        path = self.api.folder / f'{user}.kubeconfig'
        path.write_text(yaml.safe_dump(config))
        return path

    def used(self):
        """(group, resource, verb) of USER's requests, by status."""
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

    def life(self, path, **kwargs):
        limited = rest.Rest(access.load(path))
        found = Life(self.admin, limited, path,
                     os.environ.get('MAGNUM_CAPI_PUBLISHED_CHART')
                     or real_helm.chart().name,
                     self.useFixture, **kwargs)
        self.addCleanup(found.cached.stop)
        return found

    def test_the_life_of_a_cluster_takes_all_of_them_and_no_more(self):
        self.life(self.grant(USER)).live()

        waiting.wait_for(
            lambda: len(self.used().get(False, ())), timeout=15,
            done=lambda number: number >= len(granted()),
            what='all rights in the audit log')
        used = self.used()
        self.assertEqual(set(), used.get(True, set()))
        self.assertEqual(granted(), used[False])

    @boxes.LONG
    def test_without_any_one_of_them_somebody_is_told_which(self):
        """A life without each right, until the missing right is reported.

        In the reason of the cluster's status, in the error of a request, or
        in the conductor's log.
        """
        silent = []
        for number, right in enumerate(sorted(granted() - DONE_WITHOUT)):
            if not self.is_told(f'{USER}-{number}', right):
                silent.append(right)
        self.assertEqual([], silent)

    @boxes.LONG
    def test_without_some_the_life_goes_on(self):
        for number, right in enumerate(sorted(DONE_WITHOUT)):
            self.life(self.grant(f'{USER}-{number}', right),
                      prefix=f'{USER}-{number}').live()

    def is_told(self, user, right):
        group, resource, verb = right
        # In the API server's words.
        words = (f'{user}" cannot {verb} resource "{resource}" in API '
                 f'group "{group}"')
        logger = self.useFixture(fixtures.FakeLogger())
        errors = []

        def told():
            return any(words in text.replace('\\"', '"') for text in (
                *errors, *life.reasons(), logger.output))

        life = self.life(self.grant(user, right), prefix=user, told=told,
                         patience=20)
        try:
            for step in life.steps():
                try:
                    step()
                except (errors_module.MagnumCapiError, AssertionError) as e:
                    errors.append(str(e))
                if told():
                    return True
        finally:
            life.cached.stop()
        self.addDetail(user, content.text_content('\n'.join(
            [words, *errors, *life.reasons(), logger.output])))
        return False
