# SPDX-License-Identifier: Apache-2.0
"""Which record a person means; what it knows of its cluster."""

import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import sources
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from tests.unit.conformance import by_hand


class SourcesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.files = by_hand.folder(self.folder / 'files')

    def record(self, **kwargs):
        """Write the run.json of the files."""
        run = runs.Run(self.files, runs.Target(cluster='c1'), **{
            'plan': runner.Plan(), 'archive': '.',
            'backend': model.HYDROPHONE, 'about': model.Cluster(
                name='c1', driver='k8s_capi_v1'), **kwargs})
        runs.save(run)
        return run

    def load(self, given, **kwargs):
        return sources.load(str(given), **kwargs)

    def test_archive(self):
        found = self.load(by_hand.QUICK)

        self.assertEqual('quick-e2e-v1.34.9', found.result.title)
        self.assertEqual('passed', found.verdict.outcome)
        self.assertEqual('', found.result.cluster.driver)

    def test_folder(self):
        found = self.load(self.files)

        self.assertEqual(['[sig-a] b'], [s.name for s in found.result.specs])

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
                (self.files, 'v1.34.9'),):
            self.assertEqual(
                version, self.load(given).result.cluster.kubernetes)

    def test_what_a_person_knows(self):
        found = self.load(
            f'{by_hand.QUICK},driver=k8s_capi_v1,cni=cilium', title='T')

        self.assertEqual(
            ('T', 'k8s_capi_v1', 'cilium', 'v1.34.9'),
            (found.result.title, found.result.cluster.driver,
             found.result.cluster.cni, found.result.cluster.kubernetes))

    def test_archive_that_was_retrieved_here(self):
        self.record()

        cluster = self.load(self.files).result.cluster

        self.assertEqual(('c1', 'k8s_capi_v1'), (cluster.name,
                                                 cluster.driver))

    def test_what_only_the_record_of_its_run_knows(self):
        self.record(warnings=('cluster DNS: gone',),
                    plan=runner.Plan(mode=model.QUICK, stand_in=True))

        found = self.load(f'{self.files},cni=calico').result
        self.assertEqual(
            (('cluster DNS: gone',), model.QUICK, True, 'k8s_capi_v1',
             'calico'),
            (found.signs, found.mode, found.stand_in_images,
             found.cluster.driver, found.cluster.cni))

    def test_file_with_a_comma_in_its_name(self):
        path = self.folder / 'a,driver=b.tar.gz'
        path.touch()

        self.assertEqual((str(path), {}), sources.parse(str(path)))

    def test_no_such_record(self):
        error = self.assertRaises(errors.UsageError, self.load, 'second')

        self.assertIn('There is no such archive or folder (second)',
                      str(error))

    def test_nonsense_about_a_cluster(self):
        for given in ('x,color=red', 'x,driver'):
            self.assertRaises(errors.UsageError, sources.parse, given)

    def test_one_title_twice(self):
        found, _ = sources.load_all([str(self.files)] * 2)

        self.assertEqual(
            ['1: files', '2: files'],
            [one.result.title for one in found])

    def test_run_of_an_archive(self):
        run = self.record()

        self.assertEqual(run, sources.run_of(
            str(self.files), self.load(self.files).result))
        self.assertIsNone(sources.run_of(
            str(by_hand.RERUN), by_hand.real(by_hand.RERUN)))
