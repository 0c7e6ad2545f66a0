# SPDX-License-Identifier: Apache-2.0

import ast
import configparser
import pathlib
import textwrap

import testtools

from magnum_capi_tempest.hacking import checks

TOP = pathlib.Path(__file__).resolve().parents[3]
ROOM = 'magnum_capi_tempest/sandbox/x.py'
CLOUD = './magnum_capi_tempest/tests/api/test_x.py'


class ChecksTest(testtools.TestCase):

    def lines(self, check, code, filename=ROOM):
        tree = ast.parse(textwrap.dedent(code))
        return sorted(line for line, _, _, _ in check(tree, filename))

    def test_no_bare_exception(self):
        self.assertEqual([1, 2, 3], self.lines(checks.no_bare_exception, '''\
            raise Exception('x')
            raise BaseException
            raise Exception(
                'x') from None
            raise ValueError('x')
            raise errors.Exception('x')
            raise
            '''))

    def test_no_class_fixtures(self):
        code = '''\
            class T:
                def setUpClass(cls): pass
                def tearDown(self): pass
                def resource_setup(cls): pass
            def tearDown(): pass
            '''
        self.assertEqual([2, 3], self.lines(
            checks.no_class_fixtures, code, CLOUD))
        self.assertEqual([], self.lines(
            checks.no_class_fixtures, code, 'tests/unit/test_x.py'))

    def test_no_sleep(self):
        code = '''\
            import time
            import time as t
            from time import sleep as nap
            time.sleep(1)
            t.sleep(1)
            nap(1)
            clock.sleep(1)
            time.monotonic()
            '''
        self.assertEqual([4, 5, 6], self.lines(checks.no_sleep, code))
        self.assertEqual([], self.lines(
            checks.no_sleep, code, './magnum-capi/magnum_capi/waiting.py'))

    def test_no_mutable_defaults(self):
        self.assertEqual([1, 2, 3, 4], self.lines(
            checks.no_mutable_defaults, '''\
            def a(b, c=[]): pass
            async def a(*, b={}): pass
            lambda a=set(): a
            def a(b=data_utils.rand_name('x')): pass
            def a(b=(), c=None, d=frozenset()): pass
            '''))

    def test_only_processes_starts_programs(self):
        code = '''\
            import subprocess
            from subprocess import run
            from os import system
            import os
            os.popen('x')
            os.environ.get('x')
            from magnum_capi import processes
            '''
        self.assertEqual([1, 2, 3, 5], self.lines(
            checks.only_processes_starts_programs, code))
        for free in ('/a/magnum-capi/magnum_capi/processes.py',
                     'tests/functional/test_x.py', 'setup.py'):
            self.assertEqual([], self.lines(
                checks.only_processes_starts_programs, code, free))

    def test_cloud_tests_have_ids(self):
        code = '''\
            class T:
                @decorators.idempotent_id('0f1e')
                def test_a(self): pass
                def test_b(self): pass
                @decorators.idempotent_id(IDS['c'])
                def test_c(self): pass
                def check(self): pass
            '''
        self.assertEqual([4, 6], self.lines(
            checks.cloud_tests_have_ids, code, CLOUD))
        self.assertEqual([], self.lines(checks.cloud_tests_have_ids, code))

    def test_every_check_is_on_and_documented(self):
        tox = configparser.ConfigParser()
        tox.read(TOP / 'tox.ini')
        on = dict(line.split(' = checks:') for line in
                  tox['flake8:local-plugins']['extension'].split('\n')
                  if line)
        hacking = (TOP / 'HACKING.rst').read_text()

        for name, check in vars(checks).items():
            doc = getattr(check, '__doc__', None) or ''
            if callable(check) and doc.startswith('MC'):
                code = doc[:5]
                self.assertEqual(name, on.pop(code))
                self.assertIn(code, hacking)
        self.assertEqual({}, on)
