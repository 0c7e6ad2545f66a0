# SPDX-License-Identifier: Apache-2.0


import dataclasses
import datetime
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs

TARGET = runs.Target('c1', 'devstack')
NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)


class TestStore(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'runs')
        self.store = runs.Store(self.root)

    def saved(self, name, **kwargs):
        run = runs.Run(name, TARGET, runner.Plan(), '/results', **kwargs)
        self.store.save(run)
        return run

    def test_all_of_a_run_comes_back(self):
        run = self.saved(
            'full', stage=runs.STARTED, started=NOON.isoformat(),
            nodes=('n1',), about=model.Cluster(name='c1', nodes=('n1',)),
            keep=True, signs=('node n1: not ready',))
        run = dataclasses.replace(run, plan=runner.Plan(
            mode=model.FOCUSED, focus=('a', 'b'), env=(('A', 'b'),),
            node_selector=(('k', 'v'),), images=runner.Images(
                mirrors=pathlib.Path('/gone/since'))))
        self.store.save(run)

        self.assertEqual(run, self.store.load('full'))

    def test_a_record_is_its_owners_alone(self):
        self.saved('x')

        for name, mode in ('x', 0o700), ('x/run.json', 0o600):
            self.assertEqual(mode, (self.root / name).stat().st_mode & 0o777)

    def test_a_killed_writer_leaves_the_old_record(self):
        run = self.saved('x')
        (self.root / 'x' / 'run.json.killed').write_text('{"name"')

        self.assertEqual(run, self.store.load('x'))

    def test_names_do_not_lead_out_of_the_folder(self):
        for name in ('../x', '.private', 'a/b', ''):
            self.assertRaises(errors.UsageError, self.store.folder, name)

    def test_a_new_name_is_free(self):
        name = self.store.new_name(runs.Target('my cluster/1'), NOON)
        self.assertEqual('my-cluster-1-20261121-120000', name)

        self.saved(name)
        self.assertEqual(f'{name}-2', self.store.new_name(
            runs.Target('my cluster/1'), NOON))

    def test_a_name_is_taken_until_its_run_is_given_up(self):
        with self.store.reserved('x', TARGET):
            error = self.assertRaises(
                errors.UsageError, self.store.reserved('x', TARGET).__enter__)
            self.assertIn('being started', str(error))
            self.assertEqual([], self.store.all())
            self.assertRaises(errors.UsageError, self.store.load, 'x')
        self.assertFalse(self.store.folder('x').exists())

    def test_a_name_stays_with_its_record(self):
        with self.store.reserved('x', TARGET):
            self.saved('x')

        error = self.assertRaises(
            errors.UsageError, self.store.reserved('x', TARGET).__enter__)
        self.assertIn('There is a run x already', str(error))

    def test_a_folder_that_cannot_be_made(self):
        self.root.write_text('')

        self.assertRaises(errors.EnvironmentProblem,
                          self.store.reserved('x', TARGET).__enter__)

    def test_the_only_run_that_goes_on_needs_no_name(self):
        self.saved('old', stage=runs.ENDED)
        run = self.saved('new', stage=runs.STARTED)

        self.assertEqual(run, self.store.choose())
        self.assertEqual('old', self.store.choose('old').name)

    def test_of_several_one_must_be_named(self):
        self.saved('a')
        self.saved('b')

        error = self.assertRaises(errors.UsageError, self.store.choose)
        self.assertIn('a, b', str(error))

    def test_none_at_all(self):
        self.assertRaises(errors.UsageError, self.store.choose)
        error = self.assertRaises(errors.UsageError, self.store.load, 'x')
        self.assertIn('none', str(error))

    def test_a_broken_record_does_not_hide_others(self):
        run = self.saved('good')
        (self.root / 'bad').mkdir()
        (self.root / 'bad' / 'run.json').write_text('{')

        self.assertEqual([run], self.store.all())
        self.assertRaises(errors.EnvironmentProblem, self.store.load, 'bad')

    def test_how_long_it_has_been_going_on(self):
        run = self.saved('x', started=NOON.isoformat())

        self.assertEqual(60, run.elapsed(NOON + datetime.timedelta(0, 60)))
        self.assertEqual(0, self.saved('y').elapsed())
