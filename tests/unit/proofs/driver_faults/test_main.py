# SPDX-License-Identifier: Apache-2.0


import contextlib
import dataclasses
import io
import pathlib

import fixtures
import testtools

from tests.proofs.driver_faults import __main__ as main
from tests.proofs.driver_faults import results as results_module
from tests.proofs.driver_faults import table

KEPT = table.Row('api-down', 'down', 'create', ('CREATE_COMPLETE',),
                 end=table.REACHED)


class MainTest(testtools.TestCase):
    """What was kept before is shown; nothing is started."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def keep(self, *rows):
        results_module.Results(self.folder).save(
            results_module.Result('api-down', rows, 60.0))

    def show(self, *arguments):
        """The exit code and what was printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = main.main(['--from-results', '--results',
                              str(self.folder), *arguments])
        return code, out.getvalue()

    def test_all_kept(self):
        self.keep(KEPT)
        code, out = self.show()
        self.assertEqual(0, code)
        self.assertIn('1 of 1 kept', out)

    def test_one_not_kept(self):
        self.keep(KEPT, dataclasses.replace(KEPT, left=('a Lease',)))
        code, out = self.show()
        self.assertEqual(1, code)
        self.assertIn('not kept: leaks', out)

    def test_nothing_proven(self):
        self.assertEqual(1, self.show()[0])

    def test_documentation_is_written_on_demand(self):
        docs, parts = self.folder / 'docs.csv', self.folder / 'parts.csv'
        for name, path in (('DOCS', docs), ('DOCS_PARTS', parts)):
            self.useFixture(fixtures.MonkeyPatch(
                f'tests.proofs.driver_faults.__main__.{name}', path))
        self.keep(KEPT)
        self.show()
        self.assertFalse(docs.exists())
        self.assertFalse(parts.exists())
        self.show('--write-docs')
        self.assertIn('CREATE_COMPLETE', docs.read_text())
        self.assertIn('api-down,1,1,1.0', parts.read_text())

    def test_conductor_of_its_own_needs_the_profile_full(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertRaises(SystemExit, main.main, [
                '--profile', 'embedded', '--part', 'create-kills'])
        self.assertIn('create-kills', err.getvalue())
