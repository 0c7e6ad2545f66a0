# SPDX-License-Identifier: Apache-2.0
"""``tempest run`` neither leaves nor shows secrets that tests disclose.

No cloud is needed: the tests are :mod:`.talkative`, which stand for those of
any other project.
"""

import os
import pathlib
import shutil
import sys

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import report
from magnum_capi_tempest.workspace import folder
from tests.functional import secret_scan
from tests.functional.workspace import talkative

ADMIN = 'Adm1n-of-the-cloud'
_CONF = f'''[DEFAULT]
log_file = tempest.log
debug = true
[auth]
admin_password = {ADMIN}
[oslo_concurrency]
lock_path = lock
'''


class WorkspaceRedactionTest(testtools.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = fixtures.TempDir()
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        cls.base = pathlib.Path(temporary.path)
        cls.workspace = cls.base / 'workspace'
        cls.results = cls.base / 'some' / 'results'
        conf = folder.lay_out(cls.workspace, _CONF)
        tests = cls.base / 'tests'
        tests.mkdir()
        shutil.copy(talkative.__file__, tests / 'test_talkative.py')
        (cls.workspace / '.stestr.conf').write_text(
            f'[DEFAULT]\ntest_path={tests}\ntop_dir={tests}\n')
        before = os.umask(0o022)
        try:
            cls.said = cls._run()
        finally:
            os.umask(before)
        conf.unlink()
        cls.scan = secret_scan.Scan({**talkative.SECRETS, 'admin': ADMIN})

    @classmethod
    def _run(cls):
        command = [sys.executable, '-m', 'magnum_capi.cli.main',
                   'tempest', 'run', cls.workspace, '--regex', 'talkative',
                   '--output', cls.results]
        try:
            return processes.run(command, timeout=300, merge=True)
        except errors.CommandFailed as e:
            # One of the tests fails.
            return e.output

    def test_the_tests_ran(self):
        self.assertIn('1 failed, 1 class failed, 1 passed', self.said)
        for name in ('run.subunit', 'report.html', 'report.json',
                     'junit.xml', 'report.md'):
            self.assertTrue((self.results / name).is_file(), name)
        self.assertTrue((self.workspace / 'tempest.log').is_file())
        self.assertTrue((self.workspace / '.stestr' / '0').is_file())

    def test_what_is_harmless_is_there(self):
        self.assertIn('<redacted>', self.said)
        for path in (self.results / 'run.subunit',
                     self.workspace / 'tempest.log',
                     self.results / 'failures/TalkativeTest.test_fails.txt'):
            self.assertIn(b'<redacted>', path.read_bytes())
            self.assertIn(b'It failed', path.read_bytes())

    def test_no_secret_is_shown(self):
        self.assertEqual([], self.scan.data(self.said.encode()))

    def test_no_secret_is_left(self):
        self.assertEqual({}, self.scan.files(self.workspace, self.results))

    def test_nobody_else_may_look(self):
        """But at reports, which have no secrets: the umask says who may."""
        reports = [*report.FORMS, 'failures']
        made = [path for path in (*self.results.rglob('*'),
                                  *self.workspace.glob('*.log'))
                if path.name not in reports
                and path.parent.name not in reports]

        self.assertIn(self.results / 'run.subunit', made)
        self.assertEqual([], [
            str(path) for path in made if path.stat().st_mode & 0o077])
