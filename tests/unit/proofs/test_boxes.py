# SPDX-License-Identifier: Apache-2.0

from unittest import mock

import fixtures

from magnum_capi import errors
import magnum_capi_sandbox as sandbox
from tests.proofs import boxes
from tests.unit.proofs import base


class Prepared(boxes.Box):

    ready = False

    def prepare(self):
        self.ready = True


class Unprepared(boxes.Box):

    def prepare(self):
        raise errors.MagnumCapiError('No image')


class BoxTest(base.CaseTest):

    def setUp(self):
        super().setUp()
        self.sandbox = mock.Mock()
        self.made = self.useFixture(fixtures.MockPatchObject(
            sandbox, 'Box', return_value=self.sandbox)).mock
        self.addCleanup(boxes.shared.cache_clear)
        self.useFixture(fixtures.MockPatch('atexit.register'))

    def test_it_is_up_for_as_long_as_the_context_lasts(self):
        with boxes.Box(7, clash=True):
            self.sandbox.down.assert_not_called()

        self.made.assert_called_once_with(self.folder / 'boxes' / 'box')
        self.sandbox.up.assert_called_once_with(
            sandbox.Spec(port_base=7, clash=True), mock.ANY)
        self.sandbox.down.assert_called_once()

    def test_what_cannot_be_prepared_is_taken_down(self):
        self.assertRaises(errors.MagnumCapiError, Unprepared(7).__enter__)

        self.sandbox.down.assert_called_once()

    def test_one_process_starts_a_shared_one_and_each_prepares_it(self):
        for _process in range(2):
            box = boxes.shared(Prepared, 7)
            self.assertTrue(box.ready)
            self.assertIs(box, boxes.shared(Prepared, 7))
            boxes.shared.cache_clear()

        self.sandbox.up.assert_called_once()
        self.sandbox.down.assert_not_called()

    def test_one_that_cannot_be_started_is_not_tried_again(self):
        self.sandbox.up.side_effect = errors.MagnumCapiError('No disk')

        for _process in range(2):
            self.assertIn('No disk', str(self.assertRaises(
                errors.MagnumCapiError, boxes.shared, Prepared, 7)))

        self.sandbox.up.assert_called_once()

    def test_who_is_alone_waits_for_those_who_are_not(self):
        with boxes.Turn('x', alone=False), boxes.Turn('x', alone=False), \
                fixtures.Timeout(1, gentle=True):
            self.assertRaises(fixtures.MultipleExceptions,
                              boxes.Turn('x').setUp)
        with boxes.Turn('x'), boxes.Turn('y'):
            pass
