# SPDX-License-Identifier: Apache-2.0

"""The embedded profile needs no root.

Needs root to become another user, and MAGNUM_CAPI_LONG=1: that user gets a
separate environment and snapshot (two minutes).
"""

import os
import pathlib
import pwd
import shutil
import subprocess

from magnum_capi import processes
from magnum_capi_sandbox.cloud import environment
from magnum_capi_tempest import paths
from magnum_capi_tempest import resources
from tests.functional import boxes

_USER = 'nobody'
_PYTHON = '/usr/bin/python3'
_TOP = pathlib.Path(boxes.__file__).parent.parent.parent


def _as_user(argv):
    user = pwd.getpwnam(_USER)
    return ['setpriv', f'--reuid={user.pw_uid}', f'--regid={user.pw_gid}',
            '--clear-groups', *map(str, argv)]


@boxes.LONG
class OrdinaryUserTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest('Only root can become another user')
        for argv in ((_PYTHON, '-c', 'import sys, venv; sys.exit('
                      'sys.version_info < (3, 11))'),
                     ('test', '-r', _TOP / 'setup.cfg')):
            if subprocess.run(_as_user(argv), stderr=subprocess.DEVNULL,
                              check=False).returncode:
                self.skipTest(f'{_USER} cannot run {" ".join(map(str, argv))}')
        self.one = self.box()
        self.base = self.one.base
        self.python = self.base / 'venv' / 'bin' / 'python'
        self.env = {
            'PATH': os.environ['PATH'], 'HOME': str(self.base / 'home'),
            'PYTHONPATH': str(_TOP), 'PYTHONDONTWRITEBYTECODE': '1',
            'TMPDIR': str(self.base / 'tmp'), 'UV_LINK_MODE': 'copy',
            'MAGNUM_CAPI_CACHE': str(self.base / 'cache'),
            'MAGNUM_CAPI_STATE': str(self.base / 'state')}

    def install(self):
        """Install our environment and the cloud's, owned by the user."""
        (self.base / 'home').mkdir()
        for name in ('toolchain', 'manifests'):
            shutil.copytree(paths.cache() / name,
                            self.base / 'cache' / name, symlinks=True)
        env = os.environ | {'UV_LINK_MODE': 'copy'}
        uv = environment.uv()
        processes.run([uv, 'venv', '--quiet', '--python', _PYTHON,
                       self.base / 'venv'], timeout=600, env=env)
        processes.run(
            [uv, 'pip', 'install', '--quiet', '--python', self.python,
             '--constraint', resources.find('sandbox/constraints/tools.txt'),
             '--requirement', _TOP / 'requirements.txt',
             'psutil', 'supervisor', 'uv'], timeout=900, env=env)
        processes.run(
            [self.python, '-c',
             'from magnum_capi import progress\n'
             'from magnum_capi_sandbox.cloud import environment\n'
             'environment.ensure(progress.Silent())'],
            timeout=600, env=os.environ | self.env | {
                # uv has a warm cache there and leaves locks here.
                'HOME': os.environ['HOME'],
                'TMPDIR': str(self.base / 'home')})
        processes.run(['chown', '-R', _USER, self.base], timeout=600)
        # Root does not take down a sandbox in another user's folder.
        self.addCleanup(processes.run, ['chown', '-R', 'root', self.base],
                        timeout=60)

    def sandbox(self, verb, *arguments):
        ended = subprocess.run(
            _as_user([self.python, '-m', 'magnum_capi.cli.main',
                      'sandbox', verb, '--directory', self.one.directory,
                      *arguments]),
            env=self.env, cwd='/', capture_output=True, text=True,
            timeout=900, check=False)
        return boxes.Ended(ended.returncode, ended.stdout, ended.stderr)

    def test_up_and_down(self):
        self.install()
        self.assert_done(self.sandbox(
            'up', '--port-base', str(self.one.port_base)))
        uids = {os.stat(f'/proc/{pid}').st_uid
                for pid in self.one.processes()}
        self.assertEqual({pwd.getpwnam(_USER).pw_uid}, uids)
        self.assert_done(self.sandbox('status'))

        self.assert_done(self.sandbox('down'))

        self.assertEqual([], self.one.processes())
        self.assertFalse(self.one.directory.exists())
        self.assertEqual([], list((self.base / 'tmp').iterdir()))
