# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.leaks import attribution
from magnum_capi_tempest.leaks import model

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
CREDENTIAL = model.Thing(model.CREDENTIAL, 'a', 'cred', user='u')


def snapshot(*things, kinds=None):
    return model.Snapshot(
        frozenset(things), frozenset(
            {t.kind for t in things} if kinds is None else kinds))


def made(ident=UUID, name='tempest-cluster-1234567', test='m.T.test_a',
         kind=model.CLUSTER, **fields):
    return model.Made(kind, ident, name, test, **fields)


class LeakedTest(testtools.TestCase):

    def test_what_was_there_before_is_no_leak(self):
        before = snapshot(CREDENTIAL)

        self.assertEqual([], attribution.leaked(before, before))

    def test_what_got_another_name_is_no_leak(self):
        after = snapshot(model.Thing(model.CREDENTIAL, 'a', 'renamed'))

        self.assertEqual([], attribution.leaked(snapshot(CREDENTIAL), after))

    def test_the_leak_names_owner_and_test(self):
        leak, = attribution.leaked(
            snapshot(kinds=[model.CREDENTIAL]), snapshot(CREDENTIAL),
            [made(user='u', project='p')])

        self.assertEqual(
            'application credential cred (a), owner: user u, '
            'left by: m.T.test_a', str(leak))

    def test_kinds_that_could_not_be_read_once_are_not_compared(self):
        nothing = snapshot()

        self.assertEqual([], attribution.leaked(nothing, snapshot(CREDENTIAL)))
        self.assertEqual([], attribution.leaked(snapshot(CREDENTIAL), nothing))

    def test_they_are_named(self):
        before = model.Snapshot(unread={'trust': 'refused'})

        self.assertEqual(('trust could not be listed: refused',),
                         attribution.left(before, snapshot()).unknown)

    def test_what_was_made_and_is_there(self):
        thing = model.Thing(model.CLUSTER, UUID)

        leak, = attribution.still_there(snapshot(thing, CREDENTIAL), [made()])

        self.assertEqual((thing, 'm.T.test_a'), (leak.thing, leak.test))


class AttributedTest(testtools.TestCase):

    def owner(self, thing, *makers):
        return attribution.attributed(thing, makers).test

    def test_by_its_own_id(self):
        self.assertEqual('m.T.test_a', self.owner(
            model.Thing(model.CLUSTER, UUID), made('x', test='other'),
            made()))

    def test_by_names_that_drivers_make_of_a_cluster(self):
        for ident in (f'Secret n/{UUID}-x',
                      f'Cluster n/c{UUID.replace("-", "")}',
                      'Machine n/tempest-cluster-1234567-abc',
                      'Secret n/stack-1-ca'):
            self.assertEqual('m.T.test_a', self.owner(
                model.Thing('object', ident), made(stack_id='stack-1')))

    def test_a_short_name_is_like_too_many(self):
        self.assertEqual('', self.owner(
            model.Thing('object', 'Secret n/alpha'), made(name='a')))

    def test_by_the_project_when_it_has_no_user(self):
        self.assertEqual('m.T.test_a', self.owner(
            model.Thing('port', '1', project='p'), made(project='p')))

    def test_by_a_namespace_that_is_named_after_the_project(self):
        self.assertEqual('m.T.test_a', self.owner(
            model.Thing('object', 'Secret magnum-0b4e0e79/x'),
            made(project='0b4e0e79')))

    def test_all_tests_that_may_have_done_it(self):
        self.assertEqual('one of m.T.test_a, m.T.test_b', self.owner(
            CREDENTIAL, made(user='u'), made(user='u', test='m.T.test_b')))

    def test_nobody(self):
        leak = attribution.attributed(model.Thing('port', '1'), [made()])

        self.assertEqual('', leak.test)
        self.assertIn('unknown', str(leak))
