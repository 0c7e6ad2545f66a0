# SPDX-License-Identifier: Apache-2.0

"""The library fits into the environment of every supported Magnum.

In an environment of each release's pins, pip is asked what it would install.
In the oldest one the clients of Kubernetes and Glance are tested, because it
has another urllib3.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

import testtools

from magnum_capi import processes
from magnum_capi_sandbox import releases
from magnum_capi_tempest.toolchain import gobin

TOP = pathlib.Path(__file__).resolve().parents[3]

OLDEST = releases.RELEASES[0]

#: Packages that the tests of the client import.
_TEST_LIBRARIES = ('fixtures', 'hypothesis', 'testtools')


def environment(folder, pins, *more):
    """Make an environment; returns the path of its Python."""
    uv, python = gobin.find_uv(), folder / 'bin' / 'python'
    processes.run([uv, 'venv', '--quiet', '--python', sys.executable,
                   '--seed', folder], timeout=120)
    processes.run([uv, 'pip', 'install', '--quiet', '--python', python,
                   '--requirement', pins, *more], timeout=600)
    return python


def would_install(folder, pins, *requirements):
    """Names of packages that pip would install into such an environment."""
    python = environment(folder, pins)
    # Like upper constraints: with hashes, pip does not accept a folder.
    plain = folder / 'constraints.txt'
    plain.write_text(re.sub(r'( \\)?\n {4}--hash=\S+', '', pins.read_text()))
    report = processes.run(
        [python, '-m', 'pip', 'install', '--quiet', '--dry-run', '--report',
         '-', '--constraint', plain, *requirements], timeout=300)
    return sorted(found['metadata']['name']
                  for found in json.loads(report)['install'])


class EnvironmentTest(testtools.TestCase):

    def ask(self, release, *requirements):
        with tempfile.TemporaryDirectory() as folder:
            return would_install(pathlib.Path(folder) / 'env',
                                 TOP / release.pins[0], *requirements)

    def test_the_library_fits(self):
        for release in releases.RELEASES:
            with self.subTest(release.name):
                self.assertEqual(['magnum-capi'], self.ask(
                    release, TOP / 'magnum-capi'))

    def test_the_http_clients_on_the_oldest(self):
        with tempfile.TemporaryDirectory() as folder:
            python = environment(
                pathlib.Path(folder) / 'env',
                TOP / OLDEST.pins[0], *_TEST_LIBRARIES)

            for folder, pattern in (('kube', 'test*.py'),
                                    ('discovery', 'test_images.py')):
                said = processes.run(
                    [python, '-m', 'testtools.run', 'discover', '-s',
                     f'tests/unit/{folder}', '-p', pattern, '-t', '.'],
                    timeout=300, cwd=TOP, merge=True,
                    env=os.environ | {'PYTHONPATH': os.pathsep.join(
                        map(str, (TOP, TOP / 'magnum-capi')))})

                self.assertRegex(said, r'(?s)Ran \d{2,} tests.*\nOK')
