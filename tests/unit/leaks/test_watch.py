# SPDX-License-Identifier: Apache-2.0

import collections
import types

import fixtures
import testtools

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch as watches
from tests.unit import fake_clock

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'


class Cloud:
    """Lists per kind; what is a list of lists is answered in turn."""

    def __init__(self):
        self.answers = collections.defaultdict(list)
        self.asked = []

    def get(self, service, path):
        self.asked.append(path)
        name = path.partition('?')[0].removesuffix('/detail').rpartition(
            '/')[2]
        key = name.removeprefix('os-').replace('-', '_')
        answer = self.answers[key]
        if answer and isinstance(answer[0], (list, Exception)):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        return {key: answer}


class Management:

    def __init__(self, *objects):
        self.objects = objects
        self.error = None

    def left_of(self, clusters):
        if self.error:
            raise self.error
        self.clusters = clusters
        return [(key, obj) for key in clusters for obj in self.objects]


class WatchTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = Cloud()
        self.clock = fake_clock.FakeClock()

    def watch(self, **kwargs):
        return watches.Watch(
            self.cloud.get, user='u', project='p', test='m.T.test_a',
            clock=self.clock, **kwargs)

    def left(self, watch, stacks=()):
        error = self.assertRaises(
            watches.LeakFound, watch.check, dict(stacks))
        return error.leaks

    def test_a_test_that_makes_nothing_asks_for_nothing(self):
        self.watch().check({})

        self.assertEqual([], self.cloud.asked)

    def test_one_that_makes_templates_asks_for_templates(self):
        watch = self.watch()
        watch.add(model.TEMPLATE, 't', 'template')

        watch.check({})

        self.assertEqual([f'clustertemplates?limit={listing.PAGE}'],
                         self.cloud.asked)

    def test_a_template_that_stays(self):
        watch = self.watch()
        watch.add(model.TEMPLATE, 't', 'template')
        self.cloud.answers['clustertemplates'] = [
            {'uuid': 't', 'name': 'template', 'user_id': 'u'}]

        error = self.assertRaises(watches.LeakFound, watch.check, {})

        self.assertIn('1 left behind', str(error))
        self.assertIn('cluster template template (t), owner: user u, '
                      'project p, left by: m.T.test_a', str(error))
        self.assertGreaterEqual(self.clock.now, watches.COLLECTED)

    def test_a_cluster_that_stays_is_not_waited_for(self):
        watch = self.watch()
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c1')
        self.cloud.answers['clusters'] = [
            {'uuid': UUID, 'name': 'c1', 'user_id': 'u'}]
        self.cloud.answers['application_credentials'] = [
            {'id': 'a', 'name': f'magnum-{UUID}'}]

        self.assertEqual({model.CLUSTER, model.CREDENTIAL},
                         {leak.thing.kind for leak in self.left(watch)})
        self.assertEqual(0, self.clock.now)

    def test_a_template_of_before_the_first_look_that_stays(self):
        self.cloud.answers['clustertemplates'] = [
            {'uuid': 't', 'user_id': 'u'}]
        watch = self.watch()
        watch.add(model.TEMPLATE, 't', 'template')
        watch.begin()

        self.assertEqual(['t'], [x.thing.ident for x in self.left(watch)])

    def test_a_credential_that_a_driver_leaves(self):
        watch = self.watch()
        self.cloud.answers['application_credentials'] = [{'id': 'old'}]
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c')
        self.cloud.answers['application_credentials'] = [
            {'id': 'old'}, {'id': 'new'}]

        leak, = self.left(watch)

        self.assertEqual(('new', 'm.T.test_a'),
                         (leak.thing.ident, leak.test))

    def left_in_project(self, shared):
        """Return what is left of two ports and a volume, of others and ours.

        The stack_id is the name of the Cluster of Cluster API.
        """
        watch = self.watch(real_nodes=True, shared=shared)
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c')
        self.cloud.answers['ports'] = [
            {'id': 'ours', 'name': 'c-abcdefabcdef-md-0-x', 'project_id': 'p'},
            {'id': 'theirs', 'name': 'web', 'project_id': 'p'}]
        self.cloud.answers['volumes'] = [
            {'id': 'volume', 'name': 'pvc-1', 'metadata': {
                'cinder.csi.openstack.org/cluster': 'c-abcdefabcdef'}}]
        self.cloud.answers['application_credentials'] = [
            {'id': 'person', 'name': 'terraform'}]
        return {leak.thing.ident
                for leak in self.left(watch, {UUID: 'c-abcdefabcdef'})}

    def test_all_of_a_project_that_tempest_made(self):
        self.assertEqual({'ours', 'theirs', 'volume', 'person'},
                         self.left_in_project(False))

    def test_what_others_do_in_a_shared_project(self):
        self.assertEqual({'ours', 'volume'}, self.left_in_project(True))

    def test_what_comes_for_a_cluster_of_the_class_is_not_of_the_test(self):
        watch = self.watch(real_nodes=True)
        held = model.Made(model.CLUSTER, UUID, 'shared', 'm.T')
        watch.held = {(held.kind, held.ident): held}
        watch.begin()
        watch.add(model.TEMPLATE, 't', 'template')
        self.cloud.answers['servers'] = [
            {'id': 'expected', 'name': 'c-abc-md-0-x', 'tenant_id': 'p'},
            {'id': 'left', 'name': 'c-def-md-0-x', 'tenant_id': 'p'}]
        self.cloud.answers['loadbalancers'] = [
            {'id': '5ca1ab1e', 'name': 'k8s-c-abc', 'project_id': 'p'}]
        self.cloud.answers['ports'] = [
            {'id': 'vip', 'name': 'octavia-lb-5ca1ab1e', 'project_id': 'p'},
            {'id': 'gateway', 'device_id': 'f00d', 'project_id': 'p'}]
        self.cloud.answers['routers'] = [
            {'id': 'f00d', 'name': 'k8s-c-abc', 'project_id': 'p'}]

        leak, = self.left(watch, {UUID: 'c-abc'})

        self.assertEqual('left', leak.thing.ident)

    def test_nothing_of_a_shared_account_is_written_down(self):
        folder = self.useFixture(fixtures.TempDir()).path
        self.watch(folder=folder, shared=True).add(model.CLUSTER, UUID, 'c')

        made, = files.read_made(folder)

        self.assertEqual(('', ''), (made.project, made.user))

    def test_what_goes_in_time_is_no_leak(self):
        watch = self.watch()
        watch.begin()
        self.cloud.answers['trusts'] = [[{'id': 't'}], [{'id': 't'}], []]

        watch.check({})

        self.assertLess(self.clock.now, watches.COLLECTED)

    def test_what_cannot_be_listed_any_more_is_not_gone(self):
        watch = self.watch()
        watch.begin()
        self.cloud.answers['clusters'] = [
            listing.CloudReadFailed('master_count', status=400), []]

        watch.check({})

        self.assertGreater(self.clock.now, 0)

    def test_what_could_never_be_listed_does_not_fail(self):
        self.cloud.answers['trusts'] = [
            listing.CloudReadFailed('no', status=403)]
        watch = self.watch()
        watch.begin()

        watch.check({})

    def test_objects_of_the_management_cluster(self):
        management = Management(capi.Object('Machine', 'n', 's-1'))
        watch = self.watch(management=management)
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c')

        leak, = self.left(watch, {UUID: 's'})

        self.assertEqual(
            'object of the management cluster Machine n/s-1, owner: cluster '
            f'c ({UUID}), project p, left by: m.T.test_a', str(leak))
        (stack_id, words), = management.clusters.values()
        self.assertEqual(('s', (UUID, UUID.replace('-', ''))),
                         (stack_id, words))

    def test_a_management_cluster_that_does_not_answer(self):
        management = Management()
        management.error = kube.KubeError('dead')
        watch = self.watch(management=management)
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c')

        self.assertIn('cannot be read', str(self.left(watch)[0]))

    def test_the_user_of_a_trust_as_an_admin_sees_it(self):
        admin = Cloud()
        admin.answers['users'] = [{'id': 'x', 'name': f'{UUID}_p'}]
        watch = self.watch(admin_get=admin.get)
        watch.begin()
        watch.add(model.CLUSTER, UUID, 'c')

        leak, = self.left(watch)

        self.assertEqual(f'user {UUID}_p (x)', str(leak.thing))
        self.assertIn(f'users?name__contains={UUID}', admin.asked)

    def test_a_class_names_its_test(self):
        watch = self.watch()
        watch.begin()
        test = self.watch()
        test.test = 'm.T.test_b'
        test.add(model.CLUSTER, UUID, 'c')
        watch.known.update(test.made)
        self.cloud.answers['clusters'] = [{'uuid': UUID, 'user_id': 'u'}]

        self.assertEqual(['m.T.test_b'], [x.test for x in self.left(watch)])

    def test_a_class_without_a_test_names_itself(self):
        watch = self.watch()
        watch.begin()
        self.cloud.answers['trusts'] = [{'id': 't'}]

        self.assertEqual(['m.T.test_a'], [x.test for x in self.left(watch)])

    def test_what_is_made_is_written_down(self):
        folder = self.useFixture(fixtures.TempDir()).path
        watch = self.watch(folder=folder)

        watch.add(model.CLUSTER, UUID, 'c')

        self.assertEqual(list(watch.made.values()), files.read_made(folder))

    def test_what_another_user_made_is_only_written_down(self):
        folder = self.useFixture(fixtures.TempDir()).path
        watch = self.watch(folder=folder)

        watch.add(model.TEMPLATE, 't', 'template', types.SimpleNamespace(
            user_id='admin', project_id="admin's"))

        self.assertEqual({}, watch.made)
        self.assertEqual(
            [model.Made(model.TEMPLATE, 't', 'template', 'm.T.test_a',
                        "admin's", 'admin')], files.read_made(folder))

    def test_a_folder_that_cannot_be_written_fails_no_test(self):
        watch = self.watch(folder='/dev/null/nowhere')

        watch.add(model.CLUSTER, UUID, 'c')

        self.assertEqual(1, len(watch.made))
