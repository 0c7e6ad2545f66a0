# SPDX-License-Identifier: Apache-2.0
import pathlib
from unittest import mock

import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import inspection
from magnum_capi_tempest.management import requirements
from tests.unit.management import test_deployments

ALL = {(r.group, r.version, r.resource)
       for r in requirements.ALL + requirements.RESOURCES}
ROLE = (pathlib.Path(__file__).resolve().parents[3]
        / 'drivers' / 'k8s_capi_v1' / 'rbac.yaml')


class Api(test_deployments.Api):
    """A management cluster.

    :param served: (group, version, resource) of its kinds.
    :param granted: (group, resource, verb) of what is allowed; None: all.
    """

    def __init__(self, items=(), served=ALL, granted=None, blind=False):
        super().__init__({'/apis/apps/v1/deployments': {'items': items}})
        self.granted = granted
        self.blind = blind
        for group, version, resource in served:
            self.answers.setdefault(
                f'/apis/{group}/{version}', {'resources': []}
            )['resources'].append({'name': resource})

    def get(self, path):
        if self.blind and path.endswith('/deployments'):
            raise kube.KubeError('Forbidden', status=403)
        return super().get(path)

    def ask(self, method, path, body):
        asked = body['spec']['resourceAttributes']
        right = asked['group'], asked['resource'], asked['verb']
        return {'status': {
            'allowed': self.granted is None or right in self.granted}}


#: Without them nothing fails, as the file says.
OPTIONAL = {
    ('', 'namespaces', 'get'),
    ('infrastructure.cluster.x-k8s.io', 'openstackservers', 'list'),
    ('clusterctl.cluster.x-k8s.io', 'providers', 'list'),
    ('operator.cluster.x-k8s.io', 'coreproviders', 'list')}


def role():
    """(group, resource, verb) of what operators grant the driver's user."""
    return {(group, resource, verb)
            for rule in yaml.safe_load(ROLE.read_text())['rules']
            for group in rule['apiGroups'] for resource in rule['resources']
            for verb in rule['verbs']}


def inspect(api, *args, **kwargs):
    with mock.patch.object(kube, 'Client', return_value=api):
        return inspection.inspect('/kubeconfig', *args, **kwargs)


def provider(label, version, **kwargs):
    return test_deployments.deployment(
        label, label, f'x/manager:{version}', **kwargs)


class InspectTest(testtools.TestCase):

    def test_complete(self):
        report = inspect(Api([provider('cluster-api', 'v1.14.0')]))
        self.assertEqual((), report.problems)
        self.assertEqual(
            ('cluster-api v1.14.0 (cluster-api-system/cluster-api), for '
             'Kubernetes 1.31 to 1.36',),
            report.providers)
        self.assertEqual('https://there', report.server)

    def test_kubernetes_that_cluster_api_does_not_serve(self):
        for core, kubernetes, problem in (
                ('v1.14.0', 'v1.36.1', None),
                ('v1.14.0', 'v1.30.1', 'Kubernetes 1.30.1 is not served by'),
                ('v1.14.0', '1.37.0', 'Kubernetes 1.37.0 is not served by')):
            found = inspect(Api([provider('cluster-api', core)]),
                            kubernetes=(kubernetes,)).problems
            self.assertEqual(1 if problem else 0, len(found), found)
            if problem:
                self.assertIn(f'not served: {problem}', found[0])

    def test_what_is_no_version_of_kubernetes(self):
        for text in ('1.37', 'v1.37', 'latest', ''):
            e = self.assertRaises(
                errors.UsageError, inspect,
                Api([provider('cluster-api', 'v1.14.0')]),
                kubernetes=('v1.36.1', text))
            self.assertIn('a version like v1.34.2', str(e))

    def test_version_of_cluster_api_is_not_known(self):
        found, = inspect(Api(), kubernetes=('v1.36.1',)).problems
        self.assertIn('not known: the version of Cluster API', found)

    def test_management_cluster_of_a_version_without_support(self):
        api = Api([provider('cluster-api', 'v1.14.0')])
        api.answers['/version'] = {'gitVersion': 'v1.32.4+k3s1'}
        self.assertEqual(
            ('not supported: Cluster API 1.14.0 runs on Kubernetes 1.33 to '
             '1.36, not on 1.32.4+k3s1',), inspect(api).problems)

    def test_processes_have_no_deployments(self):
        for api in (Api(), Api(blind=True)):
            self.assertEqual((), inspect(api).problems)

    def test_missing_kind_names_who_installs_it(self):
        served = ALL - {('addons.stackhpc.com', 'v1alpha1', 'manifests')}
        report = inspect(Api(served=served))
        self.assertEqual(
            ('missing: manifests.v1alpha1.addons.stackhpc.com '
             '(addon provider)',), report.problems)
        self.assertEqual((), inspect(
            Api(served=served), addon_provider=False).problems)

    def test_cluster_api_without_v1beta1_is_complete(self):
        # From release 1.16 on; the OpenStack provider's own version stays.
        served = {r for r in ALL if r[1] != 'v1beta1'
                  or r[0].startswith('infrastructure')}
        report = inspect(Api(served=served))
        self.assertEqual((), report.problems)
        self.assertEqual(
            ('Cluster API serves no v1beta1, which charts up to 0.27.0 and '
             'drivers that read v1beta1 need',), report.notes[:1])
        self.assertEqual(3, len(report.notes))
        self.assertEqual((), inspect(Api()).notes)

    def test_cluster_api_without_v1beta2(self):
        served = {r for r in ALL if r[1] != 'v1beta2'}
        self.assertIn('missing: clusters.v1beta2.cluster.x-k8s.io (Cluster '
                      'API)', inspect(Api(served=served)).problems)

    def test_the_role_of_the_driver_is_enough(self):
        self.assertEqual((), inspect(Api(granted=role())).problems)

    def test_every_right_of_the_role_that_is_missing(self):
        found = set()
        for right in role():
            found.update(inspect(Api(granted=role() - {right})).problems)
        self.assertEqual(
            {f'not allowed: {verb} {".".join(filter(None, (name, group)))}'
             for group, name, verb in role() - OPTIONAL}, found)

    def test_rights_for_addons(self):
        granted = {right for right in role()
                   if right[0] != 'addons.stackhpc.com'}
        self.assertIn(
            'not allowed: create helmreleases.addons.stackhpc.com',
            inspect(Api(granted=granted)).problems)
        self.assertEqual((), inspect(
            Api(granted=granted), addon_provider=False).problems)

    def test_stand_ins_are_reported(self):
        report = inspect(Api([test_deployments.deployment(
            'cert-manager', labels={'io.magnum-capi.stand-in': 'true'})]))
        self.assertEqual(('cert-manager-system/cert-manager',),
                         report.stand_ins)


class ReleasesTest(testtools.TestCase):

    def releases(self, *items, served=ALL):
        return inspection.releases(deployments.parse(items), served)

    def test_too_old(self):
        found, = self.releases(provider('cluster-api', 'v1.10.3'))
        self.assertIn('too old: cluster-api v1.10.3, v1.11.0', found)

    def test_not_running(self):
        found, = self.releases(provider('cluster-api', 'v1.14.0', ready=0))
        self.assertIn('not running: cluster-api', found)
        self.assertIn('no minimum availability', found)

    def test_openstack_provider_without_resource_controller(self):
        item = provider('infrastructure-openstack', 'v0.14.6')
        self.assertEqual([], self.releases(item))
        found, = self.releases(item, served=set())
        self.assertIn('images.v1alpha1.openstack.k-orc.cloud', found)

    def test_kubeadm_of_another_release(self):
        found, = self.releases(provider('cluster-api', 'v1.14.0'),
                               provider('bootstrap-kubeadm', 'v1.13.2'))
        self.assertIn('bootstrap-kubeadm v1.13.2', found)

    def test_own_builds_without_version(self):
        self.assertEqual([], self.releases(provider('cluster-api', 'main')))
