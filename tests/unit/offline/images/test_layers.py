# SPDX-License-Identifier: Apache-2.0


import io
import json
import pathlib
import shutil
import tarfile
from unittest import mock

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from tests.unit.offline.images import base
from tools.offline.images import debian
from tools.offline.images import layers

WANTED = debian.Debian('bookworm', ('curl', 'iptables'))
STATUS = '''Package: curl
Status: install ok installed
Version: 7.88.1-10+deb12u12
Description: x
 Version: no

Package: libc6
Version: 2.36-9
'''


def root_file_system(file):
    with tarfile.open(file, 'w') as tar:
        for name, content in (
                ('./', None), ('./dev/', None), ('./dev/null', b''),
                ('./etc/x', b'x'), ('./var/cache/apt/pkgcache.bin', b'1'),
                ('./var/lib/dpkg/status', STATUS.encode())):
            info = tarfile.TarInfo(name)
            info.mtime, info.uname = 7, 'root'
            if content is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))


class TestDebian(base.TestCase):

    def test_command_takes_these_packages_from_this_mirror(self):
        argv = debian.command(WANTED, pathlib.Path('/o.tar'), 'http://m')

        self.assertIn('--include=curl,iptables', argv)
        self.assertEqual(['bookworm', '/o.tar', 'http://m'], argv[-3:])

    def test_key_is_of_suite_and_packages(self):
        self.assertEqual(WANTED.key(),
                         debian.Debian('bookworm', WANTED.packages).key())
        self.assertNotEqual(WANTED.key(),
                            debian.Debian('trixie', WANTED.packages).key())
        self.assertNotEqual(WANTED.key(),
                            debian.Debian('bookworm', ('curl',)).key())

    def test_clean_drops_devices_and_caches(self):
        raw, out = self.folder() / 'raw', self.folder() / 'out'
        root_file_system(raw)
        debian.clean(raw, out)

        with tarfile.open(out) as tar:
            infos = {i.name: i for i in tar}
        self.assertEqual({'dev', 'etc/x', 'var/lib/dpkg/status'}, set(infos))
        self.assertEqual((0, ''), (infos['etc/x'].mtime,
                                   infos['etc/x'].uname))

    def test_versions_of_a_status_file(self):
        self.assertEqual({'curl': '7.88.1-10+deb12u12', 'libc6': '2.36-9'},
                         debian.versions(STATUS))


class TestLayers(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = self.folder() / 'layers'
        self.progress = progress.Silent()
        for where, name, value in (
                (shutil, 'which', {'return_value': '/usr/bin/mmdebstrap'}),
                (processes, 'run', {'side_effect': self.run_program}),
                (layers, 'known', {'return_value': {
                    'debian': WANTED, 'machine': debian.Debian(
                        'bookworm', ('systemd',))}})):
            patcher = mock.patch.object(where, name, **value)
            self.addCleanup(patcher.stop)
            setattr(self, name, patcher.start())

    def run_program(self, argv, **_kwargs):
        root_file_system(argv[-2])

    def ensure(self, name='debian'):
        return layers.ensure(name, self.home, self.progress)

    def test_is_made_once_and_says_its_packages(self):
        first = self.ensure()
        second = self.ensure()

        self.assertEqual(first, second)
        self.assertEqual(1, self.run.call_count)
        note = json.loads(first.file.with_suffix('.json').read_text())
        self.assertEqual('2.36-9', note['packages']['libc6'])

    def test_layers_stay_out_of_each_others_way(self):
        self.ensure()
        self.ensure('machine')
        self.ensure()

        self.assertEqual(2, self.run.call_count)

    def test_other_packages_make_another_and_remove_the_old_one(self):
        old = self.ensure()
        self.known.return_value = {'debian': debian.Debian('trixie', ())}
        new = self.ensure()

        self.assertFalse(old.file.exists())
        self.assertEqual({new.file.name, new.file.stem + '.json'},
                         {f.name for f in self.home.iterdir()})

    def test_a_cut_off_one_is_made_again(self):
        self.ensure().file.write_bytes(b'')
        self.assertGreater(self.ensure().file.stat().st_size, 0)

    def test_a_failure_leaves_no_half_layer(self):
        self.run.side_effect = errors.CommandFailed(['mmdebstrap'], 1, 'E:')
        self.assertRaises(errors.CommandFailed, self.ensure)

        self.assertEqual([], list(self.home.iterdir()))

    def test_what_a_killed_one_left_goes(self):
        rest = self.home / 'tmp-dead' / 'layer.tmp' / 'root'
        rest.mkdir(parents=True)
        made = self.ensure()

        self.assertEqual({made.file.name, made.file.stem + '.json'},
                         {f.name for f in self.home.iterdir()})

    def test_without_mmdebstrap_one_line_names_the_package(self):
        self.which.return_value = None
        error = self.assertRaises(errors.EnvironmentProblem, self.ensure)

        self.assertIn('mmdebstrap', error.hint)

    def test_an_unknown_layer_is_reported(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, self.ensure, 'alpine')

        self.assertIn('debian, machine', error.hint)
