# SPDX-License-Identifier: Apache-2.0

"""``conformance resume`` of a run whose command was killed: its files."""

import contextlib
import io
import pathlib
import subprocess

from magnum_capi.cli import main
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from tests.unit.conformance.run import run_box


class ResumeTest(run_box.TestCase):
    """The program of the run is played; cluster and folders are made up."""

    def setUp(self):
        super().setUp()
        self.patch(lifecycle, 'Runtime', lambda: self.box.runtime)
        self.results = self.box.base / 'results'

    def killed(self, **files):
        """A run whose Hydrophone wrote files before its command was killed.

        :param files: content by the stem of the name.
        """
        self.play(KeyboardInterrupt(), files)
        with contextlib.suppress(KeyboardInterrupt):
            self.box.run(backend=model.HYDROPHONE)

    def reader(self, name):
        """A program of the user's that reads a file of the run."""
        process = subprocess.Popen(
            ['tail', '-f', self.results / 'r' / name],
            stdout=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def play(self, error, files):
        """What the next calls of Hydrophone write and end with."""
        def call(argv, **kwargs):
            if '--output-dir' not in argv:
                return ''
            folder = pathlib.Path(argv[argv.index('--output-dir') + 1])
            for name, content in files.items():
                suffix = 'log' if name == 'e2e' else 'xml'
                (folder / f'{name}.{suffix}').write_bytes(content)
            raise error

        self.patch(run_box.processes, 'run', call)

    def call(self, verb='resume'):
        """Exit code and standard output."""
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return main.main(['conformance', verb, 'r']), out.getvalue()

    def kept(self, name):
        """Contents of the files of a name, wherever they are."""
        return [path.read_bytes() for path in self.results.rglob(name)]

    def test_results_that_are_here_are_read_and_stay(self):
        """Hydrophone fetched them and removed its pod; then it was killed."""
        passed = run_box.JUNIT.replace(b'failed', b'passed').replace(
            b'<failure message="no"/>', b'')
        self.killed(e2e=run_box.LOG, junit_01=passed)
        self.play(run_box.REFUSED, {})

        code, out = self.call()

        self.assertEqual([run_box.LOG], self.kept('e2e.log'))
        self.assertEqual([passed], self.kept('junit_01.xml'))
        # The log has no end.
        self.assertEqual(3, code, out)
        self.assertIn('1 passed', out)

    def test_a_broken_copy_stays_until_there_is_a_whole_one(self):
        self.killed(e2e=run_box.LOG, junit_01=run_box.JUNIT[:50])
        self.play(run_box.REFUSED, {'e2e': b''})

        self.assertEqual(3, self.call()[0])
        self.assertIn(run_box.LOG, self.kept('e2e.log'))

        self.play(run_box.REFUSED, {'e2e': run_box.LOG,
                                    'junit_01': run_box.JUNIT})
        self.assertEqual(1, self.call()[0])
        self.assertEqual([run_box.LOG], self.kept('e2e.log'))
        self.assertEqual([run_box.JUNIT], self.kept('junit_01.xml'))

    def test_who_reads_the_log_of_a_run_is_left_alone(self):
        self.killed(e2e=run_box.LOG, junit_01=run_box.JUNIT)
        (self.results / 'r' / 'e2e.log').write_bytes(run_box.LOG)
        reader = self.reader('e2e.log')

        for verb in 'resume', 'abort':
            self.call(verb)

            self.assertIsNone(reader.poll())
