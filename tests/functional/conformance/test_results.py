# SPDX-License-Identifier: Apache-2.0

"""Results of archives: compared with the real Sonobuoy, and under attack.

In addition to this project's archives, those of Sonobuoy's own tests are read,
which come with its Go module.
"""

import collections
import json
import pathlib
import re
import struct
import subprocess
import sys
import zlib

import fixtures
import testtools
from testtools import content
import yaml

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.conformance import archive as archive_
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import names
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tests.benchmarks import conformance_archives
from tests.functional import boxes
from tests.unit.conformance import archives

TOP = pathlib.Path(__file__).parents[3]
DATA = TOP / 'tests' / 'data' / 'sonobuoy'
KUBERNETES = 'k8s.io/kubernetes'
MB = 1 << 20
#: Bytes of memory: for a good archive of any size, and for a hostile one.
GOOD, HOSTILE = 60 * MB, 64 * MB


class SideBySideTest(testtools.TestCase):
    """The same archive, read by Sonobuoy and here."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.sonobuoy = toolchain.ensure(
            ['sonobuoy'], progress.Progress())['sonobuoy']

    def theirs(self, archive, plugin='e2e'):
        """The totals of ``sonobuoy results -p``, and the failed names."""
        report = processes.run(
            [self.sonobuoy, 'results', '-p', plugin, archive], timeout=600)
        said = dict(re.findall(r'^(\w+): (.*)$', report, re.M))
        _, _, tail = report.partition('Failed tests:\n')
        return said, {' '.join(line.split()) for line in tail.splitlines()
                      if line.strip()}

    def leaves(self, archive):
        """The cases that Sonobuoy counts, each with its status."""
        detailed = processes.run(
            [self.sonobuoy, 'results', '-p', 'e2e', '--mode', 'detailed',
             archive], timeout=600)
        return [json.loads(line) for line in detailed.splitlines()]

    def compare(self, archive, ginkgo_v1=False):
        said, failed = self.theirs(archive)
        leaves = self.leaves(archive)
        specs = [leaf for leaf in leaves
                 if ginkgo_v1 or leaf['name'].startswith('[It]')]
        nodes = len(leaves) - len(specs)
        result = archive_.read(archive)
        ours = collections.Counter(result.counts)
        theirs = collections.Counter(leaf['status'] for leaf in specs)
        bad = {' '.join(leaf['name'].removeprefix('[It]').split())
               for leaf in specs if leaf['status'] in ('failed', 'timeout')}
        self.addDetail('side by side', content.text_content('\n'.join([
            f'{"":10}{"sonobuoy":>10}{"less nodes":>12}{"ours":>8}',
            *(f'{word:10}{said[word.title()]:>10}{theirs[word]:>12}'
              f'{ours[word]:>8}' for word in ('passed', 'failed',
                                              'skipped'))])))

        # Sonobuoy's totals, Sonobuoy's cases, and ours, one after the other.
        self.assertEqual(len(leaves), int(said['Total']))
        self.assertEqual(nodes, len(result.suite_nodes))
        self.assertEqual(
            int(said['Passed']) + int(said['Failed']) + int(said['Skipped']),
            nodes + sum(theirs.values()))
        self.assertEqual(theirs['passed'], ours[model.PASSED])
        self.assertEqual(theirs['skipped'], ours[model.SKIPPED])
        self.assertEqual(theirs['failed'] + theirs['timeout'],
                         ours[model.FAILED] + ours[model.UNFINISHED])
        self.assertEqual(bad, {s.name for s in result.failures})
        self.assertEqual(failed, bad)
        # The status of the plugin, and the overall one.
        plugin, = [p for p in result.plugins if p.name == 'e2e']
        self.assertEqual(said['Status'], plugin.status)
        outcome = verdict.judge(result).outcome
        self.assertEqual(said['Status'] == 'failed',
                         outcome == verdict.FAILED)
        return result

    def test_archives_of_this_project(self):
        for path in sorted(DATA.glob('*-v1.*.tar.gz')):
            with self.subTest(path.name):
                self.compare(path)

    def test_a_plugin_of_somebodys_own(self):
        archive = DATA / 'hello-plugin.tar.gz'
        said, failed = self.theirs(archive, 'hello')

        plugin, = archive_.read(archive).plugins

        self.assertEqual((said['Status'], set()), (plugin.status, failed))

    def test_archives_of_sonobuoys_own_tests(self):
        module = pins.load().programs['sonobuoy'].build.module
        folder = (go.module_directory(module.path, module.version)
                  / 'test/integration/testdata')

        failed = self.compare(folder / 'results-4-e2e-failures.tar.gz', True)
        quick = self.compare(folder / 'results-quick-no-failures.tar.gz',
                             True)
        missing = archive_.read(folder / 'results-missing-e2e.tar.gz')

        self.assertEqual((4, 0), (len(failed.failures),
                                  len(quick.failures)))
        self.assertEqual('incomplete', verdict.judge(missing).outcome)

    def test_the_exit_codes_that_sonobuoy_does_not_have(self):
        archive = DATA / 'one-failed-v1.34.9.tar.gz'
        self.theirs(archive)        # Raises unless it exits with 0.

        ours = subprocess.run(
            [pathlib.Path(sys.executable).with_name('magnum-capi'),
             'conformance', 'report', archive], timeout=600,
            stdout=subprocess.PIPE)

        self.assertEqual(1, ours.returncode)

    @boxes.LONG
    def test_a_big_archive_in_little_memory(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        path = folder / 'big.tar.gz'
        conformance_archives.write(path, 350 * MB, level=1)

        said = read(path)

        self.assertIsNone(said['error'])
        self.assertEqual({'failed': 2, 'skipped': 6720, 'passed': 422},
                         said['counts'])
        self.assertEqual([], said['problems'])
        self.assertLess(said['rss'], GOOD)


def read(path, most=None):
    """The result of reading an archive in a separate process, with its cost.

    :param most: bytes of address space that it may use.
    """
    return json.loads(processes.run(
        [sys.executable, '-m', 'tests.functional.conformance.archive_reader',
         path, *([most] if most else [])], timeout=900, cwd=TOP))


@boxes.LONG
class HostileTest(testtools.TestCase):
    """Too large for unit tests: millions of members, and gigabytes."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = self.folder / 'a.tar.gz'

    def write(self, pieces, level=1):
        packer = zlib.compressobj(level, zlib.DEFLATED, 31)
        with open(self.path, 'wb') as stream:
            for piece in pieces:
                stream.write(packer.compress(piece))
            stream.write(packer.flush())

    def takes_little(self, pattern=None):
        """Read it; the error must match, and memory stay within bounds."""
        said = read(self.path)
        self.addDetail('reader', content.text_content(str(said)))
        self.assertLess(said['rss'], HOSTILE)
        self.assertEqual([self.path], list(self.folder.iterdir()))
        if pattern is None:
            self.assertIsNone(said['error'])
        else:
            self.assertRegex(said['error'] or '', pattern)
        return said

    @staticmethod
    def empty_files(count):
        """Yield the headers of that many members with different names."""
        block = bytearray(archives.header('n/0000000'))
        base = sum(block[:148]) + 8 * 32 + sum(block[156:])
        for number in range(count):
            digits = b'%07d' % number
            block[2:9] = digits
            total = base - 7 * 48 + sum(digits)
            block[148:156] = b'%06o\0 ' % total
            yield bytes(block)

    def test_a_million_members(self):
        self.write(self.empty_files(1_000_000))

        self.takes_little('more than 100000 members|decompression bomb')

    def test_as_many_members_as_there_may_be(self):
        self.write([*self.empty_files(99_000), archives.END])

        self.takes_little("It is not a Sonobuoy archive")

    def test_a_bomb_of_ten_gigabytes(self):
        for name in (archives.LOG, 'podlogs/x/y.txt'):
            with self.subTest(name):
                packer = zlib.compressobj(1, zlib.DEFLATED, 31)
                with open(self.path, 'wb') as stream:
                    stream.write(packer.compress(archives.header(
                        name, size_field=b'\x80' + bytes(3)
                        + struct.pack('>Q', 10 << 30))))
                    stream.write(packer.flush(zlib.Z_FULL_FLUSH))
                    zeros = packer.compress(bytes(16 * MB))
                    # After a full flush, equal input gives equal output.
                    zeros += packer.flush(zlib.Z_FULL_FLUSH)
                    stream.write(zeros * 640)
                self.takes_little('more than')

    def test_a_junit_file_at_every_limit(self):
        name = 'é' * 1500
        failed = (f'<failure>{"x" * 20_000}</failure>'
                  f'<system-out>{"ö" * 20_000}</system-out>')

        def cases():
            for number in range(1000):
                yield archives.case(f'[It] {number} {name}', 'failed',
                                    failed).encode()
            for number in range(48_000):
                yield archives.case(f'[It] {number} of many', 'skipped',
                                    '<skipped message="skipped"/>').encode()
        body = [b'<testsuites><testsuite>', *cases(),
                b'</testsuite></testsuites>']
        self.write([archives.header(archives.JUNIT, sum(map(len, body))),
                    *body, bytes(-sum(map(len, body)) % 512), archives.END])

        said = self.takes_little()
        self.assertEqual({'failed': 1000, 'skipped': 48_000},
                         said['counts'])

    def test_one_tag_of_a_gigabyte(self):
        def pieces():
            yield archives.header(archives.JUNIT, 1 << 30)
            yield b'<testsuites a="'
            while True:
                yield b'spam and eggs %d ' * 1000
        stream = pieces()
        self.write([next(stream), next(stream),
                    *(next(stream) for _ in range(10_000))])

        self.takes_little('a tag of more than|decompression bomb')

    def test_a_line_of_a_quarter_of_a_gigabyte(self):
        size = 256 * MB
        for name in (archives.YAML, archives.LOG):
            with self.subTest(name):
                line = conformance_archives.Text(1).block(4 * MB)
                line = line.replace(b'\n', b' ')
                self.write([archives.header(name, size),
                            *[line] * (size // len(line)), archives.END])
                self.takes_little()

    def test_gzip_streams_of_a_byte(self):
        plain = b''.join(archives.entry(name, data) for name, data
                         in archives.files().items()) + archives.END
        with open(self.path, 'wb') as stream:
            for number in range(100_000):
                packer = zlib.compressobj(0, zlib.DEFLATED, 31)
                stream.write(packer.compress(plain[number:number + 1])
                             + packer.flush())

        self.takes_little('gzip headers')

    def test_json_that_grows(self):
        for document in (b'[{},' + b'{},' * 300_000 + b'0]',
                         b'[' * 900_000, b'{"error":"' + b'x' * MB + b'"}',
                         b'[' + b'1e9,' * 250_000 + b'0]'):
            self.path.write_bytes(archives.good(**dict.fromkeys((
                'meta/clusterhealth.json', 'meta/config.json',
                'meta/info.json', archives.DEFINITION, archives.SERVER,
                'resources/cluster/core_v1_nodes.json',
                'plugins/e2e/errors/global/error.json'), document)))
            self.takes_little()

    def test_each_of_the_small_ones_in_little_memory(self):
        for name, data in archives.hostile().items():
            with self.subTest(name):
                self.path.write_bytes(data)
                self.takes_little('.')


@boxes.LONG
class RequiredTest(testtools.TestCase):

    def test_the_lists_are_those_of_kubernetes(self):
        """Of the release that the table names for each minor version."""
        program = go.find_go()
        env = go.without_sumdb(go.environment(program), KUBERNETES)
        for minor in required.minors():
            told = go.download(
                program, f'{KUBERNETES}@{required.source(minor)}', env)
            found = yaml.safe_load(pathlib.Path(told['Dir'], (
                'test/conformance/testdata/conformance.yaml')).read_text())

            self.assertEqual(
                sorted(names.spec(test['codename']) for test in found),
                list(required.of(minor)), minor)
