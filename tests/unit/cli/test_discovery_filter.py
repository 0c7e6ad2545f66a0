# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi discovery filter``: what it prints, and how it ends."""

import pathlib

import fixtures
import testtools

from magnum_capi.cli import discovery_filter
from tests.unit.cli import terminal

_FILE = """\
[pipeline:main]
pipeline = authtoken api_v1
"""


class FilterTest(testtools.TestCase):

    def test_there_and_back(self):
        path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'api-paste.ini'
        path.write_text(_FILE)

        for words, code, said in (
                (('--check',), 1, 'would be changed'),
                (('--check', '--remove'), 0, 'unchanged'),
                ((), 0, 'changed'),
                ((), 0, 'unchanged'),
                (('--check',), 0, 'unchanged'),
                (('--check', '--remove'), 1, 'would be changed'),
                (('--remove',), 0, 'changed')):
            self.assertEqual((code, f'{said}\n', ''), terminal.command(
                discovery_filter.Filter, path, *words))
        self.assertEqual(_FILE, path.read_text())
