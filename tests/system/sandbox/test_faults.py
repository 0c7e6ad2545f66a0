# SPDX-License-Identifier: Apache-2.0

"""Faults while a sandbox starts.

With MAGNUM_CAPI_LONG=1 also while it starts without a snapshot, which makes
the databases (a minute).
"""

import os
import pathlib
import signal
import socket

import fixtures

from magnum_capi import waiting
from magnum_capi_sandbox.cloud import snapshot
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import profiles
from magnum_capi_tempest import paths
from tests.functional import boxes


class _Base(boxes.TestCase):

    def at(self, box, moment, act):
        """Start an up, act on it at some moment, and wait for its end.

        :param moment: part of a line of its progress.
        :param act: function of its Popen.
        """
        said = []
        with box.start('up', '--port-base', str(box.port_base)) as process:
            self.addCleanup(process.kill)
            for line in process.stderr:
                said.append(line)
                if moment in line:
                    act(process)
                    break
            else:
                self.fail(f'It never said {moment!r}: {said}')
            out, err = process.communicate(timeout=600)
        return boxes.Ended(process.returncode, out, ''.join(said) + err)

    def cold_cache(self):
        """A cache with everything but snapshots."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('cloud', 'toolchain', 'manifests'):
            (folder / name).symlink_to(paths.cache() / name)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_CACHE', str(folder)))
        return folder


class KilledTest(_Base):

    def kill(self, box, moment):
        ended = self.at(box, moment, lambda process: process.kill())
        self.assertEqual(-signal.SIGKILL, ended.code)
        self.assertNotEqual([], box.processes())

    def test_down_after_the_first_program(self):
        box = self.box()
        self.kill(box, 'etcd ready')
        self.assert_done(box.down())
        self.assert_nothing_left(box)

    def test_up_starts_anew(self):
        box = self.box()
        self.kill(box, 'kube-apiserver ready')
        before = set(box.processes())
        ended = box.up()
        self.assert_done(ended)
        self.assertIn('Cleaning up after an interrupted start', ended.err)
        self.assertEqual(set(), before.intersection(box.processes()))
        self.assert_done(box.call('status'))


class InterruptedTest(_Base):

    def interrupt(self, box, moment):
        ended = self.at(box, moment, lambda process: process.send_signal(
            signal.SIGINT))
        self.assertEqual('magnum-capi: interrupted',
                         self.assert_one_line(130, ended))
        self.assert_nothing_left(box)

    def test_after_the_first_program(self):
        self.interrupt(self.box(), 'etcd ready')

    def test_among_the_services(self):
        self.interrupt(self.box(), 'keystone ready')


class BusyPortTest(_Base):

    def test_it_is_named(self):
        # A port that is free on every network.
        box = self.box(port_base=21000)
        port = box.port_base + layouts.PORTS['magnum']
        with socket.socket() as s:
            # Connections of an earlier test may be in TIME_WAIT.
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(('0.0.0.0', port))
            s.listen()
            line = self.assert_one_line(3, box.up())
        self.assertIn(f'Port {port} is taken on all addresses', line)
        self.assertIn(f'(pid {os.getpid()})', line)
        self.assert_nothing_left(box)


class UsageTest(_Base):

    def test_folder_of_somebody_else(self):
        box = self.box()
        box.directory.mkdir()
        (box.directory / 'thesis.tex').touch()
        for ended in (box.up(), box.down()):
            self.assertIn('not a sandbox', self.assert_one_line(2, ended))
        self.assertEqual(['box', 'box/thesis.tex'], box.left())
        (box.directory / 'thesis.tex').unlink()

    def test_two_commands_at_once(self):
        box = self.box()

        def second(process):
            self.assertIn('Another command', self.assert_one_line(
                2, box.down()))
            process.send_signal(signal.SIGINT)

        self.at(box, 'etcd ready', second)
        self.assert_nothing_left(box)


@boxes.LONG
class ColdTest(_Base):

    def test_broken_snapshot_is_made_again(self):
        box = self.box(cache=self.cold_cache())
        path = snapshot.path(profiles.get('embedded'))
        path.mkdir(parents=True)
        ended = box.up()
        self.assert_done(ended)
        self.assertIn(f'The snapshot {path} cannot be used', ended.err)
        self.assertIn('keystone.sqlite', os.listdir(path / 'db'))

    def test_the_snapshot_has_no_secret_of_its_maker(self):
        box = self.box(cache=self.cold_cache())
        self.assert_done(box.up())
        secrets = [key.read_bytes()
                   for key in box.directory.glob('keystone/*/*')]
        secrets += map(str.encode, box.sandbox.passwords().values())
        self.assertEqual(8, len(secrets))
        kept = snapshot.path(profiles.get('embedded'))
        for path in filter(pathlib.Path.is_file, kept.rglob('*')):
            data = path.read_bytes()
            self.assertEqual([], [s for s in secrets if s in data], path)

    def test_interrupted_while_databases_are_made(self):
        box = self.box(cache=self.cold_cache())
        ended = self.at(box, 'Databases ...', lambda process:
                        process.send_signal(signal.SIGINT))
        self.assert_one_line(130, ended)
        self.assert_nothing_left(box)

    def test_killed_while_databases_are_made(self):
        box = self.box(cache=self.cold_cache())
        self.at(box, 'Databases ...', lambda process: process.kill())
        self.assert_done(box.down())
        self.assert_nothing_left(box)
        # The commands that made them ran in separate sessions.
        waiting.wait_for(box.left, done=lambda left: not left, timeout=120,
                         what='nothing to be left')
