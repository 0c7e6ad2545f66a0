# SPDX-License-Identifier: Apache-2.0

"""What happens between two writes: a process dies, or loses the lock.

Magnum's rows have no transaction over several of them, and no version; the
driver's state has. Each story fails in one such window.
"""

import contextlib

from tests.lib import doors
from tests.lib import magnum_api
from tests.unit.driver.model import base
from tests.unit.driver.model import machine
from tests.unit.driver.model import oracle

_SAVE = 'save '

#: What an upgrade changes in the row of a cluster.
_OF_UPGRADES = ('cluster_template_id', 'status')


class WindowsTest(base.TestCase):

    def _begin(self):
        """A cluster of alice, with a second node group."""
        model = self.new_model()
        model.w.api.watchable = True
        model._create('a', 'alice', 2, 0, {}, {}, 60, None, 0)
        model.work(8, 0)
        model.add_group(0, 'one', 2, 'alice', None, {}, None, 0)
        model.work(8, 0)
        self.assertEqual('UPDATE_COMPLETE', self._row(model)['status'])
        return model

    def _row(self, model):
        return next(iter(model.w.magnum.clusters.values()))

    def _group(self, model, name):
        return next(group for group in model.w.groups(
            self._row(model)['uuid']) if group['name'] == name)

    def _poll(self, model, times=6):
        """Controllers and all conductors work, and no user does anything."""
        for number in range(times):
            for _round in range(3):
                model.w.controllers.round()
            model.w.clock.sleep(60)
            with model.w.as_conductor(number % 3) as handler:
                handler.sync_cluster_health_status()
                handler.sync_cluster_status()

    @contextlib.contextmanager
    def _request(self, model, name=None, user='bob', conductor=1):
        """(conductor, context, row of the cluster, that of a group)."""
        context = model.w.context(user)
        row = model.w.row(context, self._row(model)['uuid'])
        group = model._group(row, name)
        with model.w.as_conductor(conductor) as handler:
            yield handler, context, row, group

    def test_upgrade_of_which_some_rows_are_saved(self):
        for number in range(4):
            with self.subTest(saved=number + 1):
                model = self._begin()
                model.upgrade(0, 'bob', None, machine.Disturbance(
                    doors.ROWS, 'crash-after', number, 1, _SAVE), 1)
                self._poll(model, 15)
                self.assertIn(self._row(model)['status'], (
                    'CREATE_COMPLETE', 'UPDATE_COMPLETE'))
                model.quiet()

    def test_accepted_upgrade_whose_next_step_is_refused(self):
        # The process dies before it has noted that Helm has accepted it, and
        # Helm records the refusal of the next one.
        model = self._begin()
        model.upgrade(0, 'bob', None, None, 1)
        new = self._row(model)['cluster_template_id']
        with model._disturbed(machine.Disturbance(
                doors.HELM, 'crash-after', 0, 1)):
            model._check(0)
        last = max((secret for secret in model.w.api.list(
            'Secret', oracle.namespace()) if 'helm' in str(
                secret.get('type'))),
            key=lambda secret: int(secret['metadata']['labels']['version']))
        metadata = last['metadata']
        model.w.api.write({**last, 'kind': 'Secret', 'metadata': {
            **metadata, 'name': f'{metadata["name"]}0', 'labels': {
                **metadata['labels'], 'status': 'failed', 'version': '100'}}})

        for _time in range(6):
            with model._disturbed(machine.Disturbance(
                    doors.HELM, 'denied', 0, 1)):
                model._check(1)
            model.w.clock.sleep(61)

        row = self._row(model)
        self.assertEqual(('UPDATE_FAILED', new), (
            row['status'], row['cluster_template_id']), row['status_reason'])

    def test_refused_upgrade_by_the_next_owner(self):
        # Keystone refuses the credential of a user who is gone, so a new one
        # is made, and its owner saved, before the upgrade is recorded.
        # Until all requests for the driver's state are answered.
        answers = 0
        for number in range(1, 20):
            with self.subTest(answered=number):
                model = self._begin()
                before = dict(self._row(model))
                model.user_disabled('alice')
                uuid = model.w.template('t', 'ubuntu-35')
                with self._request(model) as (handler, context, row, _):
                    model.w.doors.faults.append(doors.Fault(
                        doors.KUBE, 'refused', number, 40, text='-magnum'))
                    try:
                        handler.cluster_upgrade(
                            context, row,
                            model.w.magnum.get_template(context, uuid), None,
                            row.default_ng_worker)
                    except magnum_api.NotSupported:
                        answers = number
                    else:
                        break
                now = self._row(model)
                self.assertEqual(
                    [before[key] for key in _OF_UPGRADES],
                    [now[key] for key in _OF_UPGRADES])
        self.assertGreater(answers, 3)

    def test_refused_upgrade_to_the_present_template(self):
        model = self._begin()
        model.operator_changes_options('az1', None, None)
        key = oracle.node_group(self._group(model, 'one')['uuid'])

        def zone():
            values = oracle.Sight(model.w, self._row(model)['uuid']).values()
            return next(group.get('failureDomain') for group
                        in values['nodeGroups'] if group['name'] == key)
        self.assertIsNone(zone())
        with contextlib.suppress(magnum_api.MagnumException):
            with self._request(model) as (handler, context, row, _):
                model.w.doors.faults.append(doors.Fault(
                    doors.ROWS, 'crash', text=_SAVE))
                handler.cluster_upgrade(
                    context, row, model.w.magnum.get_template(
                        context, row.cluster_template_id), None,
                    row.default_ng_worker)

        # Magnum says UPDATE_IN_PROGRESS before it calls the driver.
        model.add_group(0, 'two', 1, 'bob', None, {}, None, 1)
        self._poll(model)

        self.assertIsNone(zone())

    def test_node_count_whose_conductor_dies(self):
        for number in range(2):
            with self.subTest(saved=number + 1):
                model = self._begin()
                model.resize(0, 1, 3, 'bob', machine.Disturbance(
                    doors.ROWS, 'crash-after', number, 1, _SAVE), 1, True)
                self._poll(model, 12)
                model.quiet()

    def _fails(self, model, name, act, pause=0):
        """A job runs a helm that fails, while another request is made.

        :param pause: seconds for which the process of the job stands still.
        """
        with self._request(model, name, conductor=0) as (
                handler, context, row, group):
            model.w.doors.faults.append(doors.Fault(doors.HELM, 'crash'))
            handler.cluster_resize(context, row, 3, [], group)
        # The dead process has the lock, until it is seen to be dead.
        model.check(0, None)
        model.w.clock.sleep(61)

        def meanwhile():
            model.w.clock.now += pause
            act()
        model.w.doors.faults.append(doors.Fault(
            doors.HELM, 'meanwhile', act=meanwhile, then='denied'))
        model._check(0)
        self.assertEqual([], model.w.doors.faults)

    def test_resize_while_another_process_fails(self):
        model = self._begin()

        def resize():
            with self._request(model, 'default-worker', 'bob') as (
                    handler, context, row, group):
                handler.cluster_update(context, row, 1)
        self._fails(model, 'default-worker', resize, 61)
        self._poll(model)
        group = self._group(model, 'default-worker')
        self.assertEqual('UPDATE_COMPLETE', self._row(model)['status'])
        self.assertEqual(group['node_count'], len(oracle.Sight(
            model.w, self._row(model)['uuid']).machines_of(group)))

    def test_group_that_is_deleted_while_another_process_fails(self):
        model = self._begin()

        def remove():
            with self._request(model, 'one') as (
                    handler, context, row, group):
                handler.nodegroup_delete(context, row, group)
        self._fails(model, 'one', remove)
        self._poll(model)
        self.assertEqual('UPDATE_COMPLETE', self._row(model)['status'])
        self.assertNotIn('one', [group['name'] for group in model.w.groups(
            self._row(model)['uuid'])])

    def test_refused_node_group_during_an_upgrade(self):
        # Magnum says UPDATE_FAILED, and its status job stops.
        model = self._begin()
        model.upgrade(0, 'bob', None, None, 1)
        model.work(2, 0)
        with self._request(model) as (handler, context, row, _):
            new = model.w.new_group(
                context, row, 'two', flavor_id='none-like-this')
            self.assertRaises(magnum_api.MagnumException,
                              handler.nodegroup_create, context, row, new)
        self.assertEqual('UPDATE_FAILED', self._row(model)['status'])
        self._poll(model, 12)
        row = self._row(model)
        self.assertEqual(
            ('UPDATE_COMPLETE', 'v1.35.1'), (row['status'],
                                             row['coe_version']))
        self.assertEqual('CREATE_FAILED', self._group(model, 'two')['status'])

    def test_new_labels_and_taints_of_a_node_group(self):
        model = self._begin()
        taint = {'key': 'only', 'value': 'gpu', 'effect': 'NoSchedule'}
        with self._request(model, 'one') as (handler, context, row, group):
            group.node_labels = {'tier': 'gold'}
            group.node_taints = [taint]
            handler.nodegroup_update(context, row, group)
        self._poll(model)
        group = self._group(model, 'one')
        self.assertEqual('UPDATE_COMPLETE', group['status'])
        values = next(one for one in oracle.Sight(
            model.w, self._row(model)['uuid']).values()['nodeGroups']
            if one['name'] == oracle.node_group(group['uuid']))
        self.assertEqual('gold', values['nodeLabels']['tier'])
        self.assertEqual([taint], values['kubeadmConfigSpec'][
            'joinConfiguration']['nodeRegistration']['taints'])

    def test_lost_node_group_whose_nodes_cannot_join(self):
        model = self._begin()
        model.upgrade(0, 'bob', None, None, 1)
        model.quiet()
        with self._request(model) as (handler, context, row, _):
            new = model.w.new_group(
                context, row, 'two', image_id='ubuntu-34')
            model.w.doors.faults.append(doors.Fault(
                doors.ROWS, 'crash-after', text='create '))
            handler.nodegroup_create(context, row, new)
        self._poll(model, 2)
        self.assertEqual('CREATE_FAILED', self._group(model, 'two')['status'])
        self.assertIn('nodes can only join', self._row(model)[
            'status_reason'])
