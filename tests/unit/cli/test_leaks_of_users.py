# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi tempest snapshot|leaks`` as different users of a cloud."""

import pathlib

import fixtures
import testtools

from magnum_capi_tempest.cli import leaks
from magnum_capi_tempest.cli import tempest
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from tests.unit.cli import test_tempest
from tests.unit.discovery import test_cloud
from tests.unit.workspace import cloud_over_http


class UsersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.cloud = self.useFixture(cloud_over_http.Cloud())
        self.cloud.page = 500
        self.cloud.users('alice', 'bob')
        self.file = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'before.json'
        code, _, err = test_tempest.call(
            leaks.Snapshot, '--os-cloud', 'alice', self.file)
        self.assertEqual(0, code, err)

    def leaks(self, user):
        return test_tempest.call(leaks.Leaks, '--os-cloud', user, self.file)

    def test_the_same_user(self):
        code, out, _ = self.leaks('alice')
        self.assertEqual(0, code, out)
        self.cloud.templates = [test_cloud.template('left')]
        self.assertEqual(1, self.leaks('alice')[0])

    def test_what_the_tests_of_a_workspace_left(self):
        work = self.file.with_name('work')
        code, _, err = test_tempest.call(
            tempest.Init, '--cloud', 'alice', '--image', 'ubuntu', work)
        self.assertEqual(0, code, err)
        code, out, _ = test_tempest.call(leaks.Leaks, '--workspace', work)
        self.assertEqual(0, code, out)

        self.cloud.templates = [test_cloud.template('left'),
                                test_cloud.template('of-bob')]
        uuid = self.cloud.templates[0]['uuid']
        watch.record(str(work / 'artefacts'), model.Made(
            model.TEMPLATE, uuid, 'left', 'a.B.test_c'))
        code, out, err = test_tempest.call(leaks.Leaks, '--workspace', work)

        self.assertEqual(1, code, out + err)
        self.assertIn('a.B.test_c', out)
        self.assertNotIn('of-bob', out)

    def test_a_snapshot_or_a_workspace(self):
        self.assertEqual(2, test_tempest.call(leaks.Leaks)[0])

    def test_another_user_sees_other_things(self):
        self.cloud.templates = [test_cloud.template('of-bob')]
        code, out, err = self.leaks('bob')
        self.assertEqual((2, ''), (code, out))
        self.assertIn('--os-cloud', err)
        self.assertIn('alice', err)
