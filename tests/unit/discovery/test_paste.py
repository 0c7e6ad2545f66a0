# SPDX-License-Identifier: Apache-2.0

import os
import pathlib

import fixtures
import testtools

from magnum_capi.discovery import paste
from magnum_capi import errors

#: As Magnum 23.0.0 has it, shortened.
MAGNUM = '''\
[composite:main]
paste.composite_factory = magnum.api:root_app_factory
/: api
/healthcheck: healthcheck

[pipeline:api]
# Users are known behind authtoken.
pipeline = cors request_id authtoken api_v1

[app:api_v1]
paste.app_factory = magnum.api.app:app_factory

[filter:authtoken]
acl_public_routes = /, /v1
paste.filter_factory = magnum.api.middleware.auth_token:AuthToken.factory

[filter:cors]
paste.filter_factory = oslo_middleware.cors:filter_factory
'''
OURS = f'\n[filter:driver_discovery]\npaste.filter_factory = {paste.FACTORY}\n'


class WithFilterTest(testtools.TestCase):

    def test_it_is_put_next_to_the_api_and_nothing_else_changes(self):
        self.assertEqual(
            MAGNUM.replace('authtoken api_v1',
                           'authtoken driver_discovery api_v1') + OURS,
            paste.with_filter(MAGNUM))

    def test_a_pipeline_that_is_the_whole_application(self):
        # As OpenStack-Helm has it.
        start = MAGNUM.index('[pipeline:api]')
        text = MAGNUM[start:].replace('[pipeline:api]', '[pipeline:main]')
        self.assertIn('[pipeline:main]\n# Users are known behind authtoken.\n'
                      'pipeline = cors request_id authtoken driver_discovery '
                      'api_v1\n', paste.with_filter(text))

    def test_taken_out_again_everything_is_as_it_was(self):
        for text in (MAGNUM, MAGNUM + '\n[app:x]\na = b\n', MAGNUM.replace(
                'request_id authtoken api_v1',
                'request_id\n  authtoken\n  api_v1')):
            self.assertEqual(
                text, paste.without_filter(paste.with_filter(text)))
            self.assertEqual(text, paste.without_filter(text))

    def test_its_options_go_with_it(self):
        # Otherwise they would belong to the section before.
        other = '# of the next one\n[filter:other]\npaste.filter_factory = x\n'
        for options in ('# slow\nread_timeout = 60\n',
                        '\n; fast\nconnect_timeout: 1\n\nread_timeout=2\n',
                        'set debug =\n  yes\nread_timeout = 60\n'):
            text = paste.with_filter(MAGNUM) + options
            for after in ('', f'\n{other}', other):
                self.assertEqual(MAGNUM + after,
                                 paste.without_filter(text + after), options)

    def test_where_it_is_put(self):
        put = paste.with_filter(MAGNUM)
        lines = MAGNUM.replace('request_id authtoken api_v1',
                               'request_id\n  authtoken\n  api_v1')
        mine = OURS.replace('driver_discovery', 'mine')
        for text, expected in (
                (put, put),
                (lines, lines.replace(
                    '  api_v1', '  driver_discovery api_v1') + OURS),
                # One before authtoken is moved, by whatever name.
                (MAGNUM.replace('cors request_id',
                                'cors driver_discovery request_id') + OURS,
                 put),
                (MAGNUM.replace('= cors', '= mine cors') + mine,
                 MAGNUM.replace('authtoken api_v1', 'authtoken mine api_v1')
                 + mine),
                # A name that is a part of another one is left alone.
                (MAGNUM.replace('= cors', '= my-driver_discovery-2 cors'),
                 put.replace('= cors', '= my-driver_discovery-2 cors'))):
            self.assertEqual(expected, paste.with_filter(text))
            self.assertIs(paste.Position.IN_PLACE, paste.position(expected))

    def test_another_filter_of_the_name_is_not_replaced(self):
        text = MAGNUM + OURS.replace(paste.FACTORY, 'some.other:factory')
        e = self.assertRaises(errors.UsageError, paste.with_filter, text)
        self.assertIn('some.other:factory', str(e))

    def test_other_pipelines_are_left_alone(self):
        for name in 'az':
            other = f'[pipeline:{name}]\npipeline = cors api_v1\n\n'
            for place in '[composite:', '[app:':
                text, put = (text.replace(place, other + place) for text in (
                    MAGNUM, paste.with_filter(MAGNUM)))
                self.assertEqual(put, paste.with_filter(text))

    def test_a_line_that_goes_on_may_begin_with_one_blank(self):
        text = MAGNUM.replace('request_id authtoken api_v1',
                              'request_id\n authtoken\n api_v1')

        self.assertIn(' authtoken\n driver_discovery api_v1\n',
                      paste.with_filter(text))

    def test_what_follows_the_pipeline_is_left_alone(self):
        for line in ('other = api_v1 x\n', '# api_v1\n', '\n# api_v1\n'):
            text, put = (text.replace('[app:', f'{line}[app:').replace(
                'api_v1\n\n', 'api_v1\n', 1) for text in (
                    MAGNUM, paste.with_filter(MAGNUM)))
            self.assertIn(f' authtoken api_v1\n{line}', text)
            self.assertEqual(put, paste.with_filter(text))

    def test_files_that_are_not_magnums(self):
        for text, seen in (
                ('', "'pipeline:api'"),
                ('no ini\nat all', 'File contains no section headers.'),
                ('[pipeline:api]\n', "'pipeline'"),
                (MAGNUM.replace('pipeline:api', 'pipeline:other'),
                 "'pipeline:api'"),
                (MAGNUM.replace(' authtoken', ''), 'cors request_id api_v1'),
                (MAGNUM.replace('authtoken api_v1', 'api_v1 authtoken'),
                 'cors request_id api_v1 authtoken'),
                (MAGNUM.replace(' cors request_id authtoken api_v1', ''),
                 'an empty pipeline')):
            e = self.assertRaises(errors.UsageError, paste.with_filter, text)
            self.assertEqual(seen, e.last_seen)

    def test_the_last_authtoken_has_to_be_before_the_api(self):
        text = MAGNUM.replace('authtoken api_v1', 'authtoken api_v1 second')
        self.assertRaises(errors.UsageError, paste.with_filter, text + (
            '[filter:second]\npaste.filter_factory = auth_token:f\n'))

    def test_a_last_line_without_its_end(self):
        text = ('[filter:authtoken]\npaste.filter_factory = auth_token:f\n'
                '[pipeline:api]\npipeline = authtoken api_v1')
        self.assertIs(paste.Position.IN_PLACE,
                      paste.position(paste.with_filter(text)))

    def test_a_pipeline_that_cannot_be_changed_line_by_line(self):
        """configparser reads them all: the name would be put elsewhere."""
        value = 'pipeline = cors request_id authtoken api_v1'
        for written in (
                f'  {value}',
                value.replace(' authtoken', '\n# Users.\n  authtoken'),
                value.replace(' authtoken', '\n\n  authtoken'),
                f'{value}\n  # As before api_v1 2'):
            text = MAGNUM.replace(value, written)
            error = self.assertRaises(
                errors.UsageError, paste.with_filter, text)
            self.assertIn('written in a way', str(error))
            self.assertIn('[pipeline:api]', str(error))

    def test_a_filter_that_cannot_be_taken_out_line_by_line(self):
        text = paste.with_filter(MAGNUM).replace(
            ' driver_discovery', '\n# Drivers.\n  driver_discovery')

        error = self.assertRaises(
            errors.UsageError, paste.without_filter, text)

        self.assertIn('written in a way', str(error))


class PositionTest(testtools.TestCase):

    def test_each(self):
        put = paste.with_filter(MAGNUM)
        early = ('= cors', '= driver_discovery cors')
        absent, before, behind = paste.Position
        for text, position in (
                (MAGNUM, absent), (MAGNUM + OURS, absent),
                (MAGNUM.replace(*early) + OURS, before),
                (put, behind), (put.replace(*early), before),
                # authtoken is known by what it is, and by its name.
                (put.replace('filter:authtoken', 'filter:users').replace(
                    'request_id authtoken', 'request_id users'), behind),
                (put.replace('magnum.api.middleware.auth_token:AuthToken'
                             '.factory', 'my:users'), behind),
                # The last of two counts.
                (put.replace('driver_discovery api_v1',
                             'driver_discovery second api_v1')
                 + '[filter:second]\npaste.filter_factory = auth_token:f\n',
                 before),
                # A section of the name with another factory is not it.
                (put.replace(paste.FACTORY, 'other:f'), absent)):
            self.assertIs(position, paste.position(text), text)


FILE = '''\
[pipeline:api]
pipeline = request_id authtoken api_v1

[filter:authtoken]
paste.filter_factory = magnum.api.middleware.auth_token:factory
'''


class PutTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path = folder / 'api-paste.ini'
        self.path.write_text(FILE)
        self.path.chmod(0o641)

    def test_it_is_put_there_once(self):
        self.assertTrue(paste.put(self.path))
        self.assertEqual(paste.Position.IN_PLACE,
                         paste.position(self.path.read_text()))
        self.assertFalse(paste.put(self.path))

    def test_mode_and_link_stay(self):
        link = self.path.with_name('link')
        link.symlink_to(self.path)

        paste.put(link)

        self.assertTrue(link.is_symlink())
        self.assertEqual(0o641, self.path.stat().st_mode & 0o777)

    @testtools.skipUnless(os.geteuid() == 0, 'only root gives files away')
    def test_the_owner_stays(self):
        os.chown(self.path, 12345, 12346)
        paste.put(self.path)
        found = self.path.stat()
        self.assertEqual((12345, 12346), (found.st_uid, found.st_gid))

    def test_dry(self):
        self.assertTrue(paste.put(self.path, dry=True))
        self.assertEqual(FILE, self.path.read_text())

    def test_files_that_are_none(self):
        for content, kind in (
                (b'[x]\n', errors.UsageError),
                (b'\xff\xfe', errors.EnvironmentProblem)):
            self.path.write_bytes(content)
            self.assertRaises(kind, paste.put, self.path)
            self.assertEqual(content, self.path.read_bytes())
        self.path.unlink()
        self.assertRaises(errors.UsageError, paste.put, self.path)

    def test_it_is_taken_out_again(self):
        paste.put(self.path)

        self.assertTrue(paste.put(
            self.path, change=paste.without_filter))
        self.assertEqual(FILE, self.path.read_text())
        self.assertFalse(paste.put(
            self.path, change=paste.without_filter))
