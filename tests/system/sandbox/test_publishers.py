# SPDX-License-Identifier: Apache-2.0

"""A whole set-up whose programs come from their publishers.

A server on loopback stands in for them: it has their paths, and archives of
the programs in this cache. They are other archives than the published ones, so
a clone of this checkout has their hashes in its pins. Needs MAGNUM_CAPI_LONG=1
and the default ports of a sandbox.
"""

import functools
import hashlib
import http.server
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import urllib.parse

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi_tempest import paths
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import pins
from tests.functional import boxes
from tests.unit import loopback

TOP = pathlib.Path(__file__).resolve().parents[3]

#: What ``sandbox up`` takes from publishers.
DOWNLOADED = ('etcd', 'kube-apiserver', 'helm')


class _Handler(http.server.SimpleHTTPRequestHandler):

    def log_message(self, *arguments):
        self.server.asked.append(self.path)


class Publishers(fixtures.Fixture):
    """A server with the publishers' files, and a checkout that expects them.

    :ivar url: for MAGNUM_CAPI_MIRROR.
    :ivar checkout: folder of the clone.
    :ivar folder: what is served.
    """

    def _setUp(self):
        base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        self.folder, self.checkout = base / 'served', base / 'checkout'
        processes.run(['git', 'clone', '--quiet', TOP, self.checkout],
                      timeout=120)
        file = self.checkout / pins.FILE.relative_to(TOP)
        file.write_text(self._publish(file.read_text()))
        processes.run(['git', '-C', self.checkout, '-c', 'user.name=test',
                       '-c', 'user.email=test@localhost', 'commit', '--quiet',
                       '--all', '--message', 'Hashes of stand-ins'],
                      timeout=60)
        self.server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), functools.partial(
                _Handler, directory=self.folder))
        self.server.asked = []
        loopback.serve(self, self.server)
        self.url = f'http://127.0.0.1:{self.server.server_port}'

    def _publish(self, text):
        """Make the archives; returns the pins with their hashes."""
        programs = {
            name: one for name, one in pins.load().programs.items()
            if one.download}
        made = toolchain.ensure(list(programs))
        members = {}
        for name, one in programs.items():
            members.setdefault(one.download.url, []).append((
                one.download, made[name]))
        for url, found in members.items():
            archive = self.file(url)
            archive.parent.mkdir(parents=True, exist_ok=True)
            with tarfile.open(archive, 'w:gz', compresslevel=1) as tar:
                for download, program in found:
                    tar.add(program.resolve(), download.member)
            one, _ = found[0]
            text = text.replace(one.digest, hashlib.new(
                one.algorithm, archive.read_bytes()).hexdigest())
        return text

    def file(self, url):
        """Where the content of a publisher's URL is."""
        parts = urllib.parse.urlsplit(url)
        return self.folder / parts.netloc / parts.path.lstrip('/')


@boxes.LONG
class PublishersTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.publishers = self.useFixture(Publishers())
        self.base = pathlib.Path(self.useFixture(
            fixtures.TempDir(rootdir='/tmp')).path)
        for name in ('home', 'tmp'):
            (self.base / name).mkdir()
        self.env = {
            name: value for name, value in os.environ.items()
            if not name.startswith(('OS_', 'MAGNUM_CAPI_', 'XDG_'))
            and name != 'VIRTUAL_ENV'} | {
            'HOME': str(self.base / 'home'), 'TMPDIR': str(self.base / 'tmp'),
            'NO_PROXY': '127.0.0.1', 'no_proxy': '127.0.0.1',
            'MAGNUM_CAPI_MIRROR': self.publishers.url}

    def run_in(self, home, *argv):
        """Run a command; returns its exit code and output."""
        ended = subprocess.run(
            list(map(str, argv)), env=self.env | home, text=True, cwd='/',
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=1500, check=False)
        self.addDetail(pathlib.Path(argv[0]).name,
                       testtools.content.text_content(ended.stdout))
        return ended.returncode, ended.stdout

    def assert_nothing_built_but(self, built, output):
        self.assertEqual(set(built),
                         set(re.findall(r'building (\S+) \d', output)))
        for name in DOWNLOADED:
            url = pins.load().programs[name].download.url
            self.assertIn('/' + str(self.publishers.file(url).relative_to(
                self.publishers.folder)), self.publishers.server.asked)

    def test_a_checkout(self):
        code, output = self.run_in(
            {}, self.publishers.checkout / 'tools' / 'run_sandbox.sh',
            '--quick')

        self.assertEqual(0, code, output[-3000:])
        self.assert_nothing_built_but(['capi'], output)

    def test_wheels(self):
        # They are made elsewhere, with the program of this cache.
        toolchain.ensure(['capi'])
        factory = self.base / 'factory'
        shutil.copytree(paths.cache() / 'toolchain' / 'capi',
                        factory / 'toolchain' / 'capi', symlinks=True)
        wheels = self.base / 'wheels'
        code, output = self.run_in(
            {'MAGNUM_CAPI_CACHE': str(factory)},
            self.publishers.checkout / 'tools' / 'build_wheels.sh', wheels)
        self.assertEqual(0, code, output[-3000:])
        self.publishers.server.asked.clear()
        venv = self.base / 'venv'
        processes.run([sys.executable, '-m', 'venv', venv], timeout=120)

        for argv in (
                [venv / 'bin' / 'pip', 'install', '--quiet', '--constraint',
                 self.publishers.checkout / 'sandbox/constraints/tools.txt',
                 *wheels.glob('*.whl')],
                [venv / 'bin' / 'magnum-capi', 'sandbox', 'up'],
                [venv / 'bin' / 'magnum-capi', 'sandbox', 'down']):
            code, ended = self.run_in({}, *argv)
            self.assertEqual(0, code, ended[-3000:])
            output += ended

        self.assert_nothing_built_but([], output)

    def test_a_changed_file_stops_it(self):
        archive = self.publishers.file(
            pins.load().programs['etcd'].download.url)
        with open(archive, 'ab') as stream:
            stream.write(b'x')

        code, output = self.run_in(
            {}, self.publishers.checkout / 'tools' / 'run_sandbox.sh',
            '--quick')

        self.assertEqual(3, code, output[-3000:])
        self.assertIn('is not the pinned one', output.splitlines()[-1])
        self.assertNotIn('building', output)
