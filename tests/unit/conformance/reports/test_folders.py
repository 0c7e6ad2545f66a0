# SPDX-License-Identifier: Apache-2.0
"""Trees of results, as the sandbox and CI jobs leave them."""

import json
import pathlib
import shutil

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import comparison
from magnum_capi_tempest.conformance.reports import files
from magnum_capi_tempest.conformance.reports import folders
from magnum_capi_tempest.conformance.reports import sources
from magnum_capi_tempest.conformance.submission import publish
from tests.unit.conformance import by_hand


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.top = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def archive(self, *place):
        path = self.top.joinpath(*place, '2026_sonobuoy_x.tar.gz')
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(by_hand.QUICK, path)
        return path

    def report(self, folder, **cluster):
        result = by_hand.result(
            cluster=model.Cluster(**cluster), stand_in_images=True,
            sha256=by_hand.real(by_hand.QUICK).sha256)
        files.write(folder, result, by_hand.judged(result))


class RecordsTest(_Base):

    def test_archives_and_loose_files_below(self):
        for name in ('before', 'after'):
            self.archive('capi', 'c1', name)
        (self.top / 'heat').mkdir()
        by_hand.folder(self.top / 'heat' / 'c2')

        self.assertEqual(['capi/c1/after', 'capi/c1/before', 'heat/c2'],
                         list(folders.records(self.top)))

    def test_two_in_one_folder_are_told_by_their_files(self):
        path = self.archive('capi')
        shutil.copy(path, path.with_name('other.tar.gz'))

        self.assertEqual(['capi/2026_sonobuoy_x', 'capi/other'],
                         list(folders.records(self.top)))

    def test_files_beside_their_archive_are_the_same_run(self):
        home = by_hand.folder(self.top / 'c1')
        path = self.archive('c1')

        self.assertEqual({'c1': path}, folders.records(self.top))
        self.assertFalse(folders.is_tree(home))

    def test_none(self):
        self.assertRaises(errors.UsageError, folders.records, self.top)

    def test_links_are_not_followed(self):
        (self.top / 'loop').symlink_to(self.top)

        self.assertRaises(errors.UsageError, folders.records, self.top)


class ToldTest(_Base):

    def test_what_the_report_says(self):
        path = self.archive('c1')
        self.report(path.parent, driver='capi', cni='calico',
                    kubernetes='v1.35.8')

        for record in (path, path.parent):
            found = folders.read_report_notes(record)

            self.assertEqual((True, model.Cluster(
                'v1.35.8', driver='capi', cni='calico')),
                (found.stand_in, found.cluster))

    def test_a_report_that_says_nothing(self):
        for content in ('', '[]', '{}', '{"conformance": 1}', '[' * 99999,
                        '{"conformance": {"cluster": []}}', None):
            if content is not None:
                (self.top / folders.REPORT).write_text(content)

            self.assertEqual(folders.ReportNotes(),
                             folders.read_report_notes(self.top))
            (self.top / folders.REPORT).unlink(missing_ok=True)

    def test_hostile_values(self):
        (self.top / folders.REPORT).write_text(json.dumps({'conformance': {
            'cluster': {'driver': 'x' * 9999, 'cni': ['a'], 'other': 'b'}}}))

        self.assertEqual(model.Cluster(driver='x' * 200),
                         folders.read_report_notes(self.top).cluster)


class MatrixTest(_Base):

    def load(self, *given):
        return sources.load_all(map(str, given))[0]

    def test_a_tree_makes_the_matrix(self):
        for driver in ('capi', 'helm'):
            self.report(self.archive(driver, 'c1').parent, driver=driver)

        found = comparison.of(self.load(self.top))

        self.assertEqual(['capi', 'helm'],
                         [driver for driver, _ in found.matrix.rows])
        self.assertEqual(['capi/c1', 'helm/c1'],
                         [one.result.title for one in found.runs])

    def test_what_a_person_says_counts_for_all_below(self):
        self.archive('a')
        self.archive('b')

        self.assertEqual(['d', 'd'], [
            one.result.cluster.driver
            for one in self.load(f'{self.top},driver=d')])

    def test_what_ci_published_knows_driver_and_version(self):
        path = self.archive('raw', 'c1')
        self.report(path.parent, driver='capi', kubernetes='v9')

        publish.publish(path, self.top / 'logs' / 'c1')
        one, = self.load(self.top / 'logs')

        self.assertEqual(
            ('capi', 'v1.34.9', True),
            (one.result.cluster.driver, one.result.cluster.kubernetes,
             one.result.stand_in_images))
