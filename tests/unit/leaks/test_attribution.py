# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import model

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
CREDENTIAL = model.Thing(model.CREDENTIAL, 'a', 'cred', user='u')
EVERY_KIND = (*model.REAL, model.CLUSTER, model.TEMPLATE, model.CREDENTIAL,
              model.TRUST, model.USER, model.PROJECT, model.KEYPAIR)


def snapshot(*things, **unread):
    return model.Snapshot(frozenset(things), unread)


def made(ident=UUID, name='tempest-cluster-1234567', test='m.T.test_a',
         kind=model.CLUSTER, **fields):
    return model.Made(kind, ident, name, test, **fields)


class AttributedTest(testtools.TestCase):

    def test_by_which_test(self):
        mine = made(user='u', project='0b4e0e79')
        named = made(stack_id='stack-1')
        for thing, makers, test in (
                # by its own id, whoever else may be meant
                (model.Thing(model.CLUSTER, UUID),
                 (made('x', test='other', user='u'), mine), 'm.T.test_a'),
                # by names that drivers derive from a cluster
                *((model.Thing(model.OBJECT, ident), (named,), 'm.T.test_a')
                  for ident in (f'Secret n/{UUID}-x',
                                f'Cluster n/c{UUID.replace("-", "")}',
                                'Machine n/tempest-cluster-1234567-abc',
                                'Secret n/stack-1-ca')),
                (model.Thing('volume', '1', about=UUID), (named,),
                 'm.T.test_a'),
                # a short name is like too many others
                (model.Thing(model.OBJECT, 'Secret n/alpha'),
                 (made(name='a'),), ''),
                # by user, project, or a namespace named after the project
                (CREDENTIAL, (mine,), 'm.T.test_a'),
                (model.Thing('port', '1', project='0b4e0e79'), (mine,),
                 'm.T.test_a'),
                (model.Thing(model.OBJECT, 'Secret magnum-0b4e0e79/x'),
                 (mine,), 'm.T.test_a'),
                (CREDENTIAL, (mine, made(user='u', test='m.T.test_b')),
                 'one of m.T.test_a, m.T.test_b'),
                (model.Thing('port', '1'), (mine,), '')):
            self.assertEqual(
                test, attribution.attributed(thing, makers).test, thing)

    def test_it_names_owner_and_test(self):
        for makers, said in (
                ([made(user='u')], 'owner: user u, left by: m.T.test_a'),
                ([], 'owner: user u, left by: unknown, no test recorded it')):
            self.assertEqual(f'application credential cred (a), {said}', str(
                attribution.attributed(CREDENTIAL, makers)))


class LeakedTest(testtools.TestCase):

    def test_what_is_new(self):
        nothing = snapshot()
        unread = snapshot(**{model.CREDENTIAL: 'refused'})
        renamed = snapshot(model.Thing(model.CREDENTIAL, 'a', 'renamed'))
        for before, after, count in (
                (nothing, snapshot(CREDENTIAL), 1),
                (snapshot(CREDENTIAL), snapshot(CREDENTIAL), 0),
                (snapshot(CREDENTIAL), renamed, 0),
                # A kind that was not read once is not compared.
                (unread, snapshot(CREDENTIAL), 0),
                (unread, snapshot(CREDENTIAL, **unread.unread), 0),
                (snapshot(CREDENTIAL), unread, 0)):
            self.assertEqual(
                count, len(attribution.leaked(before, after)), (before, after))

    def test_what_was_made_and_is_there(self):
        thing = model.Thing(model.CLUSTER, UUID)

        leak, = attribution.still_there(snapshot(thing, CREDENTIAL), [made()])

        self.assertEqual((thing, 'm.T.test_a'), (leak.thing, leak.test))


class LeftTest(testtools.TestCase):

    made = (made('c1', 'mine', project='p1', user='u1'),
            made('u1', 'tempest-T', kind=model.USER, user='u1'))

    def left(self, *things, before=None, **unread):
        return attribution.left(
            snapshot(*things, **unread), self.made, before)

    def test_commands_are_in_the_order_of_removal(self):
        left = self.left(
            model.Thing(model.USER, 'u1', 'tempest-T', user='u1'),
            model.Thing(model.TRUST, 't1', user='u1'),
            model.Thing(model.CLUSTER, 'c1', user='u1'))

        self.assertEqual(
            ['openstack coe cluster delete c1', 'openstack trust delete t1',
             'openstack user delete u1'], left.commands)
        for command in left.commands:
            self.assertIn(f'\n  {command}', str(left))

    def test_every_kind_has_a_command(self):
        for kind in EVERY_KIND:
            self.assertRegex(model.Thing(kind, "a'b").removal,
                             "^openstack .* delete .*'a'\"'\"'b'$")
        self.assertEqual(
            "kubectl delete --namespace ns Secret 'a name'",
            model.Thing(model.OBJECT, 'Secret ns/a name').removal)

    def test_what_no_test_made_counts_only_in_a_cloud_of_its_own(self):
        other = model.Thing(model.CLUSTER, 'c2', 'other', user='u2')

        for before, count in ((None, 0), (snapshot(), 1)):
            left = self.left(other, before=before)
            self.assertEqual(count, len(left.leaks))
            self.assertEqual(not count, left.clean)

    def test_what_cannot_be_listed_is_no_all_clear(self):
        for before, kind, clean in (
                (None, model.CLUSTER, False),
                # no test made one
                (None, model.TRUST, True),
                (snapshot(), model.TRUST, False),
                # it never could be
                (snapshot(port='refused'), 'port', True)):
            left = self.left(before=before, **{kind: 'no answer'})

            self.assertEqual(clean, left.clean, kind)
            self.assertEqual(clean, 'Leaks: none' in str(left))
            self.assertIn(f'{kind} could not be listed: no answer', str(left))
