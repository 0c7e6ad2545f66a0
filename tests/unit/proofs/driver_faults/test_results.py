# SPDX-License-Identifier: Apache-2.0


import csv
import io
import pathlib

import fixtures
import testtools

from tests.proofs.driver_faults import results as results_module
from tests.proofs.driver_faults import table

KEPT = table.Row('glance', 'down', 'create', ('CREATE_COMPLETE',),
                 end=table.REACHED)
HANGS = table.Row('glance', 'down', 'resize')


class ResultsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.results = results_module.Results(folder / 'new')

    def keep(self, name, *rows, seconds=90.04):
        self.results.save(results_module.Result(name, rows, seconds))

    def test_what_is_kept_is_found_again(self):
        self.keep('glance', KEPT, HANGS)
        found, = self.results.load(['glance'])
        self.assertEqual((KEPT, HANGS), found.rows)
        self.assertEqual(90.0, found.seconds)

    def test_parts_have_the_order_that_was_asked_for(self):
        self.keep('glance')
        self.keep('api-down')
        self.assertEqual(['api-down', 'glance'], [
            found.name for found in self.results.load(
                ['api-down', 'races', 'glance'])])

    def test_later_run_replaces_an_earlier_one(self):
        self.keep('glance', HANGS)
        self.keep('glance', KEPT)
        self.assertEqual([KEPT], results_module.rows(
            self.results.load(['glance'])))

    def test_csv_says_what_each_part_took(self):
        self.keep('glance', KEPT, HANGS)
        read = list(csv.reader(io.StringIO(results_module.as_csv(
            self.results.load(['glance'])))))
        self.assertEqual([list(results_module.COLUMNS),
                          ['glance', '2', '1', '1.5']], read)
