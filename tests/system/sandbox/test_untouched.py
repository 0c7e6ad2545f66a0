# SPDX-License-Identifier: Apache-2.0
"""A run of the suite changes nothing that people own in the cloud.

Tempest gets an accounts.yaml with people who use the cloud themselves: the
users and projects of the tests already have application credentials, keypairs,
quotas, templates and clusters. So do people unknown to Tempest. By default the
tests run that delete or change such things, which takes five minutes; with
MAGNUM_CAPI_LONG=whole the whole suite runs, for more than half an hour.
"""

import configparser
import io
import os
import sys

import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_sandbox import tempest_run
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.workspace import folder
from tests.functional import boxes
from tests.system.sandbox import other_users

DRIVER = 'k8s_capi_v1'

#: Classes of tests that delete or change credentials, roles or templates.
CLASSES = ('ClashTest', 'ClusterTemplatesTest', 'InvalidCredentialTest')
REGEX = rf'magnum_capi_tempest\..*\.({"|".join(CLASSES)})\.'
WHOLE = 'magnum_capi'


@boxes.LONG
class UntouchedTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.one = boxes.shared(cls, '--clash', '--discovery-filter')
        cls.cloud = other_users.Cloud(
            cls.one.sandbox.layout(), cls.one.sandbox.passwords(), DRIVER)
        cls.cloud.furnish()

    def write_workspace(self):
        """Make a workspace for these people; return its folder."""
        work, box = self.one.base / 'work', self.one.sandbox
        conf = configparser.RawConfigParser()
        conf.read(tempest_run.prepare(
            box, tempest_run.Order(driver=DRIVER)) / folder.ETC
            / 'tempest.conf')
        conf['auth'] = {
            'use_dynamic_credentials': 'false',
            'create_isolated_networks': 'false',
            'test_accounts_file': str(work / folder.ETC / folder.ACCOUNTS)}
        conf['oslo_concurrency']['lock_path'] = str(work / 'lock')
        text = io.StringIO()
        conf.write(text)
        folder.lay_out(work, text.getvalue(),
                       accounts=yaml.safe_dump(self.cloud.accounts()))
        return work

    def run_tempest(self, regex):
        """Run tests as these people; return the report.model.Run."""
        results = self.one.base / 'results'
        try:
            said = processes.run(
                [sys.executable, '-m', 'magnum_capi.cli.main',
                 'tempest', 'run', self.write_workspace(), '--regex', regex,
                 '--concurrency', '1', '--output', results],
                timeout=5400, merge=True, env=self.one.env)
        except errors.CommandFailed as e:
            # Tests have failed, or none ran: the results show which.
            said = e.output
        self.addDetail('tempest', testtools.content.text_content(said))
        return subunit.read(results / 'run.subunit', title='people')

    def test_all_that_people_have_is_as_it_was(self):
        before = self.cloud.look()

        run = self.run_tempest(
            WHOLE if os.environ['MAGNUM_CAPI_LONG'] == 'whole' else REGEX)

        after = self.cloud.look()
        self.assertEqual({}, {
            key: {'before': thing, 'after': after.get(key)}
            for key, thing in before.items() if after.get(key) != thing})
        self.assert_tried(run)

    def assert_tried(self, run):
        """Assert that the potentially harmful tests ran and did their work."""
        mine = [t for t in run.tests if t.id.split('.')[-2] in CLASSES]
        self.assertEqual([], [
            f'{t.name}: {t.reason}' for t in mine if t.failing])
        passed = {t.id.split('.')[-2] for t in mine
                  if t.status == model.PASSED}
        self.assertEqual(set(CLASSES), passed)
