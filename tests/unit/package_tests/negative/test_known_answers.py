# SPDX-License-Identifier: Apache-2.0

"""Which answers a release of Magnum is known for."""

import csv
import io
import pathlib

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_sandbox import releases
from magnum_capi_tempest.tests.common.negative import bad_input
from magnum_capi_tempest.tests.common.negative import known_answers

TABLE = """where,kind,value,1.11,1.12,1.14
node port,number,a list,500,500,
node port,number,a fraction,,,201
node csr,signing request,SQL,,400,400
"""


class TableTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.path = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'table.csv'
        self.path.write_text(TABLE)

    def has(self, microversion, *key, status=500, detail='No.'):
        answer = bad_input.Answer(status, {'errors': [{'detail': detail}]})
        return known_answers.is_known(
            known_answers.read(self.path, microversion), *key, answer)

    def test_each_release_has_its_column(self):
        key = ('node port', 'number', 'a list')

        self.assertEqual([True, True, False], [
            self.has(version, *key) for version in ('1.11', '1.12', '1.14')])
        self.assertFalse(self.has('1.11', *key, status=503))
        self.assertFalse(self.has('1.11', 'node count', *key[1:]))

    def test_success_has_several_statuses(self):
        key = ('node port', 'number', 'a fraction')

        self.assertEqual([True, True, False], [
            self.has('1.14', *key, status=status)
            for status in (200, 202, 500)])

    def test_a_refusal_is_known_with_words_from_inside_only(self):
        key = ('node csr', 'signing request', 'SQL')

        self.assertTrue(self.has(
            '1.12', *key, status=400,
            detail='No.\nTraceback (most recent call last):'))
        self.assertFalse(self.has('1.12', *key, status=400))

    def test_releases_without_a_column(self):
        key = ('node csr', 'signing request', 'SQL')
        inside = {'status': 400, 'detail': '[SQL: SELECT'}

        self.assertEqual([False, True, True, True], [
            self.has(version, *key, **inside)
            for version in ('1.9', '1.13', '1.20', None)])

    def test_a_line_for_every_field(self):
        with self.path.open('a') as table:
            table.write('*,cluster,an emoji,,,500\n')

        self.assertEqual([True, False], [
            self.has('1.14', 'node x', kind, 'an emoji')
            for kind in ('cluster', 'image')])

    def test_a_file_that_is_no_table(self):
        for text in ('', 'one\ntwo', 'where,kind,value\n',
                     'where,kind,value,1.14\na,b,c,maybe\n'):
            self.path.write_text(text)

            self.assertRaises(errors.UsageError, known_answers.read,
                              self.path, '1.14')
        self.assertRaises(errors.UsageError, known_answers.read,
                          self.path.with_name('nowhere'), '1.14')


class MeasuredTest(testtools.TestCase):

    def test_the_columns_are_microversions_of_releases(self):
        heads = next(csv.reader(io.StringIO(
            known_answers.MEASURED.read_text())))
        columns = heads[len(known_answers.KEY):]

        self.assertEqual(
            [], [column for column in columns if column not in
                 [release.microversion for release in releases.RELEASES]])
        self.assertEqual(releases.NEWEST.microversion, columns[-1])

    def test_the_fields_and_values_are_those_that_are_sent(self):
        sent = {(f'{resource} {field}', kind, value)
                for resource, fields in bad_input.FIELDS.items()
                for field in fields
                for kind, value, _ in bad_input.values(resource, field)}
        kinds = {(kind, value) for _, kind, value in sent}
        rows = csv.DictReader(io.StringIO(known_answers.MEASURED.read_text()))
        for row in rows:
            key = tuple(row[name] for name in known_answers.KEY)
            if key[0] == known_answers.ANY and key[1] in bad_input.KINDS:
                self.assertIn(key[2], bad_input.KINDS[key[1]], key)
            elif key[0] in {where for where, *_ in sent}:
                self.assertIn(key[1:], kinds, key)


class FieldsTest(testtools.TestCase):

    def test_more_values_are_of_fields_that_are_there(self):
        for resource, fields in bad_input.MORE.items():
            self.assertEqual(
                set(), {*fields} - {*bad_input.FIELDS[resource]})
