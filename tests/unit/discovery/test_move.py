# SPDX-License-Identifier: Apache-2.0

from unittest import mock

from openstack import exceptions
import requests
import testtools

from magnum_capi.discovery import move

OLD, NEW = 'old_v1', 'k8s_capi_v1'


def template(uuid, **fields):
    return {'uuid': uuid, 'name': f'name-{uuid}', 'driver': OLD,
            'image_id': 'i', 'public': True, 'hidden': False,
            'project_id': 'p', 'labels': {}, **fields}


def cluster(uuid, of):
    return {'uuid': uuid, 'name': f'name-{uuid}', 'cluster_template_id': of}


def plan(templates, *clusters):
    return move.plan(templates, clusters, OLD, NEW,
                     lambda name, value: 'no' if name == 'x' else None, True)


class PlanTest(testtools.TestCase):

    def test_public_ones_are_translated(self):
        [step] = plan([template('a', labels={'x': '1', 'y': '2'})]).steps
        self.assertEqual('make name-a-k8s_capi_v1, hide it', step.text)
        self.assertEqual('x', step.lost)
        self.assertEqual(
            {'name': 'name-a-k8s_capi_v1', 'driver': NEW, 'image_id': 'i',
             'public': True, 'labels': {'y': '2'}}, step.new.template)

    def test_private_ones_are_their_projects(self):
        [step] = plan([template('a', public=False)]).steps
        self.assertEqual('private: project p moves it', step.text)

    def test_what_was_made_is_not_made_again(self):
        made = template('b', name='name-a-k8s_capi_v1', driver=NEW)
        [step] = plan([template('a'), made]).steps
        self.assertEqual('hide it', step.text)

    def test_one_of_that_name_that_nobody_sees_is_none(self):
        for other in ({'public': False}, {'driver': 'other'}):
            made = template('b', **{
                'name': 'name-a-k8s_capi_v1', 'driver': NEW, **other})
            self.assertIn('make name-a', plan(
                [template('a'), made]).steps[0].text)

    def test_clusters_of_hidden_templates_are_left(self):
        found = plan([template('a', hidden=True), template('b', driver=NEW),
                      template('c', driver=None)],
                     cluster('1', 'a'), cluster('2', 'b'), cluster('3', 'c'))
        self.assertEqual(((), (('1', 'name-1', 'name-a'),)),
                         (found.steps, found.clusters))


class CarryOutTest(testtools.TestCase):

    def magnum(self, post=201):
        refused = requests.Response()
        refused.status_code = post
        good = requests.Response()
        good.status_code = 200
        return mock.Mock(post=mock.Mock(return_value=refused),
                         patch=mock.Mock(return_value=good))

    def test_hidden_after_the_new_one_is_there(self):
        magnum = self.magnum()
        [step] = plan([template('a')]).steps
        move.carry_out(magnum, step)
        self.assertEqual(['post', 'patch'],
                         [call[0] for call in magnum.method_calls])

    def test_the_old_one_stays_if_there_is_no_new_one(self):
        magnum = self.magnum(post=400)
        [step] = plan([template('a')]).steps
        self.assertRaises(exceptions.HttpException,
                          move.carry_out, magnum, step)
        magnum.patch.assert_not_called()

    def test_one_with_clusters_stays_visible(self):
        magnum = self.magnum()
        [step] = plan([template('a')], cluster('1', 'a')).steps
        self.assertEqual(
            'make name-a-k8s_capi_v1, hide it after its 1 clusters', step.text)
        move.carry_out(magnum, step)
        magnum.post.assert_called_once()
        magnum.patch.assert_not_called()

    def test_private_ones_are_not_touched(self):
        magnum = self.magnum()
        [step] = plan([template('a', public=False)]).steps
        move.carry_out(magnum, step)
        self.assertEqual([], magnum.method_calls)
