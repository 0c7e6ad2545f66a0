# SPDX-License-Identifier: Apache-2.0

"""The steps of the GitHub action, run as a runner would."""

import os
import pathlib
import re
import stat
import subprocess

import fixtures
import testtools
import yaml

TOP = pathlib.Path(__file__).parents[2]
ACTION = '.github/actions/driver-test'

#: Stands for tools/test_driver.sh: writes a report, and fails.
DRIVER_TEST = """#!/bin/bash
printf '%s\\n' "$@" > arguments
mkdir "$3"
echo '# k8s_x fails core' > "$3/driver-report.md"
[[ $1 == unbuilt ]] || echo '{}' > "$3/driver-report.json"
exit 1
"""


class ActionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.action = yaml.safe_load(
            (TOP / ACTION / 'action.yml').read_text())
        self.inputs = {name: one['default']
                       for name, one in self.action['inputs'].items()}

    def step(self, name, top=TOP):
        """Run a step of the shell.

        :returns: its exit code, and what it told the runner.
        """
        step, = (one for one in self.action['runs']['steps']
                 if one['name'] == name)
        told = {one: self.folder / one
                for one in ('GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY')}
        for path in told.values():
            path.write_text('')
        values = {'github.action_path': str(top / ACTION), **{
            f'inputs.{one}': value for one, value in self.inputs.items()}}
        env = {variable: re.sub(r'\$\{\{ (.+?) \}\}',
                                lambda found: values[found[1]], text)
               for variable, text in step['env'].items()}
        # As GitHub runs "shell: bash".
        code = subprocess.run(
            ['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c',
             step['run']], cwd=self.folder, check=False,
            env={'PATH': os.environ['PATH'], **told, **env}).returncode
        return code, {one: path.read_text() for one, path in told.items()}

    def driver_test(self, **inputs):
        """Run the step that tests a driver, which fails."""
        script = self.folder / 'project/tools/test_driver.sh'
        script.parent.mkdir(parents=True)
        (self.folder / 'project' / ACTION).mkdir(parents=True)
        script.write_text(DRIVER_TEST)
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        self.inputs.update(inputs)
        code, told = self.step('Test the driver', self.folder / 'project')
        self.assertEqual(1, code)
        return told['GITHUB_OUTPUT']

    def test_a_driver_that_fails_fails_the_job_and_is_shown(self):
        told = self.driver_test(arguments='--core --magnum 2026.1')

        # Its programs are kept all the same.
        self.assertEqual('report=driver-report/driver-report.json\n'
                         'tested=yes\n', told)
        self.assertEqual(
            ['.', '--folder', 'driver-report', '--core', '--magnum',
             '2026.1'], (self.folder / 'arguments').read_text().split())
        _, told = self.step('Show what came of it')
        self.assertEqual('# k8s_x fails core\n', told['GITHUB_STEP_SUMMARY'])

    def test_arguments_on_several_lines(self):
        self.driver_test(arguments='--core\n--magnum 2025.2\n')

        self.assertEqual(
            ['.', '--folder', 'driver-report', '--core', '--magnum',
             '2025.2'], (self.folder / 'arguments').read_text().split())

    def test_not_all_programs_are_no_cache(self):
        """Nothing could be added to it, its key is the same for ever."""
        self.assertEqual('report=driver-report/driver-report.json\n',
                         self.driver_test(driver='unbuilt'))

    def test_programs_are_kept_though_the_driver_fails(self):
        """The step after the job of actions/cache runs if it succeeds."""
        uses = {one['uses'].partition('@')[0]: one
                for one in self.action['runs']['steps'] if 'uses' in one}

        self.assertNotIn('actions/cache', uses)
        self.assertEqual(
            'always() && steps.test.outputs.tested '
            "&& steps.programs.outputs.cache-hit != 'true'",
            uses['actions/cache/save']['if'])
        self.assertEqual('programs', uses['actions/cache/restore']['id'])

    def test_jobs_of_a_matrix_keep_one_report_each(self):
        """GitHub refuses a second artifact of the same name in a run."""
        upload, = (one for one in self.action['runs']['steps']
                   if one.get('uses', '').startswith(
                       'actions/upload-artifact'))

        for part in ('github.job', 'strategy.job-index'):
            self.assertIn(f'${{{{ {part} }}}}', upload['with']['name'])

    def test_nothing_is_shown_of_what_never_ran(self):
        code, told = self.step('Show what came of it')

        self.assertEqual((0, ''), (code, told['GITHUB_STEP_SUMMARY']))

    def cache_names(self, top):
        code, told = self.step(
            'Name the cache by what is pinned and by what is built', top)
        self.assertEqual(0, code)
        found = re.fullmatch(
            r'hash=([0-9a-f]{16})\nsources=([0-9a-f]{16})\n',
            told['GITHUB_OUTPUT'])
        self.assertIsNotNone(found, told)
        return found.groups()

    def test_the_cache_depends_on_what_is_pinned_and_built(self):
        """A program whose sources have changed is built, and then kept."""
        top = self.folder / 'the project'
        for name in (f'{ACTION}/action.yml', 'capi/main.go',
                     'magnum_capi_tempest/toolchain/pins.toml',
                     'tools/go/x/go.sum'):
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text('1')
        pins, sources = self.cache_names(top)

        for name in ('capi/main.go', 'tools/go/x/go.sum'):
            (top / name).write_text('2')
            found = self.cache_names(top)
            self.assertEqual(pins, found[0])
            self.assertNotEqual(sources, found[1])
            sources = found[1]
        (top / 'magnum_capi_tempest/toolchain/pins.toml').write_text('2')
        self.assertNotEqual(pins, self.cache_names(top)[0])

    def test_the_project_has_what_the_cache_depends_on(self):
        self.cache_names(TOP)

    def test_the_script_takes_a_driver_first(self):
        script = (TOP / ACTION / '../../../tools/test_driver.sh').resolve()
        for words in ((), ('--core',)):
            found = subprocess.run([script, *words], capture_output=True,
                                   text=True, check=False)
            self.assertEqual(2, found.returncode)
            self.assertIn('Which driver?', found.stderr)
