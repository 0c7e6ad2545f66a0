# SPDX-License-Identifier: Apache-2.0

"""May a cluster be adopted, or given back?"""

import dataclasses
import types

import testtools

from magnum_capi.driver.adoption import rules
from magnum_capi.driver.desired import kept
from magnum_capi.driver.desired import names
from magnum_capi.driver.keys import credentials
from magnum_capi.driver.keys import state
from tests.unit.driver import objects

CLUSTER = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
STACK = 'one-a2b3c4d5e6f7'
VALUES = {'nodeGroups': [{'name': 'default-worker', 'machineCount': 1}]}
PIN = kept.ChartPin('openstack-cluster', 'https://charts.example', '0.16.0')


def group(uuid, name, role='worker', **fields):
    return types.SimpleNamespace(**{
        'uuid': uuid, 'name': name, 'role': role, 'is_default': True,
        'status': 'UPDATE_COMPLETE', 'image_id': 'image', **fields})


def found(**fields):
    return rules.Found(**{
        'cluster': types.SimpleNamespace(
            uuid=CLUSTER, user_id='u1', stack_id=STACK,
            status='CREATE_COMPLETE'),
        'template': types.SimpleNamespace(
            uuid='t', driver=rules.FORMER, image_id='image'),
        'groups': (group('m', 'default-master', 'master'),
                   group('w', 'default-worker')),
        'driver': rules.FORMER, 'namespace': 'magnum-p',
        'state': state.State(),
        'release': rules.Release('deployed', 3, 'openstack-cluster', '0.16.0',
                                 VALUES),
        'chart': rules.Chart('openstack-cluster', '0.16.0', PIN),
        'credential': rules.Credential('id-1', f'magnum-{CLUSTER}', 'geheim'),
        **fields})


class RefusalsTest(testtools.TestCase):

    def assert_refused(self, text, **fields):
        self.assertIn(text, '; '.join(rules.refusals(found(**fields))))

    def test_none(self):
        self.assertEqual([], rules.refusals(found()))

    def of_cluster(self, **fields):
        return types.SimpleNamespace(**{**vars(found().cluster), **fields})

    def of_template(self, driver):
        return types.SimpleNamespace(uuid='t', driver=driver,
                                     image_id='image')

    def test_one_of_this_driver(self):
        self.assert_refused('this driver created it', cluster=(
            self.of_cluster(stack_id=names.cluster(CLUSTER))))

    def test_one_that_is_adopted(self):
        memory = state.State(adopted=state.Adopted())
        self.assert_refused('already adopted', state=memory, template=(
            self.of_template(objects.as_read(names.DRIVER))))
        # An adoption that was interrupted before the switch.
        self.assertEqual([], rules.refusals(found(state=memory)))

    def test_one_of_a_third_driver(self):
        for memory in (state.State(), state.State(adopted=state.Adopted())):
            self.assert_refused('names the driver other', driver='other',
                                template=self.of_template('other'),
                                state=memory)

    def test_template_without_a_driver(self):
        # As Magnum before 23 has them; which driver it takes for it depends
        # on what is installed.
        self.assertEqual([], rules.refusals(found(
            driver=names.DRIVER, template=self.of_template(None))))

    def test_operation_that_is_going_on(self):
        for status in ('UPDATE_IN_PROGRESS', 'UPDATE_FAILED',
                       'DELETE_IN_PROGRESS', None):
            self.assert_refused(f'status is {status or ""}', cluster=(
                self.of_cluster(status=status)))
            self.assert_refused('node group default-worker is', groups=(
                group('w', 'default-worker', status=status),))

    def test_no_release(self):
        self.assert_refused('no release one-a2b3c4d5e6f7 in the namespace '
                            'magnum-p', release=None, chart=None)

    def test_release_that_is_not_deployed(self):
        for status in ('failed', 'pending-upgrade', 'uninstalling'):
            self.assert_refused(f'revision 4, is {status}',
                                release=rules.Release(status, 4))

    def test_other_chart(self):
        self.assert_refused(
            'chart is openstack-cluster, but [k8s_capi] names mine',
            chart=rules.Chart('mine', '', None))

    def test_other_version_of_a_folder(self):
        self.assert_refused(
            '0.16.0, but the one on this machine is 0.2.0',
            chart=rules.Chart('openstack-cluster', '0.2.0', None))

    def test_name_that_driver_and_chart_do_not_agree_on(self):
        for stack in ('aaa--b2c3', 'a.b-c', 'A-b', 'a' * 60):
            self.assert_refused('derive different names', cluster=(
                self.of_cluster(stack_id=stack)))

    def of_groups(self, *groups):
        release = dataclasses.replace(found().release, values={
            'nodeGroups': [{'name': rules.sanitized(one)} for one in groups]})
        return {'release': release, 'groups': tuple(
            group(f'w{number}', one) for number, one in enumerate(groups))}

    def test_names_that_are_one_in_kubernetes(self):
        self.assert_refused('node group A_b shares the name a-b',
                            **self.of_groups('A_b', 'a-b'))

    def test_name_that_a_chart_cuts(self):
        fits = 63 - len(STACK) - 1
        self.assertEqual([], rules.refusals(found(
            **self.of_groups('x' * fits))))
        self.assert_refused('more than 63', **self.of_groups('x' * (fits + 1)))

    def test_groups_that_only_one_of_them_knows(self):
        self.assert_refused('node group more is not in its release', groups=(
            *found().groups, group('x', 'more')))
        self.assert_refused('a node group default-worker, but Magnum does not',
                            groups=found().groups[:1])

    def test_credential(self):
        self.assert_refused('does not have the application credential',
                            credential=None)
        self.assert_refused('is invalid to Keystone', credential=(
            rules.Credential('id', 'name', 's', credentials.INVALID)))


class StateTest(testtools.TestCase):

    def test_what_is_remembered(self):
        made = rules.state(found())
        self.assertEqual({'w': 'default-worker'}, dict(made.adopted.groups))
        self.assertEqual((3, rules.FORMER), (
            made.adopted.revision, made.adopted.driver))
        self.assertEqual((PIN, VALUES), (made.kept.chart, made.kept.values))
        entry = made.record[0]
        self.assertEqual((f'magnum-{CLUSTER}', 'id-1', 'u1', 'adopted'), (
            entry.name, entry.id, entry.user_id, entry.stage))
        self.assertEqual({entry.name: 'geheim'}, dict(made.secrets))
        self.assertEqual(made, state.load(state.dump(made)))

    def test_other_node_groups_are_applied(self):
        made = rules.state(found(groups=(
            *found().groups, group('x', 'more', is_default=False))))
        self.assertEqual(frozenset('x'), made.applied)

    def test_images_of_a_cluster_that_was_upgraded(self):
        made = rules.state(found(groups=(
            group('w', 'default-worker', image_id='first'),)))
        self.assertEqual({'w': 'first'}, dict(made.adopted.images))

    def test_secret_is_in_no_text(self):
        self.assertNotIn('geheim', repr(found().credential))
        self.assertNotIn('geheim', repr(rules.state(found())))


class ChangesTest(testtools.TestCase):

    def test_there_and_back(self):
        one = found(groups=(group('w', 'default-worker', image_id='first'),))
        self.assertEqual((
            'Magnum, cluster template t: driver k8s_capi_helm_v1 -> '
            'k8s_capi_v1',
            'Magnum, node group w: image_id first -> image',
            'Kubernetes, Secret magnum-p/one-a2b3c4d5e6f7-magnum: written'),
            rules.changes(one, rules.state(one), undo=False))
        self.assertEqual((
            'Magnum, cluster template t: driver k8s_capi_v1 -> '
            'k8s_capi_helm_v1',
            'Magnum, node group w: image_id image -> first',
            'Kubernetes, Secret magnum-p/one-a2b3c4d5e6f7-magnum: removed'),
            rules.changes(one, rules.state(one), undo=True))


class KeptTest(testtools.TestCase):

    def adopted(self, **fields):
        return found(state=rules.state(found()), **fields)

    def test_nothing_was_changed(self):
        self.assertEqual([], rules.kept(self.adopted()))
        # One with a long history, of which each number is read anew.
        first, second = (
            found(release=dataclasses.replace(
                found().release, revision=int('300'))) for _ in range(2))
        self.assertEqual([], rules.kept(dataclasses.replace(
            second, state=rules.state(first))))

    def test_never_adopted(self):
        self.assertEqual(['it is not adopted'], rules.kept(found()))

    def test_another_revision(self):
        self.assertEqual(
            ['it was changed since it was adopted'],
            rules.kept(self.adopted(release=rules.Release('deployed', 4))))

    def test_another_credential(self):
        one = self.adopted()
        memory = dataclasses.replace(
            one.state, record=credentials.rotate(one.state.record) + (
                credentials.Entry('next', 'u1'),))
        self.assertEqual(['its credential was rotated since it was adopted'],
                         rules.kept(dataclasses.replace(one, state=memory)))

    def test_operation_that_is_going_on(self):
        one = self.adopted()
        one.cluster.status = 'UPDATE_IN_PROGRESS'
        self.assertIn('UPDATE_IN_PROGRESS', rules.kept(one)[0])
