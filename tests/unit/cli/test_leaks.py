# SPDX-License-Identifier: Apache-2.0

import io
import os
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest.leaks import files
from magnum_capi_tempest.leaks import model

OLD = model.Thing(model.TRUST, 'old')
MINE = model.Thing(model.CLUSTER, 'mine', 'name', 'p', 'u')
OTHERS = model.Thing(model.CLUSTER, 'others', user='v')


def snapshot(*things, **unread):
    return model.Snapshot(
        frozenset(things), frozenset((model.TRUST, model.CLUSTER)), unread)


class CommandTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(fixtures.TempDir()).path
        self.file = os.path.join(self.folder, 'before')
        self.out = io.StringIO()
        self.now = snapshot(OLD)
        self.asked = []
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.leaks.take', self.take))

    def take(self, *args, **kwargs):
        self.asked.append((args, kwargs))
        return self.now

    def run_command(self, command, *argv):
        app = types.SimpleNamespace(
            stdout=self.out, options=types.SimpleNamespace(debug=False))
        command = command(app, None)
        return command.run(command.get_parser('x').parse_args(argv))

    def leaks(self, *argv):
        return self.run_command(leaks.Leaks, self.file, *argv)

    def before(self):
        self.assertFalse(self.run_command(leaks.Snapshot, self.file))

    def test_nothing_is_left(self):
        self.before()

        self.assertEqual(0, self.leaks())
        self.assertEqual('Leaks: none\n', self.out.getvalue())

    def test_what_is_left_is_a_failure(self):
        self.before()
        self.now = snapshot(OLD, MINE)

        self.assertEqual(1, self.leaks())
        self.assertIn('cluster name (mine), owner: user u, project p',
                      self.out.getvalue())

    def test_what_others_made_meanwhile_does_not_count(self):
        self.before()
        self.now = snapshot(OLD, OTHERS)
        files.append_made(self.folder, model.Made(
            model.CLUSTER, 'mine', 'name', 'm.T.test_a'))

        self.assertEqual(0, self.leaks('--artefacts', self.folder))
        self.assertIn('not from a test of this run', self.out.getvalue())
        self.assertEqual(
            1, self.leaks('--artefacts', self.folder, '--strict'))

    def test_the_test_is_named(self):
        self.before()
        self.now = snapshot(MINE, OTHERS)
        files.append_made(self.folder, model.Made(
            model.CLUSTER, 'mine', 'name', 'm.T.test_a'))

        self.assertEqual(1, self.leaks('--artefacts', self.folder))
        self.assertIn('1 left behind', self.out.getvalue())
        self.assertIn('left by: m.T.test_a', self.out.getvalue())

    def test_what_was_not_compared_is_said(self):
        self.before()
        self.now = snapshot(port='refused')

        self.leaks()

        self.assertIn('port could not be listed: refused',
                      self.out.getvalue())

    def test_what_could_be_listed_before_only_is_no_all_clear(self):
        self.before()
        self.now = model.Snapshot(frozenset((OLD,)), frozenset((model.TRUST,)),
                                  {model.CLUSTER: 'no answer'})

        self.assertEqual(3, self.leaks())
        self.assertIn('cluster could not be listed: no answer',
                      self.out.getvalue())
        self.assertNotIn('Leaks: none', self.out.getvalue())

    def test_a_service_that_is_not_there_leaves_nothing(self):
        self.now = snapshot(OLD, **{model.BALANCER: 'not in the catalog'})
        self.before()

        self.assertEqual(0, self.leaks())
        self.assertIn('Leaks: none', self.out.getvalue())

    def test_options_arrive(self):
        self.run_command(leaks.Snapshot, self.file, '--os-cloud', 'c',
                         '--kubeconfig', 'k', '--real-nodes')

        (name, path), options = self.asked[0]
        self.assertEqual(('c', 'k', True),
                         (name, str(path), options['real_nodes']))

    def test_no_snapshot_is_no_verdict(self):
        for text in (None, '', '[]', '{}', '{"things": [{}]}'):
            if text is not None:
                with open(self.file, 'w') as file:
                    file.write(text)

            self.assertEqual(2, self.leaks())

    def test_an_error_of_the_cloud_is_no_verdict(self):
        self.before()

        def take(*args, **kwargs):
            raise errors.MagnumCapiError('broken')

        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.leaks.take', take))

        self.assertEqual(3, self.leaks())
