# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import logging
import os
import pathlib
import sys

import fixtures
import subunit
import testtools

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import redact
from magnum_capi_tempest.workspace import folder
from magnum_capi_tempest.workspace import pool
from magnum_capi_tempest.workspace import worker

_COMMAND = [sys.executable, '-m', worker.__name__]


class PrintedTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.target = io.StringIO()
        self.stream = worker.Printed(self.target, redact.Known([]))

    def test_lines_go_out_when_they_are_whole(self):
        print('token:', 'aaaaaaaa', file=self.stream, end='')
        self.assertEqual('', self.target.getvalue())

        print(' b', file=self.stream)

        self.assertEqual('token: <redacted>\n', self.target.getvalue())

    def test_what_is_left_goes_out_at_the_end(self):
        self.stream.write('password=hunter2')

        self.stream.close()

        self.assertEqual('password=<redacted>', self.target.getvalue())

    def test_a_key_in_many_lines(self):
        for line in ('a', '-----BEGIN PRIVATE KEY-----', 'MIIB',
                     '-----END PRIVATE KEY-----', 'b'):
            print(line, file=self.stream)

        self.assertEqual('a\n<redacted>\n\n\nb\n', self.target.getvalue())

    def test_a_flush_shows_no_part_of_a_secret(self):
        for begin, end in (
                ('password: ', 'hunter2\n'),
                ('-----BEGIN PRIVATE KEY-----\nMIIB\n',
                 'MIIC\n-----END PRIVATE KEY-----\n')):
            print(begin, file=self.stream, end='', flush=True)
            print(end, file=self.stream, end='', flush=True)

        said = self.target.getvalue()
        self.assertIn('password: <redacted>', said)
        for secret in ('hunter2', 'MIIB', 'MIIC'):
            self.assertNotIn(secret, said)

    def test_a_key_without_end_is_not_kept_for_ever(self):
        print('-----BEGIN PRIVATE KEY-----', file=self.stream)
        for _ in range(2000):
            print('not a key', file=self.stream)

        self.assertIn('not a key', self.target.getvalue())


class KnownSecretsTest(testtools.TestCase):

    def test_those_of_the_configuration(self):
        path = self.useFixture(fixtures.TempDir()).path
        for name, text in (
                ('tempest.conf', '[auth]\nadmin_password = adm1n/pass\n'),
                ('accounts.yaml', "- username: x\n  password: 'us3r pass'\n")):
            with open(os.path.join(path, name), 'w') as file:
                file.write(text)

        known = folder.known_secrets(path)

        self.assertEqual('a <redacted> b <redacted>', redact.redact(
            'a adm1n/pass b us3r pass', known))

    def test_without_any(self):
        path = self.useFixture(fixtures.TempDir()).path

        self.assertEqual('a', redact.redact('a', folder.known_secrets(path)))


class LogsTest(testtools.TestCase):

    def test_every_handler_writes_without_secrets(self):
        self.useFixture(fixtures.MonkeyPatch(
            'logging.Handler.format', logging.Handler.format))
        worker._watch_logs(redact.Known(['of-the-cloud-7']))
        target = io.StringIO()
        handler = logging.StreamHandler(target)
        handler.setFormatter(logging.Formatter('%(message)s %(extra)s'))
        record = logging.makeLogRecord({
            'msg': 'x %s', 'args': ({'password': 'hunter2'},),
            'extra': 'of-the-cloud-7'})
        try:
            raise ValueError("('X-Auth-Token', 'aaaaaaaa')")
        except ValueError:
            record.exc_info = sys.exc_info()

        handler.handle(record)

        said = target.getvalue()
        self.assertTrue(said.startswith(
            "x {'password': '<redacted>'} <redacted>\n"), said)
        self.assertIn("('X-Auth-Token', '<redacted>')", said)


class SignOfLifeTest(testtools.TestCase):

    def test_it_is_there_until_the_worker_ends(self):
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        pool.make(base)
        alive = base / pool.ALIVE
        (base / 'test_it.py').write_text(
            'import os, testtools\n'
            'class T(testtools.TestCase):\n'
            '    def test_it(self):\n'
            f'        print(os.listdir({str(alive)!r}), file=open('
            f'{str(base / "said")!r}, "w"))\n'
            '        if os.environ.get("DIE"):\n'
            '            os.kill(os.getpid(), 9)\n')
        for die, left in (('', 0), ('1', 1)):
            with contextlib.suppress(errors.CommandFailed):
                processes.run(
                    [*_COMMAND, '-m', 'stestr.subunit_runner.run',
                     'discover', '-t', base, base], timeout=60,
                    binary=True, env={
                        **os.environ, folder.WORKERS: str(base), 'DIE': die})

            self.assertRegex((base / 'said').read_text(), r"\['\d+'\]")
            self.assertEqual(left, len(os.listdir(alive)))


class SharedTest(testtools.TestCase):
    """Two workers, one of which has ended: this one has the rest."""

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        pool.make(self.base)
        (self.base / 'test_it.py').write_text(
            'import testtools\n' + ''.join(
                f'class {name}(testtools.TestCase):\n'
                '    def test_1(self):\n        pass\n'
                '    def test_2(self):\n        pass\n'
                for name in ('Mine', 'Theirs', 'Taken', 'Unwanted')))

    def run_worker(self, *ids):
        """Run a worker with a list; returns (test, status) in their order."""
        (self.base / 'list').write_text('\n'.join(ids))
        stream = processes.run(
            [*_COMMAND, '-m', 'stestr.subunit_runner.run', 'discover', '-t',
             self.base, self.base, '--load-list', self.base / 'list'],
            timeout=60, binary=True,
            env={**os.environ, folder.WORKERS: str(self.base)})
        events = []

        class Events(testtools.StreamResult):
            def status(self, test_id=None, test_status=None, **_):
                if test_status != 'inprogress':
                    events.append((test_id, test_status))

        subunit.ByteStreamToStreamResult(io.BytesIO(stream)).run(
            Events())
        return events

    def test_it_runs_what_nobody_has_taken(self):
        (self.base / pool.TESTS / '1').write_text(
            'test_it.Theirs.test_2\ntest_it.Taken.test_1\n')
        (self.base / pool.TAKEN / '1%20test_it.Taken').touch()

        found = self.run_worker('test_it.Mine.test_1')

        self.assertEqual(
            [('test_it.Mine.test_1', 'exists'),
             ('test_it.Mine.test_1', 'success'),
             ('test_it.Theirs.test_2', 'success')], sorted(found))

    def test_the_order_in_a_class_is_that_of_the_loader(self):
        found = self.run_worker('test_it.Mine.test_2', 'test_it.Mine.test_1')

        self.assertEqual(
            ['test_it.Mine.test_1', 'test_it.Mine.test_2'],
            [test for test, status in found if status == 'success'])


_INTERRUPTED = '''
import os, pathlib, signal, testtools

class InterruptedTest(testtools.TestCase):
    def test_a(self):
        self.addCleanup(self.fail, 'not deleted in time')
        os.kill(os.getpid(), signal.SIGINT)

    def test_b(self):
        pathlib.Path(__file__).with_name('b').touch()
'''

#: Whose classes share a file, which none of them may leave behind.
_SHARING = '''
import os, pathlib, signal, testtools

SHARED, TORN_DOWN = map(pathlib.Path(__file__).with_name, ('shared', 'gone'))

def tear_down():
    SHARED.unlink()
    with TORN_DOWN.open('a') as file:
        file.write('1')

class Sharing:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        SHARED.touch()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        tear_down()

    def test_a(self):
        pass

class Interrupted(Sharing):
    def test_b(self):
        os.kill(os.getpid(), signal.SIGINT)

class TempestLike:
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls._teardowns = []
        cls._teardowns.append(tear_down)
        SHARED.touch()
        cls.resource_setup()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        while cls._teardowns:
            cls._teardowns.pop()()

    def test_a(self):
        pass
'''

_IN_A_TEST = _SHARING + '''
class SharingTest(Interrupted, testtools.TestCase):
    pass
'''

_IN_A_SET_UP = _SHARING + '''
class TempestLikeTest(TempestLike, testtools.TestCase):
    @classmethod
    def resource_setup(cls):
        os.kill(os.getpid(), signal.SIGINT)
'''

_BEFORE_A_SET_UP = _SHARING + '''
class ATest(Sharing, testtools.TestCase):
    pass

class BTest(Sharing, testtools.TestCase):
    @classmethod
    def setUpClass(cls):
        os.kill(os.getpid(), signal.SIGINT)
'''

_IN_A_TEAR_DOWN = _SHARING + '''
class ATest(Interrupted, testtools.TestCase):
    @classmethod
    def tearDownClass(cls):
        os.kill(os.getpid(), signal.SIGINT)
        super().tearDownClass()
'''

_FAILING = _SHARING + '''
class ATest(Interrupted, testtools.TestCase):
    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        raise ValueError('not deleted in time')
'''


class MainTest(testtools.TestCase):

    def test_nothing_but_the_runner_of_stestr(self):
        found = self.assertRaises(
            errors.CommandFailed, processes.run,
            [*_COMMAND, '-m', 'json.tool'], timeout=60)

        self.assertIn('stestr.subunit_runner.run', str(found))

    def test_what_cannot_be_imported_is_reported(self):
        path = self.useFixture(fixtures.TempDir()).path
        with open(os.path.join(path, 'test_x.py'), 'w') as file:
            file.write('raise ValueError("token: aaaaaaaa")\n')

        found = self.assertRaises(
            errors.CommandFailed, processes.run,
            [*_COMMAND, '-m', 'stestr.subunit_runner.run', 'discover', '-t',
             path, path, '--list'], timeout=60, merge=True)

        self.assertIn('ValueError: token: <redacted>', found.output)

    def run_tests(self, module):
        """Run the tests of a module.

        :returns: the folder that it was in, and the stream.
        """
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (path / 'test_x.py').write_text(module)
        with contextlib.suppress(errors.CommandFailed):
            processes.run(
                [*_COMMAND, '-m', 'stestr.subunit_runner.run', 'discover',
                 '-t', path, path], timeout=60, binary=True, spool=path)
        return path, (path / 'out').read_bytes()

    def test_no_test_begins_after_sigint(self):
        path, stream = self.run_tests(_INTERRUPTED)

        self.assertIn(b'not deleted in time', stream)
        self.assertFalse((path / 'b').exists())

    def test_what_a_class_shares_is_gone_after_sigint(self):
        for module in (_IN_A_TEST, _IN_A_SET_UP, _BEFORE_A_SET_UP):
            path, _ = self.run_tests(module)

            self.assertFalse((path / 'shared').exists(), module)
            self.assertEqual('1', (path / 'gone').read_text(), module)

    def test_a_tear_down_ends_by_another_sigint(self):
        path, _ = self.run_tests(_IN_A_TEAR_DOWN)

        self.assertTrue((path / 'shared').exists())

    def test_a_tear_down_that_fails_after_sigint_is_reported(self):
        _, stream = self.run_tests(_FAILING)

        self.assertIn(b'not deleted in time', stream)
