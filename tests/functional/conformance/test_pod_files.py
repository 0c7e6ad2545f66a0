# SPDX-License-Identifier: Apache-2.0

"""What kubectl prints of the log in a pod; here it runs on this machine."""

import pathlib

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.conformance.run import pod_files
from magnum_capi_tempest import toolchain


class LogTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.MonkeyPatch(
            f'{pod_files.__name__}._RESULTS', str(self.folder)))
        self.kubectl = toolchain.ensure(
            ['kubectl'], progress.Silent())['kubectl']

    def execute(self, namespace, pod, container, command):
        return processes.run([self.kubectl, *command[1:]], timeout=60,
                             binary=True)

    def test_a_log(self):
        for content, log in (
                (b'', ''), (b'Will run 1\n\xe2\x80\xa2', 'Will run 1\n•'),
                # A test has printed what a program said.
                (b'Will run 1\n\xff\xe2\x80\xa2', 'Will run 1\n\ufffd•')):
            (self.folder / 'e2e.log').write_bytes(content)

            self.assertEqual(log, pod_files.log(self, 'n', 'p', 'c'))
