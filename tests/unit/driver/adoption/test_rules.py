# SPDX-License-Identifier: Apache-2.0

"""May a cluster be adopted, or given back?"""

import dataclasses
import types

import testtools

from magnum_capi.driver.adoption import rules
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import state
from tests.unit.driver import objects

CLUSTER = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
STACK = 'one-a2b3c4d5e6f7'
VALUES = {'nodeGroups': [{'name': 'default-worker', 'machineCount': 1}]}
PIN = charts.Chart('openstack-cluster', 'https://charts.example', '0.16.0')


def group(uuid, name, role='worker', **fields):
    return types.SimpleNamespace(**{
        'uuid': uuid, 'name': name, 'role': role, 'is_default': True,
        'status': 'UPDATE_COMPLETE', 'image_id': 'image', **fields})


def found(**fields):
    return rules.Candidate(**{
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

    def test_clusters_that_are_somebody_elses_or_at_work(self):
        adopted = state.State(adopted=state.Adopted())
        ours = self.of_template(objects.as_read(names.DRIVER))
        for text, fields in (
                ('this driver created it', {
                    'cluster': self.of_cluster(
                        stack_id=names.cluster(CLUSTER))}),
                ('already adopted', {'state': adopted, 'template': ours}),
                *(('names the driver other', {
                    'driver': 'other', 'state': memory,
                    'template': self.of_template('other')})
                  for memory in (state.State(), adopted)),
                *((f'status is {status or ""}', {
                    'cluster': self.of_cluster(status=status)})
                  for status in ('UPDATE_IN_PROGRESS', 'UPDATE_FAILED',
                                 'DELETE_IN_PROGRESS', None)),
                *(('node group default-worker is', {'groups': (
                    group('w', 'default-worker', status=status),)})
                  for status in ('UPDATE_IN_PROGRESS', None))):
            self.assert_refused(text, **fields)
        # An adoption that was interrupted before the switch.
        self.assertEqual([], rules.refusals(found(state=adopted)))

    def test_template_without_a_driver(self):
        # As Magnum before 23 has them; which driver it takes for it depends
        # on what is installed.
        self.assertEqual([], rules.refusals(found(
            driver=names.DRIVER, template=self.of_template(None))))

    def test_releases_and_charts(self):
        for text, fields in (
                ('no release one-a2b3c4d5e6f7 in the namespace magnum-p', {
                    'release': None, 'chart': None}),
                *((f'revision 4, is {status}', {
                    'release': rules.Release(status, 4)})
                  for status in ('failed', 'pending-upgrade',
                                 'uninstalling')),
                ('chart is openstack-cluster, but [k8s_capi] names mine', {
                    'chart': rules.Chart('mine', '', None)}),
                ('0.16.0, but the one on this machine is 0.2.0', {
                    'chart': rules.Chart(
                        'openstack-cluster', '0.2.0', None)})):
            self.assert_refused(text, **fields)

    def of_groups(self, *groups):
        release = dataclasses.replace(found().release, values={
            'nodeGroups': [{'name': rules.sanitized(one)} for one in groups]})
        return {'release': release, 'groups': tuple(
            group(f'w{number}', one) for number, one in enumerate(groups))}

    def test_names(self):
        fits = 63 - len(STACK) - 1
        self.assertEqual([], rules.refusals(found(
            **self.of_groups('x' * fits))))
        self.assert_refused('more than 63', **self.of_groups('x' * (fits + 1)))
        self.assert_refused('node group A_b shares the name a-b',
                            **self.of_groups('A_b', 'a-b'))
        for stack in ('aaa--b2c3', 'a.b-c', 'A-b', 'a' * 60):
            self.assert_refused('derive different names', cluster=(
                self.of_cluster(stack_id=stack)))

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
        self.assertEqual(
            (PIN, VALUES), (made.desired.chart, made.desired.values))
        entry = made.record[0]
        self.assertEqual((f'magnum-{CLUSTER}', 'id-1', 'u1', 'applied'), (
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

    def test_why_one_cannot_be_given_back(self):
        one = self.adopted()
        rotated = dataclasses.replace(
            one.state, record=credentials.rotate(one.state.record) + (
                credentials.Entry('next', 'u1'),))
        self.assertEqual([], rules.return_refusals(one))
        for given, why in (
                (found(), 'it is not adopted'),
                (self.adopted(release=rules.Release('deployed', 4)),
                 'it was changed since it was adopted'),
                (dataclasses.replace(one, state=rotated),
                 'its credential was rotated since it was adopted'),
                (self.adopted(cluster=types.SimpleNamespace(**{
                    **vars(one.cluster), 'status': 'UPDATE_IN_PROGRESS'})),
                 'UPDATE_IN_PROGRESS')):
            said, = rules.return_refusals(given)
            self.assertIn(why, said)
