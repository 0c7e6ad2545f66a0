# SPDX-License-Identifier: Apache-2.0

"""Recorded durations of tests, as the real stestr reads them."""

import pathlib

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import runs
from tests import durations
from tests.unit import test_durations as streams

_CLASS = 'magnum_capi_tempest.tests.magnum.test_x.XTest'


class DurationsTest(testtools.TestCase):

    def test_stestr_knows_them_in_a_new_workspace(self):
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        workspace, known = base / 'work', base / 'known.subunit'
        recorded = base / 'run.subunit'
        recorded.write_bytes(streams.stream(
            (f'{_CLASS}.test_a[id-1,slow]', 'inprogress', 0, 0),
            (f'{_CLASS}.test_a[id-1,slow]', 'success', 0, 40),
            (f'{_CLASS}.test_b[id-2]', 'inprogress', 0, 50),
            (f'{_CLASS}.test_b[id-2]', 'fail', 0, 60)))
        folder.lay_out(workspace, '')

        durations.keep(recorded, known)
        durations.tell(workspace, known)

        shown = processes.run([runs.program_path('stestr'), 'slowest'],
                              cwd=workspace, timeout=600)
        self.assertRegex(shown, r'test_a\[id-1,slow\] +40\.0')
        self.assertRegex(shown, r'test_b\[id-2\] +20\.0')
