# SPDX-License-Identifier: Apache-2.0

import types

import fixtures
import testtools

from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import record
from magnum_capi_tempest.leaks import watch as watches
from tests.unit import fake_clock
from tests.unit.leaks import clouds

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'


class WatchTestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = clouds.Cloud()
        self.there = self.cloud.answers
        self.clock = fake_clock.FakeClock()
        self.folder = self.useFixture(fixtures.TempDir()).path

    def watch(self, **kwargs):
        return watches.Watch(
            self.cloud.get, user='u', project='p', test='m.T.test_a',
            clock=self.clock, **kwargs)

    def begun(self, cluster=True, **kwargs):
        """A watch that has begun, with a cluster that is gone again."""
        watch = self.watch(**kwargs)
        watch.begin()
        if cluster:
            watch.add(model.CLUSTER, UUID, 'c')
        return watch

    def left(self, watch, stacks=()):
        error = self.assertRaises(
            watches.LeakFound, watch.check, dict(stacks))
        self.said = str(error)
        return {leak.thing.ident for leak in error.leaks}


class WatchTest(WatchTestCase):

    def test_one_that_makes_templates_asks_for_templates_only(self):
        watch = self.watch()
        watch.add(model.TEMPLATE, 't', 'template')

        watch.check({})

        self.assertEqual(
            [f'container-infra clustertemplates?limit={listing.PAGE}'],
            self.cloud.asked)

    def test_a_template_that_stays(self):
        for begin in (False, True):
            self.there['clustertemplates'] = [
                {'uuid': 't', 'name': 'template', 'user_id': 'u'}]
            watch = self.watch()
            watch.add(model.TEMPLATE, 't', 'template')
            if begin:
                # It was there at the first look, too.
                watch.begin()

            self.assertEqual({'t'}, self.left(watch))
            self.assertIn('1 left behind', self.said)
            self.assertIn('cluster template template (t), owner: user u, '
                          'project p, left by: m.T.test_a', self.said)
        self.assertGreaterEqual(self.clock.now, 2 * watches.COLLECTED)

    def test_a_cluster_that_stays_is_not_waited_for(self):
        watch = self.begun()
        self.there['clusters'] = [
            {'uuid': UUID, 'name': 'c1', 'user_id': 'u'}]
        self.there['application_credentials'] = [
            {'id': 'a', 'name': f'magnum-{UUID}'}]

        self.assertEqual({UUID, 'a'}, self.left(watch))
        self.assertEqual(0, self.clock.now)

    def test_a_credential_that_a_driver_leaves(self):
        self.there['application_credentials'] = [{'id': 'old'}]
        watch = self.begun()
        self.there['application_credentials'] = [{'id': 'old'}, {'id': 'new'}]

        self.assertEqual({'new'}, self.left(watch))
        self.assertIn('left by: m.T.test_a', self.said)

    def test_things_of_others_in_the_project(self):
        """The stack_id is the name of the Cluster of Cluster API."""
        for shared, left in ((False, {'ours', 'theirs', 'volume', 'person'}),
                             (True, {'ours', 'volume'})):
            self.there.clear()
            watch = self.begun(real_nodes=True, shared=shared)
            self.there['ports'] = [
                {'id': 'ours', 'name': 'c-abcdefabcdef-md-0-x',
                 'project_id': 'p'},
                {'id': 'theirs', 'name': 'web', 'project_id': 'p'}]
            self.there['volumes'] = [
                {'id': 'volume', 'name': 'pvc-1', 'metadata': {
                    'cinder.csi.openstack.org/cluster': 'c-abcdefabcdef'}}]
            self.there['application_credentials'] = [
                {'id': 'person', 'name': 'terraform'}]

            self.assertEqual(left, self.left(
                watch, {UUID: 'c-abcdefabcdef'}))

    def test_what_comes_for_a_cluster_of_the_class_is_not_of_the_test(self):
        watch = self.watch(real_nodes=True)
        held = model.Made(model.CLUSTER, UUID, 'shared', 'm.T')
        watch.held = {(held.kind, held.ident): held}
        watch.begin()
        watch.add(model.TEMPLATE, 't', 'template')
        self.there['servers'] = [
            {'id': 'expected', 'name': 'c-abc-md-0-x', 'tenant_id': 'p'},
            {'id': 'left', 'name': 'c-def-md-0-x', 'tenant_id': 'p'}]
        self.there['loadbalancers'] = [
            {'id': '5ca1ab1e', 'name': 'k8s-c-abc', 'project_id': 'p'}]
        self.there['ports'] = [
            {'id': 'vip', 'name': 'octavia-lb-5ca1ab1e', 'project_id': 'p'},
            {'id': 'gateway', 'device_id': 'f00d', 'project_id': 'p'}]
        self.there['routers'] = [
            {'id': 'f00d', 'name': 'k8s-c-abc', 'project_id': 'p'}]

        self.assertEqual({'left'}, self.left(watch, {UUID: 'c-abc'}))

    def test_what_goes_in_time_is_no_leak(self):
        watch = self.begun(cluster=False)
        self.there['trusts'] = [[{'id': 't'}], [{'id': 't'}], []]

        watch.check({})

        self.assertLess(self.clock.now, watches.COLLECTED)

    def test_what_cannot_be_listed_any_more_is_not_gone(self):
        watch = self.begun(cluster=False)
        self.there['clusters'] = [
            listing.CloudReadFailed('master_count', status=400), []]

        watch.check({})

        self.assertGreater(self.clock.now, 0)

    def test_objects_of_the_management_cluster(self):
        names = ('s-1', 'other', f'x-{UUID.replace("-", "")}')
        management = types.SimpleNamespace(bodies=lambda: [
            ('Machine', {'metadata': {'name': name, 'namespace': 'n'}})
            for name in names])
        watch = self.begun(management=management)

        self.assertEqual({f'Machine n/{names[0]}', f'Machine n/{names[2]}'},
                         self.left(watch, {UUID: 's'}))
        self.assertIn(
            'object of the management cluster Machine n/s-1, owner: cluster '
            f'c ({UUID}), project p, left by: m.T.test_a', self.said)

    def test_a_management_cluster_that_does_not_answer(self):
        def bodies():
            raise kube.KubeError('dead')

        self.left(self.begun(management=types.SimpleNamespace(bodies=bodies)))

        self.assertIn('cannot be read', self.said)

    def test_the_user_of_a_trust_as_an_admin_sees_it(self):
        admin = clouds.Cloud()
        admin.answers['users'] = [{'id': 'x', 'name': f'{UUID}_p'}]

        self.assertEqual({'x'}, self.left(self.begun(admin_get=admin.get)))
        self.assertIn(f'user {UUID}_p (x)', self.said)
        self.assertIn(f'identity users?name__contains={UUID}', admin.asked)

    def test_a_class_names_its_test_or_itself(self):
        watch, test = self.begun(cluster=False), self.watch()
        test.test = 'm.T.test_b'
        test.add(model.CLUSTER, UUID, 'c')
        watch.known.update(test.made)
        self.there['clusters'] = [{'uuid': UUID, 'user_id': 'u'}]
        self.there['trusts'] = [{'id': 't'}]

        self.assertEqual({UUID, 't'}, self.left(watch))
        for line in (f'{UUID}, owner: user u, project p, left by: '
                     'm.T.test_b',
                     'trust t, owner: unknown, left by: m.T.test_a'):
            self.assertIn(line, self.said)


class RecordTest(WatchTestCase):
    """What is made is written down."""

    def recorded(self, watch, **kwargs):
        watch.add(model.CLUSTER, UUID, 'c', **kwargs)
        return record.read(self.folder)

    def test_whose_it_is(self):
        admin = types.SimpleNamespace(user_id='admin', project_id="admin's")
        for shared, who, owner in (
                (False, None, ('p', 'u')),
                # Nobody else's things are to be taken for the test's.
                (True, None, ('', '')),
                (False, admin, ("admin's", 'admin'))):
            watch = self.watch(folder=self.folder, shared=shared)

            found = self.recorded(watch, who=who)[-1]

            self.assertEqual(
                (UUID, 'm.T.test_a', owner),
                (found.ident, found.test, (found.project, found.user)))
            # The lists of the user lack what others made.
            self.assertEqual([] if who else [found], [*watch.made.values()])

    def test_a_folder_that_cannot_be_written_fails_no_test(self):
        watch = self.watch(folder='/dev/null/nowhere')

        watch.add(model.CLUSTER, UUID, 'c')

        self.assertEqual(1, len(watch.made))
