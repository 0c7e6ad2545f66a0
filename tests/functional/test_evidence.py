# SPDX-License-Identifier: Apache-2.0

"""Evidence of failed tests in a real cloud, which contains no secrets."""

import os
import pathlib
import re
import sys

from testtools import matchers

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_sandbox import tempest_run
from magnum_capi_tempest.leaks import record
from tests.functional import boxes

TOP = pathlib.Path(__file__).parents[2]

#: A token of Keystone, of a service account, and keys.
_SECRETS = re.compile(
    rb'gAAAAA[\w-]{60,}|eyJ[\w-]{8,}\.[\w-]{8,}\.|PRIVATE KEY'
    rb'|LS0tLS1CRUdJTi[\w+/]*(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ'
    rb'|QUklWQVRFIEtFW)')

_CLASS = 'tests.functional.evidence_on_purpose.OnPurpose'


@boxes.LONG
class EvidenceTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = boxes.shared(cls, '--profile', 'embedded', '--install',
                               str(TOP / 'drivers' / 'k8s_capi_v1'))
        cls.artefacts = cls.box.base / 'artefacts'
        workspace = tempest_run.prepare(
            cls.box.sandbox, tempest_run.Order(driver='k8s_capi_v1'),
            cls.artefacts)
        try:
            cls.said = processes.run(
                [sys.executable, '-m', 'testtools.run', _CLASS],
                timeout=900, merge=True, cwd=workspace,
                env={**cls.box.env, 'PYTHONPATH': str(TOP),
                     'TEMPEST_CONFIG_DIR': str(workspace / 'etc'),
                     'no_proxy': '*'})
        except errors.CommandFailed as e:
            cls.said = e.output

    def texts(self, test):
        """Evidence of a test, by the beginning of the file's name."""
        folder = self.artefacts / f'{_CLASS}.{test}'
        return {p.name.partition('-of-')[0].removesuffix('.txt'):
                p.read_text() for p in folder.glob('*')}

    def test_every_source_has_said_something(self):
        found = self.texts('test_1_a_wrong_expectation')

        self.assertEqual(
            {'Cluster-API-conditions', 'Cluster-API-events', 'Helm-history',
             'Magnum-logs', 'cluster', 'node-groups', 'nodes-and-pods',
             'requests'}, set(found) - {'pythonlogging', 'traceback'})
        self.assertEqual([], [
            name for name, text in found.items() if 'not available' in text])

    def test_it_says_why(self):
        found = self.texts('test_1_a_wrong_expectation')

        for name in ('cluster', 'node-groups', 'Cluster-API-conditions',
                     'Magnum-logs'):
            self.assertIn('No valid host', found[name], name)
        self.assertIn('cluster_create', found['Magnum-logs'])
        self.assertIn('Install complete', found['Helm-history'])
        self.assertRegex(found['requests'], 'POST /v1/clusters 202 req-')
        self.assertRegex(found['nodes-and-pods'], r'control-plane-\w+ ready')

    def test_the_leak_names_owner_and_test(self):
        self.assertRegex(
            self.said, r'application credential left \(\w+\), owner: user '
            rf'\w+(, project \w+)?, left by: {re.escape(_CLASS)}'
            '.test_2_a_leak')

    def test_a_test_that_passes_leaves_no_evidence(self):
        self.assertEqual({}, self.texts('test_3_no_failure'))
        self.assertIn(
            f'{_CLASS}.test_3_no_failure',
            {made.test for made in record.read(self.artefacts)})

    def test_no_secret_of_the_sandbox_is_there(self):
        secrets = {v.encode()
                   for v in self.box.sandbox.passwords().values()}
        for key in self.box.directory.glob('management/pki/*.key'):
            secrets.add(key.read_bytes().splitlines()[1])
        self.assertThat(len(secrets), matchers.GreaterThan(8))
        texts = {str(p): p.read_bytes()
                 for p in self.artefacts.rglob('*') if p.is_file()}
        self.assertThat(len(texts), matchers.GreaterThan(8))

        self.assertEqual({}, {
            path: found for path, text in texts.items()
            if (found := [s for s in secrets if s in text]
                + _SECRETS.findall(text))})

    def test_nobody_else_may_look(self):
        self.assertEqual([], [
            str(p) for p in (self.artefacts, *self.artefacts.rglob('*'))
            if os.stat(p).st_mode & 0o077])
