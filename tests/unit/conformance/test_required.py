# SPDX-License-Identifier: Apache-2.0

"""The tests that certify a release: the version of the cluster decides."""

import datetime
import json
import pathlib
import tempfile
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.cli import conformance_lists
from magnum_capi_tempest.conformance import lists
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance.submission import bundle
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import findings
from magnum_capi_tempest.conformance import verdict
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand
from tests.unit.conformance import submissions

#: What Kubernetes v1.36.5 does not require any more, v1.36.4 does.
DROPPED = '[sig-node] Pod InPlace Resize Container guaranteed pods with mul'


def minor(version):
    """``v1.36`` of ``v1.36.5``."""
    return version.rpartition('.')[0]


class VersionTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)

    def judged(self, version, names, broken=()):
        """Verdict on the archive of a certified run of these tests."""
        path = self.folder / 'run.tar.gz'
        path.write_bytes(archives.by_library(submissions.certified(
            broken, version=version, names=names)))
        return by_hand.judged(reading.read(path))

    def built(self, version):
        """Whether a submission can be made of the archive of a run."""
        about = self.folder / 'PRODUCT.yaml'
        about.write_bytes(submissions.product_yaml())
        try:
            made = bundle.build(
                self.folder / 'run.tar.gz', about,
                self.folder / f'out-{version}', latest=minor(version))
        except bundle.Refused:
            return False
        self.assertEqual((), made.warnings)
        return True

    def broken_rules(self, version, names, broken):
        """The bot's rules that a submission with these tests breaks."""
        members = submissions.certified(broken, version=version, names=names)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            place = submissions.write(
                pathlib.Path(folder), release=minor(version), **{
                    'e2e.log': f'kube-apiserver version: {version}\n'.encode()
                               + members[archives.LOG],
                    'junit_01.xml': members[archives.JUNIT]})
            report = check.check(place, latest=minor(version))
        return {finding.rule for finding in report.findings}

    def test_a_patch_release_that_requires_less(self):
        names = [name for name in required.of('v1.36.0').names
                 if not name.startswith(DROPPED)]
        self.assertEqual(443, len(names))

        found = self.judged('v1.36.5', names)

        self.assertEqual((verdict.PASSED, True),
                         (found.outcome, found.eligible))

    def test_what_the_patch_release_before_required(self):
        names = [name for name in required.of('v1.36.4').names
                 if not name.startswith(DROPPED)]

        found = self.judged('v1.36.4', names)

        self.assertEqual((verdict.INCOMPLETE, 3),
                         (found.outcome, len(found.missing)))
        self.assertEqual(443, len(required.of('v1.36.5').names))

    def test_the_current_release_is_known(self):
        self.assertEqual('v1.37', required.minors()[-1])
        self.assertEqual(462, len(required.of('v1.37.2').names))

    def test_a_release_that_is_not_certified_any_more(self):
        report = check.check(submissions.write(self.folder),
                             title=submissions.TITLE,
                             today=datetime.date(2026, 9, 1))

        finding, = report.findings
        self.assertEqual(('12', findings.ERROR), (finding.rule, finding.level))

    def test_old_lists_are_told(self):
        place = submissions.write(self.folder)
        today = datetime.date(2027, 9, 1)

        warning = check.check(place, today=today).findings[1]

        self.assertEqual(('12', findings.WARNING),
                         (warning.rule, warning.level))
        self.assertRegex(warning.text, 'lists update')
        self.assertEqual((), check.check(place, latest='v1.36',
                                         today=today).findings)

    def test_the_log_of_a_submission_names_its_patch_release(self):
        names = [name for name in required.of('v1.36').names]
        place = submissions.write(self.folder, **{
            'junit_01.xml': submissions.junit(names=names),
            'e2e.log': b'kube-apiserver version: v1.36.4\n'
                       + archives.log(443, 443, total=443)})
        place = place.rename(self.folder / 'te').rename(
            self.folder / 'v1.34' / 'te').parent.rename(
                self.folder / 'v1.36') / 'te'

        missing = [f for f in check.check(
            place, latest='v1.36').findings if f.rule == '13']

        self.assertEqual(3, len(missing), missing)

    def test_every_minor_at_its_newest(self):
        newest = {one.number[0]: one.version for one in required.looked_at()}
        self.assertEqual(['v1.33.13', 'v1.34.10', 'v1.35.8', 'v1.36.5',
                          'v1.37.2'], list(newest.values()))
        for version in newest.values():
            names = required.of(version).names
            for ran, broken, outcome in (
                    (names, (), verdict.PASSED),
                    (names[1:], (), verdict.INCOMPLETE),
                    (names, (0,), verdict.FAILED)):
                with self.subTest(version, outcome=outcome):
                    found = self.judged(version, ran, broken)
                    self.assertEqual(outcome, found.outcome)
                    self.assertEqual(outcome == verdict.PASSED,
                                     found.eligible)
                    self.assertEqual(outcome == verdict.PASSED,
                                     self.built(version))
                    self.assertEqual(
                        {verdict.PASSED: set(),
                         verdict.INCOMPLETE: {'13', '14'},
                         verdict.FAILED: {'13', '14', 'reviewing 5'}}[outcome],
                        self.broken_rules(version, ran, broken))

    def test_a_newer_release_is_compared_with_the_nearest_list(self):
        found = self.judged('v1.99.0', required.of('v1.36.0').names[:-1])

        self.assertEqual((verdict.PASSED, False),
                         (found.outcome, found.eligible))
        self.assertRegex(found.hindrances[0], 'conformance lists update')

    def test_a_newer_patch_release_is_compared_with_a_remark(self):
        names = required.of('v1.36.5').names

        found = self.judged('v1.36.99', names)

        self.assertEqual((verdict.PASSED, True),
                         (found.outcome, found.eligible))
        self.assertRegex(found.remarks[0], 'v1.36.99: .* those of v1.36.5')
        found = self.judged('v1.36.99', names[1:])
        self.assertEqual((verdict.PASSED, False),
                         (found.outcome, found.eligible))


class ListsTest(testtools.TestCase):

    def test_counts_of_the_minors(self):
        self.assertEqual(('v1.33', 'v1.34', 'v1.35', 'v1.36', 'v1.37'),
                         required.minors())
        self.assertEqual(
            [419, 424, 441, 443, 462],
            [len(set(required.of(m).names)) for m in required.minors()])

    def test_a_real_run_knows_every_name(self):
        names = {s.name for s in by_hand.real(by_hand.PARALLEL).specs}

        self.assertEqual(set(), set(required.of('v1.34.9').names) - names)

    def test_versions(self):
        for version in ('v1.34', '1.34.0', 'v1.34.9+k3s1', 'v1.34.5'):
            found = required.of(version)
            self.assertEqual((424, ''), (len(found.names), found.remark))
        for version in ('', 'v1.3', 'v2.34.1', 'x', 'v1.32.9'):
            self.assertIsNone(required.of(version), version)


class UpdateTest(testtools.TestCase):
    """What is made of modules; the network is another test's."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.folder)))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.toolchain.go.find_go',
            lambda *args: pathlib.Path('/go')))
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi_tempest.toolchain.go.environment', lambda go: {}))
        self.run = mock.Mock(side_effect=self.go)
        self.useFixture(fixtures.MonkeyPatch(
            'magnum_capi.processes.run', self.run))
        self.names = required.of('v1.36.5').names
        self.sum, self.vouched = 'h1:abc=', True

    def go(self, argv, env, **kwargs):
        """A go command that downloads modules."""
        if not self.vouched and not env.get('GONOSUMDB'):
            raise errors.CommandFailed(
                argv, 1, 'reading https://x/sumdb/lookup: 404 Not Found')
        source = self.folder / lists.SOURCE
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(json.dumps(
            [{'codename': name} for name in self.names]))
        info = self.folder / 'info'
        info.write_text('{"Time": "2026-12-01T10:44:20Z"}')
        return json.dumps({'Sum': self.sum, 'Dir': str(self.folder),
                           'Info': str(info)})

    def update(self, *versions):
        """What the command prints and tells on the error stream."""
        out, err = (self.useFixture(fixtures.StringStream(name))
                    for name in ('out', 'err'))
        self.useFixture(fixtures.MonkeyPatch('sys.stderr', err.stream))
        app = mock.Mock(stdout=out.stream)
        command = conformance_lists.Update(app, None)
        code = command.take_action(
            command.get_parser('x').parse_args(versions))
        out.stream.flush()
        err.stream.flush()
        self.assertEqual(0, code)
        return (out.getDetails()['out'].as_text(),
                err.getDetails()['err'].as_text())

    def test_a_release_that_requires_the_same(self):
        out, _ = self.update('v1.36.6')

        self.assertEqual(
            'v1.36.6: 443 required tests, the same as in v1.36.5\n', out)
        self.assertEqual('', required.of('v1.36.6').remark)
        self.assertRegex(required.of('v1.36.7').remark, 'v1.36.6')

    def test_a_new_minor_says_what_changed(self):
        self.names = ('[sig-x] new [Conformance]',
                      *required.of('v1.37.2').names[1:])

        out, _ = self.update('v1.38.0')

        self.assertEqual(
            ['v1.38.0: 462 required tests; differs from v1.37.2, 0 renamed:',
             '  + [sig-x] new [Conformance]',
             f'  - {required.of("v1.37.2").names[0]}'], out.splitlines())
        self.assertEqual('v1.38', required.minors()[-1])
        self.assertTrue(required.of('v1.38').certifies)

    def test_the_next_one_of_the_same_goes_into_its_file(self):
        self.names = required.of('v1.37.2').names[1:]

        self.update('v1.38.0', 'v1.38.3')

        file, = required.folder().iterdir()
        self.assertEqual('required-v1.38.0.txt', file.name)
        self.assertEqual('', required.of('v1.38.2').remark)

    def test_a_module_that_the_database_does_not_know_is_pinned(self):
        self.vouched = False

        _, err = self.update('v1.36.6')

        self.assertIn('v1.36.6 is not in the Go checksum database; its hash '
                      'h1:abc=', err)
        self.sum = 'h1:other='
        self.assertRaisesRegex(
            errors.EnvironmentProblem, 'does not match its pinned',
            self.update, 'v1.36.6')

    def test_another_error_is_no_unknown_hash(self):
        self.run.side_effect = errors.CommandFailed(['go'], 1, 'no route')

        self.assertRaises(errors.CommandFailed, self.update, 'v1.36.6')
        self.assertEqual(1, self.run.call_count)

    def test_what_was_looked_at_is_the_same_still(self):
        pinned = next(one for one in required.looked_at()
                      if one.version == 'v1.36.5')
        self.sum = pinned.h1

        self.assertEqual('v1.36.5: 443 required tests, as before\n',
                         self.update('v1.36.5')[0])
        self.names = self.names[1:]
        self.assertRaisesRegex(
            errors.EnvironmentProblem, 'differs from that of its',
            self.update, 'v1.36.5')

    def test_what_the_proxy_lists(self):
        self.run.side_effect = lambda *args, **kwargs: json.dumps(
            {'Versions': ['v1.30.1', 'v1.36.1', 'v1.36.9', 'v1.38.0-rc.1']})

        self.assertEqual(['v1.36.9'], lists.unseen())

    def test_no_version(self):
        for version in ('1.36.5', 'v1.36', 'v1.36.5-rc.1', 'x'):
            self.assertRaises(errors.UsageError, lists.update, version,
                              self.folder)
