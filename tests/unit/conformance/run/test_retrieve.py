# SPDX-License-Identifier: Apache-2.0


import gzip
import hashlib
import pathlib
import types

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest.conformance.run import retrieve
from magnum_capi_tempest.conformance.run import runner
from tests.unit import fake_clock

GOOD = gzip.compress(b'results ' * 1000)


def announced(content=GOOD, name='x_sonobuoy_y.tar.gz'):
    return runner.Archive(name, hashlib.sha256(content).hexdigest(),
                          len(content))


class Aggregator:
    """Sends one thing after the other; files, or an error."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def retrieve(self, folder, name):
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            # As Sonobuoy does: what came before the error is left there.
            (folder / name).write_bytes(GOOD[:10])
            raise answer
        for number, content in enumerate(
                answer if isinstance(answer, list) else [answer]):
            (folder / f'{name}-{number}').write_bytes(content)


class TestFetch(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.clock = fake_clock.FakeClock()

    def fetch(self, *answers, tarball=None, **kwargs):
        return self.folder / retrieve.fetch(
            Aggregator(*answers).retrieve, str, tarball or announced(),
            self.folder, progress.Silent(), self.clock, **kwargs)

    def test_a_good_one(self):
        path = self.fetch(GOOD)

        self.assertEqual(self.folder / 'x_sonobuoy_y.tar.gz', path)
        self.assertEqual(GOOD, path.read_bytes())
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        self.assertEqual([path], list(self.folder.iterdir()))

    def test_of_several_archives_ours_is_taken(self):
        path = self.fetch([gzip.compress(b'another'), GOOD])

        self.assertEqual(GOOD, path.read_bytes())

    def test_a_hash_that_matches_does_not_make_a_cut_archive_whole(self):
        """The aggregator may announce what it has not ended to write."""
        cut = GOOD[:-4]
        error = self.assertRaises(errors.WaitAborted, self.fetch, cut,
                                  tarball=announced(cut), attempts=1)

        self.assertNotIn('SHA-256', str(error))

    def test_what_is_there_already_is_not_fetched_again(self):
        path = self.fetch(GOOD)

        self.assertEqual(path, self.fetch())

    def test_another_file_of_its_name_is_not_replaced(self):
        path = self.folder / announced().name
        path.write_text('mine')

        self.assertRaises(errors.EnvironmentProblem, self.fetch, GOOD)
        self.assertEqual('mine', path.read_text())

    def test_no_room(self):
        self.useFixture(fixtures.MonkeyPatch(
            'shutil.disk_usage', lambda _: types.SimpleNamespace(free=5)))

        error = self.assertRaises(
            errors.EnvironmentProblem, self.fetch, GOOD)

        self.assertIn('5 B free', str(error))
        self.assertEqual('Free some space, or use another disk with '
                         '--output', error.hint)

    def test_the_rest_of_a_killed_retrieval_is_removed(self):
        (self.folder / '.part-killed').mkdir()
        (self.folder / '.part-killed' / 'x').write_text('half')

        path = self.fetch(GOOD)
        self.assertEqual([path], list(self.folder.iterdir()))

    def test_two_at_a_time_into_one_folder(self):
        """Two runs, in two clusters, that end in the same minute."""
        second = gzip.compress(b'of another cluster')

        class Slow(Aggregator):
            def retrieve(this, folder, name):
                self.fetch(second, tarball=announced(second, 'second.tar.gz'))
                super().retrieve(folder, name)

        retrieve.fetch(Slow(GOOD).retrieve, str, announced(), self.folder,
                       progress.Silent(), self.clock)

        self.assertEqual(
            {announced().name: GOOD, 'second.tar.gz': second},
            {path.name: path.read_bytes() for path in self.folder.iterdir()})

    def test_two_commands_that_fetch_the_same(self):
        class Slow(Aggregator):
            def retrieve(this, folder, name):
                self.fetch(GOOD)
                super().retrieve(folder, name)

        retrieve.fetch(Slow(GOOD).retrieve, str, announced(), self.folder,
                       progress.Silent(), self.clock)

        self.assertEqual([GOOD], [
            path.read_bytes() for path in self.folder.iterdir()])
