# SPDX-License-Identifier: Apache-2.0
"""Text without secrets stays as it is.

Logs of real programs, by this project's sandbox and of conformance runs; what
kubectl, openstack and Python print; this project's documentation.
"""

import io
import pathlib
import tarfile

import testtools

from magnum_capi_tempest import redact

TOP = pathlib.Path(__file__).parents[3]
ARCHIVES = ('conformance-parallel-v1.34.9', 'magnum-parallel-v1.33.13')


class OrdinaryTest(testtools.TestCase):

    def assert_stays(self, text):
        """Say which lines do not."""
        shown = redact.redact(text)
        self.assertEqual([], [
            (before, after) for before, after in zip(
                text.split('\n'), shown.split('\n')) if before != after])
        self.assertEqual(text, shown)

    def test_logs_and_commands(self):
        path = pathlib.Path(__file__).with_name('ordinary.txt')
        text = path.read_text(encoding='utf-8')

        self.assert_stays(text)

    def test_what_kubernetes_own_tests_print(self):
        for time in ('@ 11/21/26 09:27:54.123', '11/21/26 09:27:54.123',
                     '\x1b[38;5;243m@ 11/21/26 09:27:54.123\x1b[0m'):
            self.assert_stays(
                '  STEP: Creating a pod to test service account token:  '
                f'{time}\n  STEP: Creating a pod\n')

    def test_what_a_registry_refuses(self):
        self.assert_stays(
            'failed to resolve reference "registry.example/a/b:1": pull access'
            ' denied, repository does not exist or may require authorization: '
            'server message: insufficient_scope: authorization failed\n')

    def test_places_for_secrets_in_instructions(self):
        for value in ('<TOKEN>', '<YOUR API TOKEN>', '<your-token-here>',
                      '<INSERT_HERE>', 'test'):
            for line in ('token: {}', '    export TOKEN={}', '--token {} x',
                         'curl -H "Authorization: Bearer {}" https://x',
                         '{{"token": "{}"}}', 'password: "{}"'):
                self.assert_stays(line.format(value) + '\n')

    def test_commands_that_fetch_a_secret(self):
        # The first is of Kubernetes' test/e2e_node and test/e2e/auth.
        for line in (
                '--header "Authorization: Bearer `cat /var/run/secrets/'
                'kubernetes.io/serviceaccount/token`" https://x',
                'export TOKEN=$(kubectl create token default)',
                'curl -H "Authorization: Bearer $(cat token)" https://x',
                '--token $token', 'token: ${{ secrets.TOKEN }}',
                'token: {token}'):
            self.assert_stays(line + '\n')

    def test_documentation(self):
        for folder in ('doc/source', 'releasenotes/notes'):
            for path in sorted((TOP / folder).rglob('*.*')):
                if path.suffix in ('.rst', '.yaml'):
                    self.assert_stays(path.read_text(encoding='utf-8'))

    def test_results_of_conformance_runs(self):
        read = 0
        for name in ARCHIVES:
            data = (TOP / f'tests/data/sonobuoy/{name}.tar.gz').read_bytes()
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    # The list of all tests is long, and has nothing more.
                    if member.isfile() and member.size < 1 << 20:
                        text = archive.extractfile(member).read().decode()
                        self.assert_stays(text)
                        read += len(text)
        self.assertGreater(read, 1_000_000)
