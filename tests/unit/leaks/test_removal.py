# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import listing
from magnum_capi_tempest.leaks import model

MADE = (model.Made(model.CLUSTER, 'c1', 'mine', 'm.T.test_a', 'p1', 'u1'),
        model.Made(model.USER, 'u1', 'tempest-T', 'm.T', 'p1', 'u1'))


class LeftByTest(testtools.TestCase):

    def left(self, *things, **unread):
        return attribution.left_by(model.Snapshot(
            frozenset(things), frozenset(), unread), MADE)

    def test_the_commands_are_in_the_order_of_removal(self):
        left = self.left(
            model.Thing(model.USER, 'u1', 'tempest-T', user='u1'),
            model.Thing(model.TRUST, 't1', user='u1'),
            model.Thing(model.CLUSTER, 'c1', user='u1'))

        self.assertEqual(
            ['openstack coe cluster delete c1', 'openstack trust delete t1',
             'openstack user delete u1'], left.commands)
        for command in left.commands:
            self.assertIn(f'\n  {command}', str(left))

    def test_what_no_test_made_is_not_in_it(self):
        left = self.left(model.Thing(model.CLUSTER, 'c2', 'other', user='u2'))

        self.assertEqual([], left.commands)
        self.assertTrue(left.clean)

    def test_what_cannot_be_listed_is_no_all_clear(self):
        self.assertFalse(self.left(**{model.CLUSTER: 'no answer'}).clean)
        self.assertTrue(self.left(**{model.TRUST: 'not for members'}).clean)

    def test_every_kind_has_a_command(self):
        objects = (model.OBJECT, 'Secret ns/a name')
        for kind, ident in (objects, *((kind, "a'b") for kind in (
                *model.REAL, model.CLUSTER, model.TEMPLATE, model.CREDENTIAL,
                model.TRUST, model.USER, model.PROJECT, model.KEYPAIR))):
            self.assertRegex(model.Thing(kind, ident).removal,
                             '^(openstack|kubectl) .* delete|^kubectl delete')

    def test_an_object_of_the_management_cluster(self):
        self.assertEqual(
            'kubectl delete --namespace ns Secret kubeconfig',
            model.Thing(model.OBJECT, 'Secret ns/kubeconfig').removal)


class KeypairsTest(testtools.TestCase):

    def test_names(self):
        found = listing.keypairs(lambda service, path: {
            'keypairs': [{'keypair': {'name': 'k'}}]})

        self.assertEqual({model.Thing(model.KEYPAIR, 'k')}, found.things)
