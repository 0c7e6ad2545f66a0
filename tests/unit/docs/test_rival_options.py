# SPDX-License-Identifier: Apache-2.0

"""A table says what replaces each option of another driver."""

import csv
import re

import testtools

from magnum_capi.driver import config
from tests.unit.docs import pages


class RivalOptionsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        table = pages.SOURCE / 'reference' / 'rival-options.csv'
        with table.open() as file:
            self.rows = [[re.findall('``(.+?)``', cell) for cell in row]
                         for row in list(csv.reader(file))[1:]]

    def test_what_replaces_them_exists(self):
        own = {option.name for option in config.OPTIONS}
        replaced = {instead[0] for _theirs, instead in self.rows if instead}
        # Two have an option of Magnum, and a label, instead.
        self.assertEqual({'[drivers]openstack_ca_file',
                          'manila_csi_share_type'}, replaced - own)
