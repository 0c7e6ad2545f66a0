# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.evidence import capi
from tests.unit.evidence import fake_kube

CORE, OPENSTACK = fake_kube.CLUSTER_API, fake_kube.OPENSTACK
SECRETS = '/api/v1/secrets'
BAD = {'conditions': [{'type': 'Ready', 'status': 'False', 'reason': 'Why',
                       'message': ''}]}


class ManagementClusterTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.kube = self.useFixture(fake_kube.FakeKube())
        self.kube.serve_management()
        self.cluster = capi.ManagementCluster(self.kube.kubeconfig)

    def left(self, *args, **kwargs):
        return list(map(str, self.cluster.objects_of(*args, **kwargs)))

    def test_everything_that_is_left_is_found_in_any_namespace(self):
        self.kube.add(f'{CORE}/clusters', 'other')
        self.assertEqual([], self.left('c1'))
        for path, name in (
                (f'{CORE}/clusters', 'c1'),
                ('/apis/addons.stackhpc.com/v1alpha1/helmreleases', 'c1-ccm'),
                ('/apis/apps/v1/deployments', 'c1-autoscaler'),
                ('/apis/rbac.authorization.k8s.io/v1/roles', 'c1-autoscaler'),
                ('/apis/rbac.authorization.k8s.io/v1/rolebindings', 'c1-x'),
                (SECRETS, 'sh.helm.release.v1.c1.v1'),
                ('/api/v1/serviceaccounts', 'c1-autoscaler')):
            self.kube.add(path, name)
        self.kube.add(f'{OPENSTACK}/openstackmachines', 'c1-md-0', 'elsewhere')
        self.kube.add(SECRETS, 'app-credential', labels={
            'magnum.openstack.org/cluster-uuid': 'uuid'})

        self.assertEqual(
            ['Cluster n/c1', 'Deployment n/c1-autoscaler',
             'HelmRelease n/c1-ccm', 'OpenStackMachine elsewhere/c1-md-0',
             'Role n/c1-autoscaler', 'RoleBinding n/c1-x',
             'Secret n/app-credential', 'Secret n/sh.helm.release.v1.c1.v1',
             'ServiceAccount n/c1-autoscaler'], self.left('c1', 'uuid'))

    def test_objects_that_mention_a_word(self):
        self.kube.add(f'{CORE}/clusters', 'c1-of-nobody')
        self.kube.add(f'{CORE}/clusters', 'other')
        self.kube.add(SECRETS, 'app-credential', annotations={
            'by': 'somebody of uuid-1'})

        self.assertEqual(['Cluster n/c1-of-nobody', 'Secret n/app-credential'],
                         self.left(None, words=('c1', 'uuid-1')))

    def test_a_server_that_nova_refused(self):
        """OpenStackServers are not in the version that is preferred."""
        group = 'infrastructure.cluster.x-k8s.io'
        self.kube.serve_group(group, 'v1alpha1',
                              openstackservers='OpenStackServer')
        self.kube.add(
            f'/apis/{group}/v1alpha1/openstackservers', 'c1-md-0', status={
                'conditions': [{
                    'type': 'InstanceReady', 'status': 'False',
                    'reason': 'InstanceCreateFailed', 'message': 'Quota'}]})

        self.assertEqual(
            ['OpenStackServer c1-md-0 InstanceReady=False '
             '(InstanceCreateFailed: Quota)'],
            list(map(str, self.cluster.conditions('c1'))))
        self.assertEqual(['OpenStackServer n/c1-md-0'], self.left('c1'))

    def test_conditions_are_of_this_cluster_only(self):
        for name in ('c1-0', 'other-0'):
            self.kube.add(f'{CORE}/machines', name, status=BAD)

        self.assertEqual(['Machine c1-0 Ready=False (Why)'],
                         list(map(str, self.cluster.conditions('c1'))))

    def test_spec_of_the_only_object_of_a_kind(self):
        self.kube.add(f'{CORE}/clusters', 'c1-x', spec={'a': 2})
        self.kube.add(f'{CORE}/clusters', 'c1', spec={'a': 3})
        self.kube.add(f'{CORE}/machines', 'c1-y', spec={'a': 1})
        # ClusterClass has named it.
        self.kube.add(f'{CORE}/machines', 'c1-x2b4', spec={'a': 4},
                      ownerReferences=[{'kind': 'Other', 'name': 'c2'},
                                       {'kind': 'Cluster', 'name': 'c1'}])

        for kind, stack_id, spec in (
                ('Cluster', 'c1', {'a': 3}), ('Cluster', 'c2', None),
                ('Machine', 'c1', {'a': 4}), ('Machine', 'c2', None)):
            self.assertEqual(spec, self.cluster.spec(kind, stack_id))

    def test_the_latest_events_of_this_cluster_last(self):
        for name, at, count in (('s1-b', '2', 1), ('s1', '1', 1),
                                ('s10', '3', 1), ('s1-c', '3', 4)):
            self.kube.answers['/api/v1/events'][1]['items'].append({
                'metadata': {'name': 'e'}, 'type': 'Warning',
                'reason': 'Failed', 'message': 'no\nhost', 'count': count,
                'involvedObject': {'kind': 'Machine', 'name': name},
                'lastTimestamp': at})

        self.assertEqual(
            ['2 Warning Machine s1-b Failed: no host',
             '3 Warning Machine s1-c Failed: no host (4 times)'],
            list(map(str, self.cluster.events('s1', most=2))))

    def test_changes_of_the_secrets_of_a_cluster(self):
        self.kube.history[SECRETS] = []
        with self.cluster.changes_of('c1') as changes:
            for name in ('c1-a', 'c2-a'):
                self.kube.change(SECRETS, 'MODIFIED', {
                    'metadata': {'name': name}})

        changes.check()
        self.assertEqual(['c1-a'], [
            obj['metadata']['name'] for _, obj in changes.found])


class TemplateTest(testtools.TestCase):

    def test_where_each_kind_and_version_has_it(self):
        reference = {'infrastructureRef': {'name': 't'}}
        for spec in ({'template': {'spec': reference}},
                     {'machineTemplate': reference},
                     {'machineTemplate': {'spec': reference}}):
            self.assertEqual('t', capi.template({'spec': spec}))
