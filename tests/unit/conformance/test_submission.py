# SPDX-License-Identifier: Apache-2.0

"""From an archive to the folder that CNCF gets, and its check."""

import io
import json
import os
import pathlib
import shutil
from unittest import mock

import fixtures
import requests
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_submit as cli
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.submission import build
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import product
from magnum_capi_tempest.conformance.submission import rules
from tests.unit.conformance import archives
from tests.unit.conformance import submissions


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.out = self.folder / 'out'
        self.out.mkdir()


class BuildTest(_Base):

    def build(self, members=None, about=None, **kwargs):
        record = self.folder / 'run.tar.gz'
        record.write_bytes(archives.by_library(
            submissions.certified() if members is None else members))
        about = submissions.product_yaml() if about is None else about
        (self.folder / 'p.yaml').write_bytes(about)
        return build.build(record, self.folder / 'p.yaml', self.out,
                           **{'latest': 'v1.36'} | kwargs)

    def refused(self, *args, **kwargs):
        error = self.assertRaises(build.Refused, self.build, *args, **kwargs)
        self.assertEqual([], os.listdir(self.out))
        self.assertEqual(1, error.exit_code)
        return '\n'.join(error.reasons)

    def test_four_files_and_nothing_else(self):
        members = submissions.certified()

        made = self.build(members)

        self.assertEqual(self.out / 'v1.34' / 'turbo-encabulator',
                         made.folder)
        self.assertEqual(['PRODUCT.yaml', 'README.md', 'e2e.log',
                          'junit_01.xml'], sorted(os.listdir(made.folder)))
        self.assertEqual(['v1.34'], os.listdir(self.out))
        for name, member in (('e2e.log', archives.LOG),
                             ('junit_01.xml', archives.JUNIT)):
            self.assertEqual(members[member],
                             (made.folder / name).read_bytes())
        self.assertEqual(submissions.product_yaml(),
                         (made.folder / 'PRODUCT.yaml').read_bytes())

    def test_what_was_built_passes_its_check(self):
        made = self.build()

        report = check.check(made.folder, title=made.title,
                             latest='v1.36')

        self.assertEqual(((), True), (report.findings, report.ok))

    def test_the_readme_says_how(self):
        text = (self.build().folder / 'README.md').read_text()

        for part in ('Turbo Encabulator v1.7.4', 'Kubernetes: v1.34.9',
                     'Sonobuoy v0.57.5', '--mode certified-conformance',
                     '--filename results.tar.gz',
                     'openstack coe cluster create'):
            self.assertIn(part, text)

    def test_the_readme_says_how_that_run_differs(self):
        image = 'mirror.example.org/conformance:v1.34.9'
        members = submissions.certified(**{
            archives.DEFINITION: json.dumps({'Definition': {'spec': {
                'image': image}}}).encode(),
            archives.JUNIT: submissions.junit().replace(
                b'name="ParallelTotal" value="1"',
                b'name="ParallelTotal" value="4"')})

        text = (self.build(members).folder / 'README.md').read_text()

        self.assertIn(f'--kube-conformance-image {image}', text)
        self.assertIn('E2E_EXTRA_GINKGO_ARGS=--procs=4', text)

    def test_files_of_hydrophone(self):
        """They do not have the version of Kubernetes."""
        files = self.folder / 'files'
        files.mkdir()
        members = submissions.certified()
        for name, member in (('e2e.log', archives.LOG),
                             ('junit_01.xml', archives.JUNIT)):
            (files / name).write_bytes(members[member])
        (self.folder / 'p.yaml').write_bytes(submissions.product_yaml())

        def submit(name, record=files):
            return build.build(
                record, self.folder / 'p.yaml', self.out, name=name,
                latest='v1.36')

        error = self.assertRaises(build.Refused, submit, 'a')
        self.assertIn('RECORD,kubernetes=VERSION', str(error))

        submit('b', f'{files},kubernetes=v1.34.9')
        runs.save(runs.Run(
            files, runs.Target(kubeconfig='/k'), runner.Plan(
                mode='certified-conformance'),
            backend='hydrophone', archive='.',
            started='2026-11-21T09:00:00+00:00',
            about=model.Cluster(kubernetes='v1.34.9')))
        made = submit('c')

        self.assertEqual('v1.34', made.folder.parent.name)
        text = (made.folder / 'README.md').read_text()
        self.assertIn('Kubernetes: v1.34.9', text)
        self.assertIn('hydrophone --conformance', text)

    def test_own_words_on_the_cluster(self):
        (self.folder / 's.md').write_text('Press the button.\n')

        made = self.build(setup_file=self.folder / 's.md')

        text = (made.folder / 'README.md').read_text()
        self.assertIn('Press the button.', text)
        self.assertNotIn('openstack coe', text)

    def test_the_readme_has_no_control_characters(self):
        made = self.build(about=submissions.product_yaml(
            name=r'"A\e[31m\nB"', version=r'"1\e[0m"'))

        text = (made.folder / 'README.md').read_text()
        self.assertTrue(text.startswith('# Conformance of A B 1, '), text)

    def test_a_failed_run_is_refused(self):
        text = self.refused(submissions.certified(broken=(0, 5)))

        self.assertIn('the run did not pass: failed', text)
        self.assertIn('2 of 424 required tests did not pass', text)
        self.assertIn('required, but not passed: [sig-', text)

    def test_a_patch_release_that_is_newer_than_the_list(self):
        names = required.of('v1.34')[1:]
        self.assertIn('1 of the 424 tests', self.refused(
            submissions.certified(names=names)))

        made = self.build(submissions.certified(version='v1.34.99',
                                                names=names))

        self.assertEqual('v1.34', made.folder.parent.name)

    def test_another_mode_is_refused(self):
        text = self.refused(archives.files())

        self.assertIn('the record does not show that it is a certified run',
                      text)
        # Hundreds of tests that nobody meant to run explain nothing.
        self.assertNotIn('required, but not passed', text)

    def test_stand_in_images_are_refused(self):
        text = self.refused(submissions.certified(**{
            archives.SERVER: b'{"gitVersion":"v1.34.9","gitCommit":"'
                             + b'0' * 40 + b'"}'}))

        self.assertIn('stand-ins', text)

    def test_every_reason_is_listed(self):
        text = self.refused(archives.files(), about=submissions.product_yaml(
            vendor=None, website_url='x'))

        for part in ('a certified run', 'the field vendor is missing',
                     'website_url is not a URL'):
            self.assertIn(part, text)

    def test_a_release_that_is_over_is_refused(self):
        self.assertIn('rule 12', self.refused(latest='v1.38'))

    def test_a_junit_file_of_another_name(self):
        members = submissions.certified(**{archives.JUNIT: None})
        members[archives.JUNIT.replace('01', '02')] = submissions.junit()

        self.assertIn('there is no junit_01.xml in', self.refused(members))

    def test_what_is_there_stays(self):
        self.build()

        self.assertRaises(errors.UsageError, self.build)
        self.assertEqual(['v1.34'], os.listdir(self.out))

    def test_a_break_leaves_nothing(self):
        with mock.patch.object(check, 'check',
                               side_effect=KeyboardInterrupt):
            self.assertRaises(KeyboardInterrupt, self.build)

        self.assertEqual([], os.listdir(self.out))

    def test_names_lead_nowhere_else(self):
        for name in ('..', '/', '../../x'):
            try:
                made = self.build(name=name)
            except errors.UsageError:
                continue
            self.assertEqual(self.out / 'v1.34', made.folder.parent)


class CheckTest(_Base):

    def check(self, title=submissions.TITLE, **changes):
        place = submissions.write(self.folder, **changes)
        return check.check(place, title=title, latest='v1.36')

    def test_the_folder_or_what_holds_it(self):
        place = submissions.write(self.folder)

        for folder in (place, place.parent, self.folder):
            report = check.check(folder, title=submissions.TITLE,
                                 latest='v1.36')
            self.assertEqual((), report.findings)
            self.assertEqual('v1.34', report.submission.release)

    def test_the_title_is_asked_for_by_the_folder(self):
        report = self.check(title=None)

        self.assertEqual(submissions.TITLE, report.submission.title)

    def test_places_are_those_of_the_repository(self):
        lines = submissions.junit(broken=(2,))

        report = self.check(**{'junit_01.xml': lines})

        number = lines[:lines.index(b'<failure')].count(b'\n') + 1
        self.assertEqual((submissions.JUNIT, number), (
            report.findings[0].file, report.findings[0].line))
        self.assertFalse(report.ok)

    def test_a_link_is_no_file(self):
        place = submissions.write(self.folder)
        (place / 'README.md').unlink()
        (place / 'README.md').symlink_to('/etc/hostname')

        found = check.check(place, title=submissions.TITLE,
                            latest='v1.36').findings

        self.assertEqual({'2'}, {f.rule for f in found})

    def test_secrets_are_warned_of_and_stay(self):
        log = (b'line\npassword=hunter2\n'
               + submissions.certified()[archives.LOG])

        report = self.check(**{'e2e.log': log})

        self.assertEqual(
            [(rules.SECRETS, submissions.LOG, 2, rules.WARNING)],
            [(f.rule, f.file, f.line, f.level) for f in report.findings])
        self.assertTrue(report.ok)
        self.assertEqual(log, (self.folder / submissions.LOG).read_bytes())
        self.assertNotIn('hunter2', str(report.findings))

    def test_a_folder_that_is_not_there(self):
        self.assertRaises(errors.UsageError, check.check,
                          self.folder / 'none')
        self.assertRaises(errors.UsageError, check.check, self.folder,
                          latest='1.36')

    def test_an_archive_is_no_submission_yet(self):
        archive = self.folder / 'run.tar.gz'
        archive.touch()

        error = self.assertRaises(
            errors.UsageError, check.check, archive)

        self.assertIn('It is a file, not a folder', str(error))
        self.assertIn('--product', str(error))

    def test_a_junit_file_that_cannot_be_read(self):
        for content in (b'', b'hello', archives.entity_bomb()):
            report = self.check(**{'junit_01.xml': content})
            shutil.rmtree(self.folder / 'v1.34')

            self.assertFalse(report.ok)
            self.assertIn('13', {f.rule for f in report.findings})

    def test_an_empty_folder_breaks_rules_and_nothing_else(self):
        found = check.check(self.folder).findings

        self.assertIn('2', [f.rule for f in found])


class PagesTest(testtools.TestCase):

    PRODUCT = product.parse(submissions.product_yaml(repo_url='no url'))

    def test_each_address_is_asked_once(self):
        answer = mock.Mock(headers={'Content-Type': 'text/html'})
        get = mock.Mock(return_value=answer)

        found = check.ask(self.PRODUCT, get)

        self.assertEqual({'website_url': 'text/html',
                          'documentation_url': 'text/html'}, found)
        self.assertEqual(2, get.call_count)
        self.assertIn('timeout', get.call_args.kwargs)

    def test_no_answer_is_an_empty_one(self):
        get = mock.Mock(side_effect=requests.ConnectionError('x'))

        self.assertEqual({'website_url': '', 'documentation_url': ''},
                         check.ask(self.PRODUCT, get))


class CommandTest(_Base):

    def run_command(self, *argv):
        self.stdout = io.StringIO()
        self.stderr = io.StringIO()
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', self.stderr))
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.folder)))
        app = mock.Mock(stdout=self.stdout)
        app.options.debug = False
        command = cli.Submit(app, None)
        return command.run(command.get_parser('x').parse_args(
            [str(a) for a in argv]))

    def test_check_tells_by_its_exit_code(self):
        place = submissions.write(self.folder)

        self.assertEqual(0, self.run_command(
            '--check', place, '--latest', 'v1.36'))
        self.assertIn('It can be submitted', self.stdout.getvalue())
        self.assertIn('rules 9, 15; latest release: v1.36',
                      self.stdout.getvalue())
        self.assertEqual(1, self.run_command('--check', place, '--title',
                                             'x'))
        self.assertIn('[rule 11]', self.stdout.getvalue())
        self.assertEqual(2, self.run_command('--check',
                                             self.folder / 'none'))

    def test_build_and_refusal(self):
        product_file = self.folder / 'p.yaml'
        product_file.write_bytes(submissions.product_yaml())
        for members, code in ((submissions.certified(), 0),
                              (archives.files(), 1)):
            record = self.folder / 'a.tar.gz'
            record.write_bytes(archives.by_library(members))

            self.assertEqual(code, self.run_command(
                record, '--product', product_file, '--output', self.out,
                '--latest', 'v1.36'))
        record.write_bytes(archives.good()[:-100])
        self.assertEqual(3, self.run_command(
            record, '--product', product_file, '--output', self.out))

    def test_a_folder_of_the_ai_programme_is_named_as_one(self):
        product_file = self.out / 'PRODUCT.yaml'
        product_file.write_text('metadata: {platformName: x}\nspec: {}\n')

        self.assertEqual(1, self.run_command('--check', self.out))
        self.assertIn('cncf/k8s-ai-conformance), not in good form yet',
                      self.stdout.getvalue())
        self.assertIn('PRODUCT.yaml:1: the field vendorName is missing',
                      self.stdout.getvalue())

    def test_wrong_usage(self):
        (self.folder / 'p.yaml').write_bytes(submissions.product_yaml())
        whole = ('a.tar.gz', '--product', self.folder / 'p.yaml')
        for argv in (
                (), ('a.tar.gz',), whole, ('--product', 'p', '--output', 'o'),
                (*whole, '--output', self.folder / 'none'),
                (*whole, '--output', self.out),      # there is no a.tar.gz
                (*whole, '--output', self.out, '--check', self.out),
                (*whole, '--output', self.out, '--title', 'x'),
                (*whole, '--output', self.out, '--online')):
            self.assertEqual(2, self.run_command(*argv), argv)
            self.assertEqual(1, len(self.stderr.getvalue().splitlines()))
