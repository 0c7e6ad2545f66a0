# SPDX-License-Identifier: Apache-2.0

"""How many workers there are users for."""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.workspace import conf as confs

STATIC = '''[auth]
use_dynamic_credentials = false
test_accounts_file = etc/accounts.yaml
'''
ANY = '- username: u\n  password: x\n  project_name: p\n'
USER = f'{ANY}  roles: [member]\n'
READER = f'{ANY}  roles: [reader]\n'
ADMIN = f'{ANY}  types: [admin]\n'


class AllowedByTest(testtools.TestCase):

    def allowed(self, conf, accounts=None):
        etc = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'etc'
        etc.mkdir()
        (etc / 'tempest.conf').write_text(conf)
        if accounts is not None:
            (etc / 'accounts.yaml').write_text(accounts)
        return confs.read(etc).workers

    def test_users(self):
        for number, accounts in (
                (1, USER), (3, USER * 3), (1, ADMIN), (1, USER + READER),
                (1, USER * 3 + ADMIN),
                (2, USER * 3 + ADMIN * 2),
                (1, USER * 2 + f'{ANY}  roles: [admin, member]\n')):
            self.assertEqual(number, self.allowed(STATIC, accounts), accounts)

    def test_users_that_tempest_makes(self):
        for conf in ('', '[auth]\ntest_accounts_file = etc/accounts.yaml\n',
                     '[auth]\nuse_dynamic_credentials = false\n'):
            self.assertIsNone(self.allowed(conf, USER), conf)

    def test_what_tempest_complains_about(self):
        for conf, accounts in (
                (STATIC, None), (STATIC, 'text'), (STATIC, '- {'),
                (STATIC, ''), ('text', USER),
                (STATIC.replace('false', 'perhaps'), USER)):
            self.assertIsNone(self.allowed(conf, accounts), (conf, accounts))


class LimitTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.err = self.useFixture(fixtures.StringStream('err')).stream
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.err))
        self.useFixture(fixtures.MockPatch('os.cpu_count', return_value=4))

    def said(self):
        self.err.seek(0)
        return self.err.read()

    def test_enough(self):
        self.assertEqual([8, 0, 2, 1, 4], [
            confs.concurrency(*numbers) for numbers in (
                (8, None), (0, None), (2, 2), (1, 2), (0, 5))])
        self.assertEqual('', self.said())

    def test_too_few(self):
        self.assertEqual(3, confs.concurrency(0, 3))
        self.assertIn('3 parallel workers instead of 4', self.said())
