# SPDX-License-Identifier: Apache-2.0

"""What an installation contains: built once, from what git would have."""

import ast
import configparser
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile

import testtools

TOP = pathlib.Path(__file__).resolve().parents[2]
SHARE = re.compile(r'[^/]+\.data/data/share/magnum-capi-tempest/(.+)')
SHARED = ('capi', 'charts', 'constraints', 'drivers', 'tools/go',
          'tools/images')


def run(*argv, cwd, **env):
    done = subprocess.run(
        argv, cwd=cwd, env={**os.environ, **env}, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise AssertionError(f'{argv[0]}: {done.stdout[-2000:]}')
    return done.stdout


@functools.cache
def files():
    """Names of the files that git has or would add."""
    out = run('git', 'ls-files', '-z', '--cached', '--others',
              '--exclude-standard', cwd=TOP)
    return tuple(name for name in out.split('\0')
                 if name and (TOP / name).is_file())


@functools.cache
def wheel():
    """Names in the wheel; the build needs no network."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'source'
        for name in files():
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((TOP / name).read_bytes())
        # pbr asks git which files there are.
        identity = dict.fromkeys(
            ('GIT_AUTHOR_NAME', 'GIT_COMMITTER_NAME', 'GIT_AUTHOR_EMAIL',
             'GIT_COMMITTER_EMAIL'), 'x')
        run('git', 'init', '-q', cwd=source)
        run('git', 'add', '-A', cwd=source)
        run('git', 'commit', '-q', '--no-verify', '-m', 'x', cwd=source,
            **identity)
        run(sys.executable, '-c',
            f'from pbr import build; build.build_wheel({folder!r})',
            cwd=source, PBR_VERSION='1.0.0')
        path, = pathlib.Path(folder).glob('*.whl')
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())


class WheelTest(testtools.TestCase):

    def test_has_every_file_of_the_package(self):
        wanted = {name for name in files()
                  if name.startswith('magnum_capi_tempest/')}

        self.assertEqual(set(), wanted - wheel())

    def test_has_every_shared_file_in_its_folder(self):
        found = {match.group(1) for match in map(SHARE.match, wheel())
                 if match}

        wanted = {name for name in files()
                  if name.startswith(tuple(f'{s}/' for s in SHARED))}
        self.assertEqual(wanted, found)

    def test_has_nothing_else_at_top_level(self):
        top = {name.split('/')[0] for name in wheel()}

        self.assertEqual({'magnum_capi_tempest'}, {
            name for name in top
            if not name.startswith('magnum_capi_tempest-')})


class MetadataTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.setup = configparser.ConfigParser()
        self.setup.read(TOP / 'setup.cfg')

    def test_every_entry_point_is_there(self):
        # Read, not imported: Tempest and others need not be installed.
        for group, lines in self.setup['entry_points'].items():
            for line in lines.strip().splitlines():
                module, _, name = line.split('=')[1].strip().partition(':')
                path = TOP / f'{module.replace(".", "/")}.py'
                defined = {
                    getattr(node, 'name', None)
                    for node in ast.parse(path.read_text()).body}
                self.assertIn(name, defined, f'{group}: {line}')

    def test_every_package_is_one(self):
        # The imports of a folder without __init__.py are not checked. The
        # programs in "cloud" run in the cloud's environment, by path.
        folders = {path.parent for path
                   in (TOP / 'magnum_capi_tempest').rglob('*.py')}
        lacking = {str(folder.relative_to(TOP)) for folder in folders
                   if not (folder / '__init__.py').exists()}

        self.assertEqual({'magnum_capi_tempest/sandbox/cloud'}, lacking)

    def test_constraints_cover_the_requirements(self):
        pinned = self.names('constraints/tools.txt')
        extras = {self.name(line)
                  for lines in self.setup['extras'].values()
                  for line in lines.strip().splitlines()}

        wanted = (self.names('requirements.txt') | extras
                  | self.names('test-requirements.txt')
                  | self.names('doc/requirements.txt'))
        self.assertEqual(set(), wanted - pinned, 'Run tox -e constraints')

    def test_build_requirements_are_pinned(self):
        with open(TOP / 'pyproject.toml', 'rb') as stream:
            project = tomllib.load(stream)

        wanted = {self.name(r) for r in project['build-system']['requires']}
        self.assertEqual(
            set(), wanted - self.names('constraints/tools.txt'))

    def names(self, path):
        lines = (TOP / path).read_text().splitlines()
        return {self.name(line) for line in lines
                if line.strip() and not line.startswith('#')}

    def name(self, requirement):
        name = re.match(r'[A-Za-z0-9._-]+', requirement.strip()).group()
        return re.sub(r'[-_.]+', '-', name).lower()
