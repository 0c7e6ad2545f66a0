# SPDX-License-Identifier: Apache-2.0

import testtools

from tests.proofs import tables

UUID = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'


class PlainTest(testtools.TestCase):

    def test_what_is_different_each_time_is_left_out(self):
        self.assertEqual(
            'cluster <uuid> <release> of <id> at https://<address>',
            tables.plain(f'cluster {UUID}\n c{UUID.replace("-", "")} of '
                         f'{UUID.replace("-", "")} at '
                         'https://127.83.0.2:6443'))

    def test_long_texts_are_cut(self):
        self.assertEqual('x' * 239 + '…', tables.plain('x' * 1000))
