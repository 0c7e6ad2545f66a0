# SPDX-License-Identifier: Apache-2.0

"""What an installation contains: built once, from what git would have."""

import ast
import configparser
import dataclasses
import functools
from importlib import metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import testtools

TOP = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = TOP / 'magnum-capi'
SANDBOX = TOP / 'sandbox'
SHARE = re.compile(r'[^/]+\.data/data/share/magnum-capi/(.+)')
#: Files that say what to install.
ASKING = ('.github/', 'CONTRIBUTING.rst', 'README.rst', 'devstack/', 'doc/',
          'drivers/', 'playbooks/', 'releasenotes/', 'roles/', 'tools/',
          'tox.ini')
#: A list of extras there; "conformance" or "tempest" begins each.
EXTRAS = re.compile(r'\[((?:conformance|tempest|evidence)(?:,\w+)+)')
#: A command that installs, maybe of several lines.
PIP = re.compile(r'pip install (?:[^\n]*\\\n)*[^\n]*')
SHARED = ('drivers', 'upstream')
OF_SANDBOX = tuple(
    f'sandbox/{name}' for name in ('capi', 'charts', 'constraints', 'drivers'))


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


@dataclasses.dataclass(frozen=True)
class Wheel:
    """What pip would install.

    :param files: names of its files.
    :param extras: their names in the metadata.
    """

    files: frozenset[str]
    entry_points: metadata.EntryPoints
    extras: frozenset[str]

    @classmethod
    def read(cls, folder):
        path, = pathlib.Path(folder).glob('*.whl')
        with zipfile.ZipFile(path) as archive:
            files = frozenset(archive.namelist())
            info, = (found for found in zipfile.Path(archive).iterdir()
                     if found.name.endswith('.dist-info'))
            found = metadata.PathDistribution(info)
            return cls(files, found.entry_points, frozenset(
                found.metadata.get_all('Provides-Extra', ())))


@functools.cache
def wheel_of(top):
    """The wheel of a folder of the repository, built outside git."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'source'
        shutil.copytree(top, source, ignore=shutil.ignore_patterns(
            '*.egg-info', '__pycache__', 'build'))
        run(sys.executable, '-c', 'from setuptools import build_meta; '
            f'build_meta.build_wheel({folder!r})', cwd=source)
        return Wheel.read(folder)


@functools.cache
def wheel():
    """The wheel of the harness; the build needs no network."""
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
        return Wheel.read(folder)


class WheelTest(testtools.TestCase):

    def test_has_every_file_of_the_package(self):
        wanted = {name for name in files()
                  if name.startswith('magnum_capi_tempest/')}

        self.assertEqual(set(), wanted - wheel().files)

    def test_has_every_shared_file_in_its_folder(self):
        for built, folders in ((wheel(), SHARED),
                               (wheel_of(SANDBOX), OF_SANDBOX)):
            found = {match.group(1) for match in map(
                SHARE.match, built.files) if match}

            wanted = {name for name in files()
                      if name.startswith(tuple(f'{s}/' for s in folders))}
            self.assertEqual(wanted, found)

    def test_others_have_their_package_and_nothing_else(self):
        for top, package in ((LIBRARY, 'magnum_capi'),
                             (SANDBOX, 'magnum_capi_sandbox')):
            wanted = {name.removeprefix(f'{top.name}/') for name in files()
                      if name.startswith(f'{top.name}/{package}/')}

            self.assertEqual(wanted, {
                name for name in wheel_of(top).files
                if '.dist-info/' not in name and not SHARE.match(name)})

    def test_has_nothing_else_at_top_level(self):
        top = {name.split('/')[0] for name in wheel().files}

        self.assertEqual({'magnum_capi_tempest'}, {
            name for name in top
            if not name.startswith('magnum_capi_tempest-')})


class MetadataTest(testtools.TestCase):

    def test_every_entry_point_is_there(self):
        # Read, not imported: Tempest and others need not be installed.
        for built, top in ((wheel(), TOP), (wheel_of(LIBRARY), LIBRARY),
                           (wheel_of(SANDBOX), SANDBOX)):
            for entry in built.entry_points:
                path = top / f'{entry.module.replace(".", "/")}.py'
                defined = {getattr(node, 'name', None)
                           for node in ast.parse(path.read_text()).body}
                if entry.attr:
                    self.assertIn(entry.attr, defined, entry)

    def test_no_driver_is_registered(self):
        # That is for drivers/k8s_capi_v1: what is in this group changes what
        # an installed Magnum discovers.
        for built in (wheel(), wheel_of(LIBRARY), wheel_of(SANDBOX)):
            self.assertNotIn('magnum.drivers', built.entry_points.groups)

    def test_extras_are_asked_for_by_their_names_in_the_metadata(self):
        # pip before 23.3 compares both as they are; Debian 12 has 23.0.
        asked = {(name, extra)
                 for name in files() if name.startswith(ASKING)
                 for words in EXTRAS.findall(
                     (TOP / name).read_text(errors='replace'))
                 for extra in words.split(',')}

        self.assertIn('README.rst', {name for name, _ in asked})
        self.assertEqual(set(), {
            one for one in asked if one[1] not in wheel().extras})

    def test_the_sandbox_is_named_behind_what_it_needs(self):
        """Otherwise pip 23.2 looks for the harness at PyPI.

        It does not know yet that a later argument is this distribution, with
        other extras.
        """
        commands = {
            (name, command) for name in files() if name.startswith(ASKING)
            for command in PIP.findall(
                (TOP / name).read_text(errors='replace'))
            if './sandbox' in command and '.[' in command}

        self.assertIn('README.rst', {name for name, _ in commands})
        self.assertEqual(set(), {
            one for one in commands
            if one[1].index('./sandbox') < one[1].index('.[')})

    def test_tox_installs_the_harness_together_with_the_sandbox(self):
        """In a second step, pip would have looked for it at PyPI before."""
        tox = configparser.ConfigParser(interpolation=None)
        tox.read(TOP / 'tox.ini')
        ours = re.findall(r'-e\{toxinidir\}(/?[\w-]*)',
                          tox['testenv']['deps'])

        self.assertEqual(['', '/magnum-capi', '/sandbox'], ours)
        self.assertEqual('True', tox['testenv']['skip_install'])
