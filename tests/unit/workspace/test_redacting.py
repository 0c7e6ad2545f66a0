# SPDX-License-Identifier: Apache-2.0
import gzip
import io

from subunit import v2
import testtools
from testtools.testresult import doubles

from magnum_capi_tempest import redact
from magnum_capi_tempest.workspace import redacting
from tests.unit.report import streams


class RedactingTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.events = doubles.StreamResult()
        self.stream = redacting.Redacting(
            self.events, redact.Known(['of-the-cloud-7']))
        self.stream.startTestRun()

    def attach(self, data, *, name='log', test='a.b', **kwargs):
        self.stream.status(test_id=test, file_name=name, file_bytes=data,
                           **kwargs)

    def attached(self):
        """Bytes of attachments, by test and name."""
        found = {}
        for event in self.events._events:
            if event[0] == 'status' and event.file_name is not None:
                key = event.test_id, event.file_name
                found[key] = found.get(key, b'') + event.file_bytes
        return found

    def test_a_secret_in_two_chunks_goes(self):
        self.attach(b'a: b\npassword: hun')
        self.attach(b'ter2\nc: d\n', eof=True)

        self.assertEqual(
            {('a.b', 'log'): b'a: b\npassword: <redacted>\nc: d\n'},
            self.attached())

    def test_attachments_side_by_side(self):
        self.attach(b'token: ')
        self.attach(b'{"token": ', name='other')
        self.attach(b'x: ', test='c.d')
        self.attach(b'aaaaaaaa\n', eof=True)
        self.attach(b'"bbbbbbbb"}', name='other', eof=True)
        self.attach(b'y', test='c.d', eof=True)

        self.assertEqual(
            {('a.b', 'log'): b'token: <redacted>\n',
             ('a.b', 'other'): b'{"token": "<redacted>"}',
             ('c.d', 'log'): b'x: y'}, self.attached())

    def test_an_attachment_comes_before_the_end_of_its_test(self):
        self.attach(b'token: aaaaaaaa\n')
        self.stream.status('a.b', 'fail', test_tags={'worker-0'},
                           timestamp=streams.at(3))

        first, last = self.events._events[1:]
        self.assertEqual(b'token: <redacted>\n', first.file_bytes)
        self.assertTrue(first.eof)
        self.assertEqual(
            ('a.b', 'fail', {'worker-0'}, streams.at(3), None),
            (last.test_id, last.test_status, last.test_tags, last.timestamp,
             last.file_name))

    def test_what_a_killed_test_left_comes_at_the_end(self):
        self.stream.status('a.b', 'inprogress')
        self.attach(b'token: aaaaaaaa\n')
        self.assertEqual({}, self.attached())

        self.stream.stopTestRun()

        self.assertEqual({('a.b', 'log'): b'token: <redacted>\n'},
                         self.attached())

    def test_type_time_and_route_stay(self):
        self.attach(b'{}', eof=True, mime_type='application/json',
                    timestamp=streams.at(1), route_code='0')

        event, = self.events._events[1:]
        self.assertEqual(
            ('application/json', streams.at(1), '0', True),
            (event.mime_type, event.timestamp, event.route_code, event.eof))

    def test_a_long_one_goes_out_in_pieces(self):
        line = b'password: hunter2 ' + b'x' * 1000 + b'\n'
        self.attach(b'y' * 1000 + b'\n' + (line + b'z' * 2000 + b'\n') * 3000,
                    eof=True)

        pieces = [event.file_bytes for event in self.events._events[1:]]
        self.assertLessEqual(max(map(len, pieces)), redacting.PIECE)
        self.assertGreater(len(pieces), 5)
        whole = b''.join(pieces)
        self.assertNotIn(b'hunter2', whole)
        self.assertEqual(3000, whole.count(b'password: <redacted>\n'))

    def test_what_is_no_text_is_left_out(self):
        packed = gzip.compress(b'password: hunter2')
        self.attach(packed, eof=True, mime_type='application/gzip')
        self.attach(b'\xff password: hunter2', name='text', eof=True)

        self.assertEqual(
            {('a.b', 'log'):
             f'[{len(packed)} bytes of application/gzip]'.encode(),
             ('a.b', 'text'): b'\xff password: <redacted>'}, self.attached())

    def test_what_is_known_goes_wherever_it_is(self):
        self.attach(b'the cloud said of-the-cloud-7, twice', eof=True)

        self.assertEqual({('a.b', 'log'): b'the cloud said <redacted>, twice'},
                         self.attached())

    def test_colours_hide_nothing(self):
        self.attach(b'\x1b[1mpassword\x1b[0m: hunter2', eof=True)

        self.assertEqual({('a.b', 'log'): b'password: <redacted>'},
                         self.attached())


class CopyTest(testtools.TestCase):

    def test_only_secrets_differ(self):
        stream = streams.Stream().test(
            'a.b[id-1]', 'fail', seconds=2, tags=('worker-1',),
            log='x: y\nsecret_key: aaaaaaaa\n').listed('c.d').noise(
                b'token: bbbbbbbb\n').test('e.f', 'skip', reason='no')
        target = io.BytesIO()

        redacting.copy(io.BytesIO(stream.data), target)

        before, after = (self.records(data) for data in (
            stream.data, target.getvalue()))
        self.assertNotIn(b'aaaaaaaa', target.getvalue())
        self.assertNotIn(b'bbbbbbbb', target.getvalue())
        for one, other in zip(before, after):
            self.assertEqual(one.pop('details').keys(),
                             other.pop('details').keys())
        self.assertEqual(before, after)

    def records(self, data):
        records = []
        result = testtools.StreamToDict(records.append)
        result.startTestRun()
        v2.ByteStreamToStreamResult(io.BytesIO(data), 'noise').run(result)
        result.stopTestRun()
        return records
