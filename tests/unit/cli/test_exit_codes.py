# SPDX-License-Identifier: Apache-2.0

"""One exit code for one thing, and one word for it, in all groups.

0 passed, 1 failed, 2 wrong usage, 3 incomplete or unknown.
"""

import importlib
import io
import json
import pathlib
import re
from unittest import mock

import fixtures
import subunit
import testtools

from magnum_capi.cli import base
from magnum_capi_tempest.management import standalone
from magnum_capi_tempest import supervision
from tests.unit.cli import calls
from tests.unit.cli import terminal
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand
from tests.unit import own_folders

SKELETON = pathlib.Path(__file__).parents[3] / 'drivers' / 'skeleton'
#: Arguments that say too little, or contradict each other.
WRONG = (
    'conformance',
    'conformance attach -f json',
    'conformance attach HERE --kubeconfig HERE/text',
    f'conformance compare {by_hand.QUICK}',
    'conformance run',
    'conformance run --kubeconfig HERE/text --cloud x',
    f'conformance run --rerun {by_hand.PARALLEL}',
    f'conformance submit {by_hand.QUICK}',
    'discovery explain',
    'driver adopt',
    'driver test',
    'evidence collect --output HERE/new',
    'management up --backend nope',
    'sandbox up --magnum nope --directory HERE/box',
    'tempest plan HERE',
)
#: How each command that reads something is told of what does not exist; HERE
#: is a folder with one text file in it.
MISSING = (
    'conformance abort HERE/nope',
    'conformance attach HERE/nope',
    'conformance compare HERE/nope HERE/nope',
    'conformance report HERE/nope',
    'conformance run --kubeconfig HERE/nope',
    'conformance run --rerun HERE/nope',
    'conformance submit HERE/nope --product HERE/text --output HERE',
    'conformance submit --check HERE/nope',
    'discovery audit --inventory HERE/nope',
    'discovery explain --inventory HERE/nope --image x',
    'discovery filter HERE/nope',
    'discovery list --inventory HERE/nope',
    'driver info HERE/nope',
    'driver info nodriver',
    'driver test HERE/nope',
    'driver test --cloud nope --image x --driver x',
    'management check --kubeconfig HERE/nope',
    'report matrix HERE/nope',
    'report show HERE/nope',
    'report validate HERE/nope',
    'sandbox env --directory HERE/nope',
    'sandbox logs --directory HERE/nope',
    'sandbox set a.b=c --directory HERE/nope',
    'sandbox tempest --directory HERE/nope',
    'tempest init --cloud nope --image x HERE/new',
    'tempest leaks HERE/nope',
    'tempest plan HERE/nope',
    'tempest run HERE/nope',
)
#: The same with a file of another kind.
ANOTHER_KIND = (
    'conformance compare HERE/text HERE/text',
    'conformance report HERE/text',
    'conformance submit HERE/text --product HERE/text --output HERE',
    'discovery filter HERE/text',
    'discovery list --inventory HERE/text',
    'driver info --check HERE',
    'driver test HERE',
    'management check --kubeconfig HERE/text',
    'report matrix HERE/text',
    'report show HERE/text',
    'tempest plan HERE',
)
#: Of which nothing can be said: damaged, empty, or not collected.
UNKNOWN = (
    f'conformance compare {by_hand.QUICK} {by_hand.PLUGIN}',
    f'conformance report {by_hand.PLUGIN}',
    'conformance report HERE/cut.tar.gz',
    'conformance compare HERE/cut.tar.gz HERE/cut.tar.gz',
    'evidence collect --output HERE/new --logs HERE/nope',
    'evidence collect --output HERE/new --kubeconfig HERE/nope',
    'report show HERE/empty.subunit',
    'report show HERE/skipped.subunit',
    'report show HERE/cut.subunit',
)
FAILED = ('report show HERE/failed.subunit', 'report validate HERE/text')

#: Names that other commands of OpenStack have for the same.
OTHER_WORDS = {'--os-cloud': '--cloud', '--folder': '--output',
               '--out': '--output', '--results': '--output',
               '--json': '-f json', '--quiet': 'none of its own'}


def parsers():
    """Name, class and parser of each command."""
    for name, target in sorted(calls.commands().items()):
        module, _, kind = target.partition(':')
        found = getattr(importlib.import_module(module), kind)
        yield (name.replace('_', ' '), found,
               found(None, None).get_parser(name))


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.here = self.useFixture(own_folders.OwnFolders()).base / 'here'
        self.here.mkdir()
        (self.here / 'text').write_text('hello\n' * 200)
        for name in ('KUBECONFIG', 'OS_CLOUD', 'OS_CLIENT_CONFIG_FILE'):
            self.useFixture(fixtures.EnvironmentVariable(name))

    def assert_codes(self, code, lines):
        found = {line: terminal.call(*line.replace(
            'HERE', str(self.here)).split()) for line in lines}
        self.assertEqual({}, {
            line: said for line, said in found.items() if said[0] != code})
        for line, (_, out, err) in found.items():
            self.assertTrue(out or err, line)
            self.assertNotIn('Traceback', err, line)


class CodesTest(_Base):

    def record(self, name, *statuses):
        """Write a stream with a test of each status; returns its path."""
        stream = io.BytesIO()
        writer = subunit.v2.StreamResultToBytes(stream)
        for number, status in enumerate(statuses):
            writer.status(f'a.b.test_{number}', status)
        (self.here / name).write_bytes(stream.getvalue())
        return self.here / name

    def test_wrong_usage(self):
        for name, _, _ in parsers():
            with self.subTest(name):
                self.assertEqual(2, terminal.call(
                    *name.split(), '--no-such-option')[0])
        self.assert_codes(2, WRONG)

    def test_what_does_not_exist(self):
        self.assert_codes(2, MISSING)

    def test_a_file_of_another_kind(self):
        self.assert_codes(2, ANOTHER_KIND)

    def test_what_is_incomplete_or_unknown(self):
        self.record('empty.subunit')
        self.record('skipped.subunit', 'skip')
        whole = self.record('cut.subunit', 'success', 'success').read_bytes()
        (self.here / 'cut.subunit').write_bytes(whole[:-3])
        (self.here / 'cut.tar.gz').write_bytes(archives.good()[:-100])
        self.assert_codes(3, UNKNOWN)

    def test_what_failed(self):
        self.record('failed.subunit', 'success', 'fail')
        self.assert_codes(1, FAILED)

    def test_what_passed(self):
        self.record('passed.subunit', 'success', 'skip')
        self.assert_codes(0, ['report show HERE/passed.subunit',
                              f'driver info --check {SKELETON}'])
        self.assertTrue(json.loads(terminal.call(
            'report', 'show', self.here / 'passed.subunit', '-f', 'json'
        )[1])['ok'])

    def test_programs_of_a_management_cluster(self):
        for ready, code in (True, 0), (False, 1):
            with mock.patch.object(standalone, 'status', return_value=[
                    (supervision.Status('etcd', 'RUNNING', 7, 3 << 20, .5),
                     ready)]):
                found, out, _ = terminal.call(
                    'management', 'status', '-f', 'json')
            self.assertEqual((code, [{
                'Program': 'etcd', 'State': 'RUNNING', 'Ready': ready,
                'PID': 7, 'Memory MiB': 3, 'CPU s': .5}]),
                (found, json.loads(out)))

    def test_an_error_is_no_verdict(self):
        """1 of a command that judges is its verdict and nothing else."""
        judging = base.Judging, base.Verdict
        # That there is no sandbox is a verdict, too.
        exempt = {'sandbox status'}
        self.assertEqual([], [
            name for name, kind, _ in parsers() if name not in exempt
            and re.search(r'Exit code: .*\b1\b', kind.__doc__, re.DOTALL)
            and not issubclass(kind, judging)])


class WordsTest(testtools.TestCase):

    def test_one_word_for_one_thing(self):
        self.assertEqual([], [
            (name, option, OTHER_WORDS[option])
            for name, _, parser in parsers()
            for option in parser._option_string_actions
            if option in OTHER_WORDS])

    def test_programs_get_json_by_the_same_option(self):
        for name, _, parser in parsers():
            option = parser._option_string_actions.get('--format')
            if option:
                self.assertIs(option, parser._option_string_actions['-f'])
                self.assertIn('json', option.choices, name)

    def test_a_cloud_is_that_of_the_environment(self):
        """Where one is needed; to test a driver, it is another way."""
        for name, _, parser in parsers():
            option = parser._option_string_actions.get('--cloud')
            if option and name != 'driver test':
                self.assertIn('OS_CLOUD', option.help, name)

    def test_folders_are_paths(self):
        for name, _, parser in parsers():
            option = parser._option_string_actions.get('--output')
            if option:
                self.assertEqual((pathlib.Path, 'DIR'),
                                 (option.type, option.metavar), name)
