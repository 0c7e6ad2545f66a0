# SPDX-License-Identifier: Apache-2.0


import pathlib
import tarfile

import testtools

from magnum_capi_tempest.conformance.run import ginkgolog

DATA = pathlib.Path(__file__).parents[3] / 'data' / 'sonobuoy'


def log(name):
    file, = DATA.glob(f'{name}-v1.*.tar.gz')
    with tarfile.open(file) as archive:
        return archive.extractfile(
            'plugins/e2e/results/global/e2e.log').read().decode()


class TestCount(testtools.TestCase):

    def test_real_logs(self):
        for name, expected in (
                ('conformance-parallel', (388, 384, 4)),
                ('magnum-parallel', (383, 382, 1)),
                ('one-failed', (1, 0, 1)), ('quick-e2e', (1, 1, 0))):
            self.assertEqual(expected, ginkgolog.count(log(name)), name)

    def test_a_run_that_goes_on(self):
        text = log('conformance-parallel')
        middle = text.index('• [FAILED]')

        planned, passed, failed = ginkgolog.count(text[:middle])

        self.assertEqual((388, 0), (planned, failed))
        self.assertEqual(text[:middle].count('•'), passed)

    def test_verbose(self):
        self.assertEqual((9, 1, 2), ginkgolog.count(
            'Will run 9 of 99 specs\n'
            '• [3.4 seconds]\n[sig-x] a\n'
            '• [PANICKED] [1.0 seconds]\n'
            '[SynchronizedAfterSuite] PASSED [0.1 seconds]\n'
            'S [SKIPPED] [0.1 seconds]\n• [TIMEDOUT] [1.0 seconds]\n'))

    def test_nothing_yet(self):
        self.assertIsNone(ginkgolog.count('Running Suite: e2e\n'))
