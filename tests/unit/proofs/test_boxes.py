# SPDX-License-Identifier: Apache-2.0

import pathlib
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi import errors
import magnum_capi_sandbox as sandbox
from tests.proofs import boxes


class BoxTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.sandbox = mock.Mock()
        self.made = self.useFixture(fixtures.MockPatchObject(
            sandbox, 'Sandbox', return_value=self.sandbox)).mock

    def box(self, keep=False, kind=boxes.Box):
        return kind(types.SimpleNamespace(
            folder=pathlib.Path('/f'), results=pathlib.Path('/r'),
            progress='progress', keep=keep,
            args=types.SimpleNamespace(port_base=7)), clash=True)

    def test_it_is_up_for_as_long_as_the_context_lasts(self):
        with self.box():
            self.sandbox.down.assert_not_called()

        self.made.assert_called_once_with(pathlib.Path('/f/box'))
        self.sandbox.up.assert_called_once_with(
            sandbox.Spec(port_base=7, clash=True), 'progress')
        self.sandbox.down.assert_called_once_with('progress')

    def test_one_that_was_there_is_left_up(self):
        with self.box(keep=True):
            pass

        self.sandbox.down.assert_not_called()

    def test_what_cannot_be_prepared_is_taken_down(self):
        class Unprepared(boxes.Box):

            def prepare(self):
                raise errors.MagnumCapiError('No image')

        self.assertRaises(errors.MagnumCapiError,
                          self.box(kind=Unprepared).__enter__)

        self.sandbox.down.assert_called_once_with('progress')
