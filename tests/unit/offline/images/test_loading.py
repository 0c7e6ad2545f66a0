# SPDX-License-Identifier: Apache-2.0

import pathlib
import types

import testtools

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import dockers
from tests.unit import docker_program
from tools.offline.images import loading

ARCHIVE = types.SimpleNamespace(
    name='node', path=pathlib.Path('/node.tar'), image_id='1',
    references=('docker.io/kindest/node:v1',))


class LoadTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.program = self.useFixture(docker_program.Docker(load=''))

    def load(self):
        loading.load([ARCHIVE], dockers.Docker(docker_program.HOST),
                     progress.Silent())
        return [x for x in self.program.asked if x.startswith('load')]

    def test_what_is_there_is_not_loaded(self):
        self.program.answer(**{'image inspect': 'sha256:1\n'})
        self.assertEqual([], self.load())

    def test_neither_there_nor_the_same(self):
        loads = ['load --quiet --input /node.tar']
        self.assertEqual(loads, self.load())
        self.program.answer(**{'image inspect': 'sha256:old\n'})
        self.assertEqual(loads * 2, self.load())

    def test_a_broken_archive(self):
        self.program.answer(load=None)
        e = self.assertRaises(errors.CommandFailed, self.load)
        self.assertIn('cannot load', str(e))
