# SPDX-License-Identifier: Apache-2.0

import os
import pathlib
import subprocess
import sys

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.workspace import folder
from tests.unit import strangers

_LAY_OUT = """
import sys
from magnum_capi_tempest.workspace import folder
folder.lay_out(sys.argv[1], '[DEFAULT]')
"""


class LayOutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def test_passwords_are_for_their_owner_only(self):
        conf = folder.lay_out(self.base / 'work', 'x', accounts='y')

        self.assertEqual('x', conf.read_text())
        for path in (conf, conf.with_name(folder.ACCOUNTS)):
            self.assertEqual(0o600, path.stat().st_mode & 0o777)

    @strangers.root
    def test_folder_of_another_user(self):
        theirs = strangers.give(self.base / 'work')

        self.assertRaises(errors.UsageError, folder.lay_out, theirs, 'x')
        self.assertEqual([], list(theirs.iterdir()))

    def test_a_tempest_of_a_checkout(self):
        """As devstack and tox have it, which is not in site-packages."""
        (self.base / 'checkout/tempest').mkdir(parents=True)
        (self.base / 'checkout/tempest/__init__.py').touch()

        subprocess.run(
            [sys.executable, '-c', _LAY_OUT, self.base / 'work'], check=True,
            timeout=60, env={**os.environ, 'PYTHONPATH': os.pathsep.join(
                [str(self.base / 'checkout'), *filter(None, sys.path)])})

        text = (self.base / 'work/.stestr.conf').read_text()
        self.assertIn(f'top_dir={self.base}/checkout\n', text)
        self.assertIn(
            f'test_path={self.base}/checkout/tempest/test_discover\n', text)
