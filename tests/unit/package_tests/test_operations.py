# SPDX-License-Identifier: Apache-2.0

"""What the tests of the life of clusters share can say no."""

import contextlib
import types
import unittest

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import bystanders
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import notes
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import operations
from magnum_capi_tempest.tests.driver import test_cluster_lifecycle
from magnum_capi_tempest import texts
from tests.unit import fake_clock
from tests.unit.package_tests import test_base
from tests.unit.services import scripted_magnum

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
FOUND = capi.Object('Machine', 'magnum-1', 'n1-0')


def a_test():
    """Return a test, without a cloud. Its class is found by no loader."""

    class OneTest(operations.BaseOperationsTest):

        def runTest(self):
            pass

    return OneTest()


class NotCheckedTest(testtools.TestCase):

    def test_a_life_without_access_says_what_it_did_not_check(self):
        recorded = notes.Notes()
        self.useFixture(fixtures.MonkeyPatch(
            f'{base.__name__}._NOTES', recorded))
        self.useFixture(fixtures.MonkeyPatch(
            f'{test_cluster_lifecycle.__name__}.CONF', types.SimpleNamespace(
                magnum_capi_feature_enabled=test_base.Options(
                    workload_api=False))))

        test_cluster_lifecycle.ClusterLifecycleTest(
            'test_create_use_resize_delete').assert_refuses_strangers({})

        self.assertEqual(
            {texts.NOT_CHECKED: 'whether clusters refuse strangers: '
                                'workload_api is not set'}, recorded.take())


class CredentialsTest(testtools.TestCase):

    def assert_none_left(self, dynamic, *names):
        test = a_test()
        test.os_primary = types.SimpleNamespace(
            credentials=types.SimpleNamespace(user_id='u'),
            application_credentials_client=types.SimpleNamespace(
                list_application_credentials=lambda user: {
                    'application_credentials': [
                        {'id': f'id-{name}', 'name': name}
                        for name in names]}))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.operations.CONF',
            types.SimpleNamespace(auth=types.SimpleNamespace(
                use_dynamic_credentials=dynamic))))
        test.assert_no_credential_left(UUID, ['id-old'])

    def test_those_of_a_person_come_and_go(self):
        self.assert_none_left(False, 'mine', 'another')
        self.assertRaises(AssertionError, self.assert_none_left, False,
                          'mine', f'magnum-{UUID}-x')

    def test_a_user_of_tempest_has_the_same_as_before(self):
        self.assert_none_left(True, 'old')
        self.assertRaises(AssertionError, self.assert_none_left, True,
                          'old', 'of some driver')


class AssertionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.test = a_test()
        self.clock = fake_clock.FakeClock()
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.waiters.time', self.clock))
        wait_for = waiting.wait_for
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.waiting.wait_for',
            lambda *args, **kwargs: wait_for(
                *args, clock=self.clock, **kwargs)))

    def management(self, *answers):
        """A management cluster that shows these; the last for ever."""
        answers = list(answers)

        def objects(stack_id, cluster_uuid=None, words=()):
            self.stack_id, self.words = stack_id, words
            return answers.pop(0) if len(answers) > 1 else answers[0]

        self.test.management = types.SimpleNamespace(objects_of=objects)
        self.test.magnum = types.SimpleNamespace(stacks={})
        self.patch_interval(1)

    def patch_interval(self, seconds):
        self.useFixture(fixtures.MonkeyPatch(
            f'{base.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=test_base.Options(build_interval=seconds))))

    def test_machines_of_another_number(self):
        self.management([FOUND])

        self.test.assert_machines({'stack_id': 's'}, 1)
        error = self.assertRaises(
            errors.WaitTimeout, self.test.assert_machines,
            {'cluster_id': 's'}, 2)

        self.assertIn(str(FOUND), str(error))

    def test_what_comes_late_is_seen(self):
        self.management([], [], [FOUND])

        error = self.assertRaises(
            errors.WaitTimeout, self.test.assert_nothing_comes_back, UUID,
            'n1')

        self.assertIn(str(FOUND), str(error))
        self.assertEqual((UUID, UUID.replace('-', ''), 'n1'), self.words)

    def test_what_has_another_name_than_the_cluster_is_seen(self):
        self.management([])
        self.test.magnum.stacks[UUID] = 'kube-x'

        self.test.assert_nothing_comes_back(UUID, 'n1')

        self.assertEqual('kube-x', self.stack_id)

    def test_what_a_driver_does_at_its_next_check_is_seen(self):
        # A driver that acts each time that Magnum asks for the health.
        self.management(*[[]] * 20, [FOUND])
        self.patch_interval(5)

        self.assertRaises(
            errors.WaitTimeout, self.test.assert_nothing_comes_back, UUID,
            'n1')

    def test_what_goes_late_is_waited_for(self):
        self.management([], [FOUND], [])
        began = self.clock.monotonic()

        self.test.assert_nothing_comes_back(UUID, 'n1')

        self.assertGreater(self.clock.monotonic() - began,
                           base.rest_seconds())

    def test_a_wait_for_a_cluster_has_its_own_limit(self):
        type(self.test).new_waiter = lambda: types.SimpleNamespace(
            observe=lambda uuid: observations.Observation(
                {'status': 'CREATE_IN_PROGRESS'}))

        error = self.assertRaises(
            errors.WaitTimeout, self.test.until, UUID,
            lambda state: observations.is_complete(state.status), 'it',
            timeout=7)

        self.assertAlmostEqual(7, error.elapsed)

    def refusal(self, outcome):
        def create_cluster(template):
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        self.test.create_template = dict
        self.test.create_cluster = create_cluster
        return self.test.refusal(labels={})

    def failed(self, status):
        return errors.WaitAborted('it', state=observations.Observation(
            {'status': status, 'status_reason': 'why'}))

    def test_only_a_cluster_that_fails_is_a_refusal(self):
        self.assertEqual('why', self.refusal(self.failed('CREATE_FAILED')))
        for outcome in (self.failed('DELETE_FAILED'),
                        {'status': 'CREATE_COMPLETE'}):
            self.assertRaises(AssertionError, self.refusal, outcome)


class NodeGroupTest(testtools.TestCase):
    """What a test makes in the cluster of its class does not outlive it."""

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.test = a_test()
        self.test.magnum = types.SimpleNamespace(
            nodegroups=self.magnum.client('NodegroupsClient'))
        self.test._own_watch = watch.Watch(
            None, user='u', project='p', test='t')
        #: What the cloud has: for each observation, the last for ever.
        self.cloud = [set()]
        self.test._own_watch.look_at_cloud = lambda: (
            self.cloud.pop(0) if len(self.cloud) > 1 else self.cloud[0])
        self.test._came_with = {}
        self.test.around = lambda *args: contextlib.nullcontext()
        self.waited = []
        self.test.waiter = types.SimpleNamespace(
            until_group_created=self._fail,
            until_group_deleted=lambda *args: self.waited.append(args))

    def _fail(self, *args):
        raise errors.WaitAborted('it')

    def left_after(self, *answers):
        """Run a test whose group is not created; return what was sent."""
        self.magnum.answers = [(202, {'uuid': 'g', 'name': 'n'}), *answers]
        self.assertRaises(errors.WaitAborted, self.test.create_group,
                          {'uuid': UUID}, name='n')
        self.test.doCleanups()
        return [(r.method, r.path.rpartition('/')[2])
                for r in self.magnum.requests]

    def test_of_a_shared_cluster(self):
        self.assertEqual([('POST', 'nodegroups'), ('DELETE', 'g')],
                         self.left_after((204, None)))
        self.assertEqual([(UUID, 'g')], self.waited)

    def test_that_is_gone_already(self):
        self.left_after((404, {}))

        self.assertEqual([], self.waited)

    def test_of_a_cluster_that_goes_with_the_test(self):
        self.test._own_watch.add(model.CLUSTER, UUID, 'c')

        self.assertEqual([('POST', 'nodegroups')],
                         self.left_after((204, None)))

    def left_of_group(self, *cloud, dynamic=True):
        """Create and delete a group; what the cloud has is in ``cloud``.

        :returns: the message of the failure; empty if it passes.
        """
        self.magnum.answers = [(202, {'uuid': 'g', 'name': 'n'}), (204, None)]
        self.cloud = list(cloud)
        self.test.waiter.until_group_created = lambda *args: (
            observations.Observation(nodegroup={'uuid': 'g', 'name': 'n'}))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.operations.CONF',
            types.SimpleNamespace(auth=types.SimpleNamespace(
                use_dynamic_credentials=dynamic))))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.tests.common.operations.watch.COLLECTED',
            0.01))
        cluster = {'uuid': UUID, 'stack_id': 'mine-1'}
        group = self.test.create_group(cluster, name='n')
        try:
            self.test.delete_group(cluster, group)
        except errors.WaitTimeout as e:
            return str(e)
        return ''

    def test_what_stays_of_a_deleted_group(self):
        before, came, other = (
            model.Thing('server group', name, name)
            for name in ('before', 'mine-1-n', 'of-somebody'))

        self.assertIn('server group mine-1-n', self.left_of_group(
            {before}, {before, came}, {before, came}))
        self.assertEqual('', self.left_of_group(
            {before}, {before, came}, {before, came}, {before}))
        # What came with something else, or to somebody else.
        self.assertEqual('', self.left_of_group(
            {before}, {before, came}, {before, other}))
        self.assertEqual('', self.left_of_group(
            {before}, {before, other}, {before, other}, dynamic=False))


class RestoreSizeTest(testtools.TestCase):

    def resizes(self, status, node_count):
        """How a cluster is resized that should have 2 workers."""
        test, found = a_test(), []
        test.cluster = {'uuid': UUID}
        test.waiter = types.SimpleNamespace(
            before=lambda uuid, group: observations.Observation(
                {'status': status}, {'node_count': node_count}))
        test.sizes = lambda: (1, 2)
        test.resize_cluster = lambda cluster, *args: found.append(args)
        test.restore_size()
        return found

    def test_only_what_a_test_has_left(self):
        self.assertEqual([], self.resizes('UPDATE_COMPLETE', 2))
        for left in (('UPDATE_COMPLETE', 3), ('UPDATE_IN_PROGRESS', 2),
                     ('UPDATE_FAILED', 2)):
            self.assertEqual([(2, 'default-worker')], self.resizes(*left))


class UpgradeRefusedTest(testtools.TestCase):

    def refuse(self, before, after, spec=(), raised=True):
        """Request an upgrade that Magnum refuses.

        :param before, after: statuses of the cluster.
        :param spec: what the refusal changes in the management cluster.
        """
        def upgrade_cluster(*args, **kwargs):
            machines.update(spec)
            if raised:
                raise lib_exc.BadRequest()

        self.useFixture(fixtures.MonkeyPatch(
            f'{flags.__name__}.CONF', types.SimpleNamespace(
                magnum_capi=test_base.Options(not_promised=[]))))
        shown = {'uuid': UUID, 'cluster_template_id': 't',
                 'coe_version': 'v1', 'status': before}
        machines = {'version': 'v1'}
        test = a_test()
        test.management = object()
        test._clusters, test._of_others = [UUID], set()
        test._view = lambda uuid: bystanders.View(
            dict(shown), {}, {('KubeadmControlPlane', 'c'): {
                'metadata': {'name': 'c'}, 'spec': dict(machines)}})
        test.magnum = types.SimpleNamespace(clusters=types.SimpleNamespace(
            upgrade_cluster=upgrade_cluster,
            show_cluster=lambda uuid: {**shown, 'status': after}))
        test.assert_nodes_now = lambda *args: None
        test.assert_upgrade_refused(shown, {'uuid': 'newer'})

    def test_nothing_changes(self):
        self.refuse('UPDATE_COMPLETE', 'UPDATE_COMPLETE')

    def test_it_must_be_refused_and_for_its_template(self):
        for why, how in (
                ('not raised', {'raised': False}),
                ('UPDATE_FAILED', {'after': 'UPDATE_FAILED'}),
                # Magnum refuses it, whatever the driver does.
                ('_COMPLETE', {'before': 'UPDATE_FAILED',
                               'after': 'UPDATE_FAILED'}),
                ('spec of KubeadmControlPlane c has changed: version',
                 {'spec': {'version': 'v2'}})):
            error = self.assertRaises(AssertionError, self.refuse, **{
                'before': 'UPDATE_COMPLETE', 'after': 'UPDATE_COMPLETE',
                **how})
            self.assertIn(why, str(error))


class NewVersionTest(testtools.TestCase):

    def shown(self, believed, labels=(), **image):
        conf = types.SimpleNamespace(
            magnum_capi=test_base.Options(
                upgrade_image_id='newer', upgrade_labels=dict(labels),
                not_promised=[] if believed else [base.COMPLETE]))
        for module in ('operations', 'flags'):
            self.useFixture(fixtures.MonkeyPatch(
                f'magnum_capi_tempest.tests.common.{module}.CONF', conf))
        test = a_test()
        type(test).os_primary = types.SimpleNamespace(
            image_client_v2=types.SimpleNamespace(
                show_image=lambda wanted: {'id': wanted, **image}))
        return test.with_new_version({'name': 'n', 'coe_version': 'v1.2.3'})

    def test_that_of_the_image(self):
        for version in ('v1.3.0', '1.3.0'):
            for believed in (True, False):
                self.assertEqual(
                    {'name': 'n', 'coe_version': 'v1.3.0'},
                    self.shown(believed, kube_version=version))

    def test_that_of_a_label(self):
        # The image has what other drivers read.
        self.assertEqual(
            {'name': 'n', 'coe_version': 'v1.4.0'},
            self.shown(False, {'kube_tag': 'v1.4.0'}, kube_version='v1.3.0'))
        self.assertEqual(
            {'name': 'n', 'coe_version': 'v1.3.0'},
            self.shown(False, {'boot_volume_size': '20'},
                       kube_version='v1.3.0'))

    def test_image_that_does_not_tell(self):
        self.assertEqual({'name': 'n', 'coe_version': 'v1.2.3'},
                         self.shown(True))
        self.assertRaises(unittest.SkipTest, self.shown, False)
