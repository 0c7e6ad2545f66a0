# SPDX-License-Identifier: Apache-2.0

"""What a report says about the cluster of a record, and whose record it is."""

import hashlib
import json

import fixtures
import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from tests.unit.cli import terminal
from tests.unit.conformance import archives
from tests.unit import own_folders


def call(*argv):
    """Exit code and standard output."""
    return terminal.call('conformance', *argv)[:2]


class OwnerTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = self.useFixture(
            own_folders.OwnFolders()).base / 'results'
        self.folder.mkdir()
        self.useFixture(fixtures.EnvironmentVariable('KUBECONFIG'))

    def run_of(self, name, case, driver):
        """A run of this machine; returns its archive."""
        path = self.folder / f'{name}.tar.gz'
        path.write_bytes(archives.good(**{
            archives.LOG: archives.log(1, 0, 1, 1),
            archives.JUNIT: archives.junit(archives.case(
                f'[It] [sig-a] {case}', 'failed', '<failure>no</failure>'))}))
        kubeconfig = self.folder.parent / f'kubeconfig-{name}'
        kubeconfig.write_text('current-context: c\n'
                              'contexts: [{name: c, context: {}}]\n')
        runs.save(runs.Run(
            self.folder, runs.Target(kubeconfig=str(kubeconfig)),
            runner.Plan(), stage=runs.ENDED, started='2026-11-20T09:00+00:00',
            archive=path.name, about=model.Cluster(driver=driver),
            sha256=hashlib.sha256(path.read_bytes()).hexdigest()))
        return path

    def driver(self, record):
        _, out = call('report', record, '-f', 'json')
        return json.loads(out)['conformance']['cluster']['driver']

    def test_an_archive_of_another_run_beside_it(self):
        first = self.run_of('first', 'x', 'heat')
        second = self.run_of('second', 'y', 'capi')

        self.assertEqual('', self.driver(first))
        first.unlink()
        for record in second, self.folder:
            self.assertEqual('capi', self.driver(record))
            _, out = call('run', '--rerun', record, '--dry-run')
            self.assertIn('/kubeconfig-second', out)

    def test_another_archive_in_the_place_of_a_run_s(self):
        path = self.run_of('first', 'x', 'heat')
        path.unlink()
        path.write_bytes(archives.good(**{
            archives.LOG: archives.log(1, 0, 1, 1),
            archives.JUNIT: archives.junit(archives.case(
                '[It] [sig-a] z', 'failed', '<failure>no</failure>'))}))

        for record in path, self.folder:
            self.assertEqual('', self.driver(record))
            # There is no cluster to run it in.
            self.assertEqual(2, call(
                'run', '--rerun', record, '--dry-run')[0])

    def test_the_report_of_another_run_beside_it(self):
        first = self.run_of('first', 'x', 'heat')
        call('report', first, '--output', self.folder)
        other = self.run_of('second', 'y', '')
        first.unlink()

        self.assertEqual('', self.driver(other))
