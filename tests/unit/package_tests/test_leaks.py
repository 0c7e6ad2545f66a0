# SPDX-License-Identifier: Apache-2.0

import os

import fixtures
import testtools

from magnum_capi_tempest.evidence import leaks as reads
from magnum_capi_tempest.tests.common import leaks
from magnum_capi_tempest.tests.common import ledger

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
CREDENTIAL = reads.Thing(reads.CREDENTIAL, 'a', 'cred', user='u')


def snapshot(*things, kinds=None):
    return reads.Snapshot(
        frozenset(things), frozenset(
            {t.kind for t in things} if kinds is None else kinds))


def made(ident=UUID, name='tempest-cluster-1234567', test='m.T.test_a',
         kind=reads.CLUSTER, **fields):
    return leaks.Made(kind, ident, name, test, **fields)


class LeakedTest(testtools.TestCase):

    def test_what_was_there_before_is_no_leak(self):
        before = snapshot(CREDENTIAL)

        self.assertEqual([], leaks.leaked(before, before))

    def test_what_got_another_name_is_no_leak(self):
        after = snapshot(reads.Thing(reads.CREDENTIAL, 'a', 'renamed'))

        self.assertEqual([], leaks.leaked(snapshot(CREDENTIAL), after))

    def test_the_leak_names_owner_and_test(self):
        leak, = leaks.leaked(
            snapshot(kinds=[reads.CREDENTIAL]), snapshot(CREDENTIAL),
            [made(user='u', project='p')])

        self.assertEqual(
            'application credential cred (a), owner: user u, '
            'left by: m.T.test_a', str(leak))

    def test_kinds_that_could_not_be_read_once_are_not_compared(self):
        nothing = snapshot()

        self.assertEqual([], leaks.leaked(nothing, snapshot(CREDENTIAL)))
        self.assertEqual([], leaks.leaked(snapshot(CREDENTIAL), nothing))

    def test_they_are_named(self):
        before = reads.Snapshot(unread={'trust': 'refused'})

        self.assertEqual(['trust could not be listed: refused'],
                         leaks.not_compared(before, snapshot()))

    def test_what_was_made_and_is_there(self):
        thing = reads.Thing(reads.CLUSTER, UUID)

        leak, = leaks.still_there(snapshot(thing, CREDENTIAL), [made()])

        self.assertEqual((thing, 'm.T.test_a'), (leak.thing, leak.test))


class AttributedTest(testtools.TestCase):

    def owner(self, thing, *makers):
        return leaks.attributed(thing, makers).test

    def test_by_its_own_id(self):
        self.assertEqual('m.T.test_a', self.owner(
            reads.Thing(reads.CLUSTER, UUID), made('x', test='other'),
            made()))

    def test_by_names_that_drivers_make_of_a_cluster(self):
        for ident in (f'Secret n/{UUID}-x',
                      f'Cluster n/c{UUID.replace("-", "")}',
                      'Machine n/tempest-cluster-1234567-abc',
                      'Secret n/stack-1-ca'):
            self.assertEqual('m.T.test_a', self.owner(
                reads.Thing('object', ident), made(stack_id='stack-1')))

    def test_a_short_name_is_like_too_many(self):
        self.assertEqual('', self.owner(
            reads.Thing('object', 'Secret n/alpha'), made(name='a')))

    def test_by_the_project_when_it_has_no_user(self):
        self.assertEqual('m.T.test_a', self.owner(
            reads.Thing('port', '1', project='p'), made(project='p')))

    def test_by_a_namespace_that_is_named_after_the_project(self):
        self.assertEqual('m.T.test_a', self.owner(
            reads.Thing('object', 'Secret magnum-0b4e0e79/x'),
            made(project='0b4e0e79')))

    def test_all_tests_that_may_have_done_it(self):
        self.assertEqual('one of m.T.test_a, m.T.test_b', self.owner(
            CREDENTIAL, made(user='u'), made(user='u', test='m.T.test_b')))

    def test_nobody(self):
        leak = leaks.attributed(reads.Thing('port', '1'), [made()])

        self.assertEqual('', leak.test)
        self.assertIn('unknown', str(leak))


class LedgerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'new')

    def test_what_is_written_is_read(self):
        ledger.append(self.folder, made())
        ledger.append(self.folder, made('y', user='ü'))

        self.assertEqual([made(), made('y', user='ü')],
                         ledger.read(self.folder))

    def test_half_a_line_of_a_killed_worker(self):
        ledger.append(self.folder, made())
        with open(os.path.join(self.folder, ledger.NAME), 'a') as file:
            file.write('{"kind": "clu')

        self.assertEqual([made()], ledger.read(self.folder))

    def test_no_ledger(self):
        self.assertEqual([], ledger.read(self.folder))

    def test_only_its_owner_reads_it(self):
        ledger.append(self.folder, made())

        path = os.path.join(self.folder, ledger.NAME)
        self.assertEqual(0o600, os.stat(path).st_mode & 0o777)
