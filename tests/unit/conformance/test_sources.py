# SPDX-License-Identifier: Apache-2.0
"""Which record a person means; what it knows of its cluster."""

import hashlib
import json
import os
import pathlib
import shutil

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance.submission import publish
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand
from tests.unit import strangers


class SourcesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.files = by_hand.folder(self.folder / 'files')

    def record(self, **kwargs):
        """Write the run.json of the files."""
        run = runs.Run(self.files, runs.Target(cluster='c1'), **{
            'plan': runner.Plan(), 'archive': '.',
            'started': '2026-11-21T09:00:00+00:00',
            'backend': model.HYDROPHONE, 'about': model.Cluster(
                name='c1', driver='k8s_capi_v1'), **kwargs})
        runs.save(run)
        return run

    def load(self, given, **kwargs):
        return sources.load(str(given), **kwargs)

    def test_pipes_beside_a_record_are_not_read(self):
        # Nobody writes to them, so that a reader waits for ever.
        for name in ('run.json', 'report.json'):
            os.mkfifo(self.files / name)

        self.assertEqual('passed', self.load(self.files).outcome)

    def test_version_where_the_record_does_not_say(self):
        for given, wanted in ((self.files, 'v1.35.0'),
                              (by_hand.QUICK, 'v1.34.9')):
            found = self.load(f'{given},kubernetes=v1.35.0')

            self.assertEqual(wanted, found.result.cluster.kubernetes)

    def test_version_that_the_record_of_its_run_knows(self):
        self.record()
        self.assertEqual('', self.load(self.files).result.cluster.kubernetes)

        self.record(about=model.Cluster(kubernetes='v1.34.9'))

        for given, version in (
                (self.files, 'v1.34.9'),
                (f'{self.files},kubernetes=v1.35.0', 'v1.35.0')):
            self.assertEqual(
                version, self.load(given).result.cluster.kubernetes)

    def test_what_a_person_knows(self):
        found = self.load(
            f'{by_hand.QUICK},driver=k8s_capi_v1,cni=cilium', title='T')

        self.assertEqual(
            ('T', 'k8s_capi_v1', 'cilium', 'v1.34.9'),
            (found.result.title, found.result.cluster.driver,
             found.result.cluster.cni, found.result.cluster.kubernetes))

    def test_what_only_the_record_of_its_run_knows(self):
        plan = runner.Plan(mode=model.QUICK, stand_in=True)
        for elsewhere, mode in ((False, model.QUICK), (True, model.UNKNOWN)):
            self.record(warnings=('cluster DNS: gone',), plan=plan,
                        elsewhere=elsewhere)

            found = self.load(f'{self.files},cni=calico').result

            self.assertEqual(
                (('cluster DNS: gone',), mode, True, 'k8s_capi_v1', 'calico'),
                (found.cluster_warnings, found.mode, found.stand_in_images,
                 found.cluster.driver, found.cluster.cni))

    def test_file_with_a_comma_in_its_name(self):
        path = self.folder / 'a,driver=b.tar.gz'
        path.touch()

        self.assertRaisesRegex(damage.Damage, 'is empty', self.load, path)

    def test_no_such_record(self):
        error = self.assertRaises(errors.UsageError, self.load, 'second')

        self.assertIn('There is no such archive or folder (second)',
                      str(error))

    @strangers.root
    def test_a_record_that_another_user_keeps_to_himself(self):
        self.folder.chmod(0o700)
        os.seteuid(strangers.STRANGER)
        self.addCleanup(os.seteuid, 0)
        for load in self.load, lambda given: sources.load_all([given]):
            error = self.assertRaises(damage.Damage, load, self.files)

            self.assertIn('Permission denied', str(error))

    def test_run_without_results(self):
        self.record(archive='')
        for file in self.files.iterdir():
            if file.name != runs.FILE:
                file.unlink()

        error = self.assertRaises(errors.UsageError, self.load, self.files)

        self.assertIn(f'magnum-capi conformance attach {self.files}',
                      str(error))

    def test_nonsense_about_a_cluster(self):
        for given in ('x,color=red', 'x,driver'):
            self.assertRaises(errors.UsageError, self.load, given)

    def test_one_title_twice(self):
        found, _ = sources.load_all([str(self.files)] * 2)

        self.assertEqual(
            ['1: files', '2: files'],
            [one.result.title for one in found])


class _Tree(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def archive(self, *place):
        path = self.top.joinpath('tree', *place, '2026_sonobuoy_x.tar.gz')
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(archives.good())
        return path

    def report(self, path, sha256=None, **cluster):
        """Write a report beside a record."""
        report.write(path.parent, by_hand.view(by_hand.result(
            cluster=model.Cluster(**cluster), stand_in_images=True,
            sha256=sha256 or hashlib.sha256(path.read_bytes()).hexdigest())))

    def load(self, *given):
        return sources.load_all(map(str, given))[0]


class TreeTest(_Tree):

    def titles(self, *given):
        return [one.result.title
                for one in self.load(*(given or [self.top / 'tree']))]

    def test_archives_and_loose_files_below(self):
        for name in ('before', 'after'):
            self.archive('capi', 'c1', name)
        (self.top / 'tree' / 'heat').mkdir()
        by_hand.folder(self.top / 'tree' / 'heat' / 'c2')

        self.assertEqual(['capi/c1/after', 'capi/c1/before', 'heat/c2'],
                         self.titles())

    def test_two_in_one_folder_are_reported_by_their_files(self):
        path = self.archive('capi')
        shutil.copy(path, path.with_name('other.tar.gz'))

        self.assertEqual(['capi/2026_sonobuoy_x', 'capi/other'],
                         self.titles())

    def test_files_beside_their_archive_are_the_same_run(self):
        self.archive('c1')
        for name, member in (('junit_01.xml', archives.JUNIT),
                             ('e2e.log', archives.LOG)):
            (self.top / 'tree' / 'c1' / name).write_bytes(
                archives.files()[member])

        self.assertEqual(['c1'], self.titles())

    def test_none_and_links_that_are_not_followed(self):
        (self.top / 'tree').mkdir()
        (self.top / 'tree' / 'loop').symlink_to(self.top)

        self.assertRaises(errors.UsageError, self.titles)

    def test_what_a_person_says_counts_for_all_below(self):
        self.archive('a')
        self.archive('b')

        self.assertEqual(['d', 'd'], [
            one.result.cluster.driver
            for one in self.load(f'{self.top / "tree"},driver=d')])


class ReportBesideTest(_Tree):

    def setUp(self):
        super().setUp()
        self.path = self.archive('c1')

    def test_what_the_report_says(self):
        self.report(self.path, driver='capi', cni='calico',
                    kubernetes='v1.35.8')

        for record in (self.path, self.path.parent):
            one, = self.load(record)
            cluster = one.result.cluster
            # The record is the better source of its version.
            self.assertEqual(
                ('capi', 'calico', 'v1.34.9', True),
                (cluster.driver, cluster.cni, cluster.kubernetes,
                 one.result.stand_in_images))

    def test_a_report_that_says_nothing_or_too_much(self):
        sha256 = hashlib.sha256(self.path.read_bytes()).hexdigest()
        facts = f'"facts": {{"SHA-256": "{sha256}"}}'
        for content, driver in (
                ('', ''), ('[]', ''), ('{}', ''), ('[' * 99999, ''),
                (f'{{{facts}, "conformance": 1}}', ''),
                (f'{{{facts}, "conformance": {{"cluster": []}}}}', ''),
                (json.dumps({'facts': {'SHA-256': sha256}, 'conformance': {
                    'cluster': {'driver': 'x' * 9999, 'cni': ['a'],
                                'other': 'b'}}}), 'x' * 200)):
            (self.path.parent / 'report.json').write_text(content)

            one, = self.load(self.path)
            self.assertEqual(driver, one.result.cluster.driver)

    def test_what_ci_published_knows_driver_and_version(self):
        self.report(self.path, driver='capi', kubernetes='v9')

        publish.publish(self.path, self.top / 'logs' / 'c1')
        one, = self.load(self.top / 'logs')

        self.assertEqual(
            ('capi', 'v1.34.9', True),
            (one.result.cluster.driver, one.result.cluster.kubernetes,
             one.result.stand_in_images))
