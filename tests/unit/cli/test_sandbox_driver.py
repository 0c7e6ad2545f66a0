# SPDX-License-Identifier: Apache-2.0

"""Which driver do tests in a sandbox judge, and who says so?"""

import configparser
import json

import fixtures
import testtools

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi_sandbox.cli import sandbox as cli
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest import leaks
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest import promises
from magnum_capi_tempest.workspace import runs
from tests.unit.cli import terminal
from tests.unit import own_folders
from tests.unit.report import streams
from tests.unit.sandbox import samples

HELM = ('k8s_capi_helm_v1', 'magnum-capi-helm', '1.4.0')
MINE = ('my_driver_v1', 'magnum-mine', '0.1')
THEIRS = ('their_driver_v1', 'magnum-theirs', '0.2')


class DriverTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.status = 'success'
        self.folder = self.useFixture(own_folders.OwnFolders()).base / 'box'
        for module, name, value in (
                (leaks, 'take', lambda *_, **__: model.Snapshot()),
                (processes, 'run', self.program),
                (runs, 'run', self.tempest)):
            self.useFixture(fixtures.MockPatchObject(module, name, value))

    def program(self, argv, **_):
        """What the programs of Magnum's environment say."""
        words = list(map(str, argv))
        if 'discovery' in words:
            return json.dumps([
                {'Driver': name, 'State': state, 'Error': None,
                 'Cluster types': [usable_drivers.TYPE]}
                for (name, *_), state in self.drivers.items()])
        if 'info' in words:
            raise errors.CommandFailed(words, 2, '')
        return json.dumps({'magnum': '23.0.0', 'drivers': {
            name: [whose, version]
            for name, whose, version in self.drivers}})

    def tempest(self, workspace, words, stream, *, etc, env):
        self.conf = configparser.RawConfigParser()
        self.conf.read(etc / 'tempest.conf')
        recorded = streams.Stream()
        recorded.test('magnum_capi_tempest.tests.magnum.test_a.T.test_b[id-1]',
                      self.status, traceback='AssertionError: x')
        recorded.test('magnum_capi_tempest.tests.magnum.test_a.T.test_c[id-2]',
                      'success')
        outfile.write_private(stream, recorded.data)
        return stream

    def run_in(self, drivers, *words, **changes):
        """Run tests in a sandbox with drivers, {of: state}.

        :returns: exit code, the first line of the result, standard error.
        """
        code, out, err = self.printed_in(drivers, *words, **changes)
        return code, out.strip().partition('\n')[0], err

    def printed_in(self, drivers, *words, **changes):
        """The same with all of the output."""
        self.drivers = {HELM: 'usable', **drivers}
        samples.a_layout(self.folder)
        samples.save(self.folder, **changes)
        self.conf = None
        return terminal.command(
            cli.Tempest, '--directory', self.folder, *words)

    def test_what_the_user_installs_is_tested(self):
        """Magnum 23 would take the first by name."""
        code, first, _ = self.run_in(
            {MINE: 'usable'}, install=('magnum-mine>=0.1',))

        self.assertEqual(0, code)
        self.assertEqual('my_driver_v1', self.conf['magnum_capi']['driver'])
        for word in MINE:
            self.assertIn(word, first)

    def test_a_driver_that_is_named(self):
        _, first, _ = self.run_in(
            {MINE: 'usable'}, '--driver', HELM[0], install=('magnum-mine',))

        self.assertEqual(HELM[0], self.conf['magnum_capi']['driver'])
        for word in HELM:
            self.assertIn(word, first)

    def test_two_that_the_user_installs(self):
        code, _, err = self.run_in(
            {MINE: 'usable', THEIRS: 'usable'},
            install=('magnum-mine', 'magnum-theirs'))

        self.assertEqual((2, None), (code, self.conf))
        self.assertIn('my_driver_v1, their_driver_v1', err)
        self.assertIn('--driver', err)

    def test_one_that_cannot_be_used(self):
        code, _, err = self.run_in(
            {MINE: 'broken'}, install=('magnum-mine',))

        self.assertEqual((2, None), (code, self.conf))
        self.assertIn('my_driver_v1: broken', err)

    def test_the_only_one_of_a_sandbox(self):
        """Magnum chooses it, and the result says which one that is."""
        code, first, _ = self.run_in({})

        self.assertEqual(0, code)
        self.assertNotIn('driver', self.conf['magnum_capi'])
        for word in HELM:
            self.assertIn(word, first)

    def test_known_races_of_the_driver_under_test(self):
        self.useFixture(fixtures.MockPatchObject(
            cli.tempest_run.usable_drivers, 'description',
            lambda box, name: driver_info.Description({
                'name': name, 'known_races': {'T.test_b': f'of {name}'}},
                'x')))
        for self.status, word in (('fail', 'failed'), ('success', 'may fail')):
            code, out, _ = self.printed_in({}, '--driver', HELM[0])

            self.assertEqual(0, code)
            self.assertIn(f'T.test_b {word}: of {HELM[0]}', out)

    def test_another_failure_than_that_of_a_known_race(self):
        self.useFixture(fixtures.MockPatchObject(
            cli.tempest_run.usable_drivers, 'description',
            lambda box, name: driver_info.Description({
                'name': name, 'known_races': {'T.test_c': 'x'}}, 'x')))
        self.status = 'fail'

        self.assertEqual(1, self.run_in({}, '--driver', HELM[0])[0])

    def test_known_issues_of_one_do_not_hide_failures_of_another(self):
        """As two drivers of a Magnum of one's own, from which it chooses."""
        code, first, _ = self.run_in({MINE: 'usable'})

        self.assertEqual(0, code)
        self.assertEqual(
            {*promises.not_of_magnum()},
            {*self.conf['magnum_capi']['not_promised'].split(',')})
        self.assertNotIn(HELM[0], first)

    def test_the_driver_that_is_configured(self):
        """Magnum 23 and later take it; earlier ones have no such option."""
        conf = self.folder / 'etc' / 'magnum.d' / '90-set.conf'
        for release, default, usable, tested in (
                ('2026.2', MINE[0], {MINE: 'usable'}, MINE[0]),
                ('2026.2', HELM[0], {MINE: 'usable'}, HELM[0]),
                ('2026.1', HELM[0], {MINE: 'usable'}, None),
                # Nobody can say what becomes of this one.
                ('2026.2', MINE[0], {MINE: 'broken'}, None)):
            outfile.write_private(
                conf, f'[drivers]\ndefault_driver = {default}\n')
            _, first, _ = self.run_in(usable, magnum=release)
            self.assertEqual(
                [tested] if tested else [],
                [name for name in (MINE[0], HELM[0]) if name in first])
