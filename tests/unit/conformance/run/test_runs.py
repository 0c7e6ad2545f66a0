# SPDX-License-Identifier: Apache-2.0

import dataclasses
import datetime
import json
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs

TARGET = runs.Target('c1', 'devstack')
NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)


class TestFile(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.root = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path).resolve()

    def saved(self, name, **kwargs):
        run = runs.Run(self.root / name, TARGET, runner.Plan(),
                       started=NOON.isoformat(), **kwargs)
        runs.save(run)
        return run

    def test_all_of_a_run_comes_back(self):
        run = self.saved(
            'full', nodes=('n1',),
            about=model.Cluster(name='c1', nodes=('n1',)),
            keep=True, warnings=('node n1: not ready',))
        run = dataclasses.replace(run, plan=runner.Plan(
            mode=model.FOCUSED, expression='a|b', env=(('A', 'b'),),
            node_selector=(('k', 'v'),), images=runner.Images(
                mirrors=pathlib.Path('/gone/since'))))
        runs.save(run)

        self.assertEqual(run, runs.load(run.folder))
        # It may have been moved, with its archive.
        moved = run.folder.rename(self.root / 'moved')
        self.assertEqual(dataclasses.replace(run, folder=moved),
                         runs.load(moved))

    def test_it_is_its_owners_alone(self):
        self.saved('x')

        for name, mode in ('x', 0o700), ('x/run.json', 0o600):
            self.assertEqual(mode, (self.root / name).stat().st_mode & 0o777)

    def test_what_somebody_else_wrote(self):
        """A folder of results may come from anywhere."""
        good = json.loads((self.saved('good').folder / runs.FILE).read_text())
        file = self.root / 'other' / runs.FILE
        file.parent.mkdir()
        for content in (
                b'[' * 100000, b'null', b'[]', b' ' * (1 << 21), b'\xff',
                {'archive': '../../etc/passwd'}, {'archive': 'a/b'},
                {'archive': 5}, {'started': 'soon'}, {'backend': 'x'},
                {'started': '2026-11-21T12:00:00'},
                {'stage': 'x'}, {'plan': {}}, {'plan': None},
                {'about': {**good['about'], 'driver': {}}},
                {'about': {'x': 'y'}}, {'target': []}, {'more': 1},
                {'plan': {**good['plan'], 'parallel': 0}},
                {'plan': {**good['plan'], 'skip': 5}},
                {'warnings': [5]}):
            if isinstance(content, dict):
                content = json.dumps({**good, **content}).encode()
            file.write_bytes(content)
            error = self.assertRaises(errors.EnvironmentProblem, runs.load,
                                      file.parent)
            self.assertIn(str(file), str(error))
            self.assertIsNone(runs.beside(file.parent))
            # It does not hide others.
            self.assertEqual('good', runs.find(self.root).folder.name)

    def test_the_only_run_that_goes_on_needs_no_name(self):
        self.assertRaises(errors.UsageError, runs.find, self.root)
        self.saved('old', stage=runs.ENDED)
        run = self.saved('new')
        self.assertEqual(run, runs.find(self.root))
        self.assertEqual('old', runs.find(self.root / 'old').folder.name)

        self.saved('other')
        error = self.assertRaises(errors.UsageError, runs.find, self.root)
        self.assertIn('new, other', str(error))

    def test_whose_archive_it_is(self):
        """The file of another run says nothing of an archive beside it."""
        run = self.saved('x', archive='a.tar.gz', sha256='ab')
        archive = run.folder / 'a.tar.gz'

        self.assertEqual(run, runs.beside(archive, 'ab'))
        self.assertIsNone(runs.beside(archive, 'cd'))
        self.assertIsNone(runs.beside(self.root / 'a.tar.gz', 'ab'))
        # A run that is not over has left no result files.
        self.assertIsNone(runs.beside(self.saved('y').folder))
        files = self.saved('z', backend=model.HYDROPHONE, archive='.')
        self.assertEqual(files, runs.beside(files.folder))

    def test_the_name_of_a_folder(self):
        for target, name in (
                (runs.Target('my cluster/1'), 'my-cluster-1'),
                (runs.Target(kubeconfig='/x/c1.conf', context='a@b'), 'a-b'),
                (runs.Target(kubeconfig='/x/c1.conf'), 'c1'),
                (runs.Target(kubeconfig='/x/.é'), 'run')):
            self.assertEqual(
                pathlib.Path(f'conformance-{name}-20261121-120000'
                             ).absolute(), runs.default_folder(target, NOON))
