# SPDX-License-Identifier: Apache-2.0

"""The first examples of two pages, in a sandbox of run_sandbox.sh."""

import pathlib
import re

import fixtures
import testtools

from tests.functional import typed
from tests.unit.docs import pages

#: What tools/run_sandbox.sh adds to a sandbox.
OF_SCRIPT, = re.findall(r'^drivers=\((.+)\)$', (
    pages.TOP / 'tools/run_sandbox.sh').read_text(), re.M)


def examples():
    """The blocks of commands, those that start no sandbox."""
    for name in ('sandbox', 'discovery'):
        for block in pages.blocks((pages.SOURCE / f'{name}.rst').read_text()):
            if not any('sandbox up' in one.text for one in block):
                yield block
                break


class FirstExamplesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir(rootdir='/tmp')).path)
        self.shell = self.useFixture(typed.Shell(self.folder))

    def test_in_a_sandbox_of_the_script(self):
        said = self.shell.run(f'magnum-capi sandbox up {OF_SCRIPT}')
        self.addDetail('up', testtools.content.text_content(said))
        for example in examples():
            seen = self.shell.type(example, cwd=self.folder)
            for one in seen:
                self.assertEqual(one.command.code, one.code,
                                 f'{one.command.text}\n{one.output[-3000:]}')
            self.assertEqual(len(example), len(seen))
