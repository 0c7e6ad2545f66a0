# SPDX-License-Identifier: Apache-2.0

"""The two ends of an e2e log, Sonobuoy's summary, times and names."""

import datetime
import gzip
import re
import tarfile

import testtools
import yaml

from magnum_capi_tempest.conformance.results import documents
from magnum_capi_tempest.conformance.results import e2elog
from magnum_capi_tempest.conformance.results import limits
from magnum_capi_tempest.conformance.results import suite_names
from magnum_capi_tempest.conformance.results import summary
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand


def scan(data, size=1000, **bounds):
    scanner = e2elog.Scanner(limits.Limits(**bounds))
    for at in range(0, len(data), size):
        scanner.feed(memoryview(data)[at:at + size])
    return scanner.close()


def count(data, size=None):
    counter = summary.Counter()
    size = size or len(data) or 1
    for at in range(0, len(data), size):
        counter.feed(memoryview(data)[at:at + size])
    return counter.close()


def member(path, name):
    with tarfile.open(path) as tar:
        return tar.extractfile(name).read()


class LogTest(testtools.TestCase):

    def test_both_ends(self):
        log = scan(archives.log(2, 1, 1, 9))

        self.assertEqual((2, 9, 2, 3.423), (log.planned, log.total, log.ran,
                                            log.seconds))
        self.assertEqual({'Passed': 1, 'Failed': 1, 'Pending': 0,
                          'Skipped': 7}, log.counts)

    def test_what_lies_between_is_not_kept(self):
        more = 'STEP: something\n' * 50_000
        scanner = e2elog.Scanner(limits.Limits(head=5000, tail=5000))
        data = archives.log(3, 2, 1, 9, more)
        for at in range(0, len(data), 777):
            scanner.feed(data[at:at + 777])

        self.assertLess(scanner._size, 200_000)
        log = scanner.close()
        self.assertEqual((3, 3), (log.planned, log.ran))

    def test_cut(self):
        log = scan(archives.log(2, 1, 1)[:-70])

        self.assertEqual((2, None, {}), (log.planned, log.ran, log.counts))
        self.assertIn('SSSSS', log.last)

    def test_colours_flakes_and_timeouts(self):
        log = scan(b'\x1b[1mWill run 3 of 5 specs\x1b[0m\n'
                   b'\x1b[1mRan 3 of 5 Specs in 1.000 seconds\x1b[0m\n'
                   b'FAIL! - Suite Timeout Elapsed -- \x1b[32m1 Passed\x1b[0m'
                   b' | 2 Failed | 1 Flaked | 0 Pending | 2 Skipped\n')

        self.assertEqual((3, 3, 1, 2, 1), (
            log.planned, log.ran, log.counts['Passed'],
            log.counts['Failed'], log.counts['Flaked']))

    def test_names_of_what_failed(self):
        failed = scan(member(by_hand.PARALLEL, archives.LOG)).failed

        self.assertEqual({s.name for s in
                          by_hand.real(by_hand.PARALLEL).failures},
                         set(failed))

    def test_nothing_and_noise(self):
        for data in (b'', b'\xff\xfe' * 100, b'Will run many of 3 specs\n'):
            with self.subTest(data):
                self.assertIsNone(scan(data).planned)

    def test_tiny_pieces_are_few_objects(self):
        scanner = e2elog.Scanner(limits.DEFAULT)
        for _ in range(50_000):
            scanner.feed(b'x')

        self.assertLess(len(scanner._tail), 10)


class SummaryTest(testtools.TestCase):

    def oracle(self, data):
        """Counts by a YAML library, in the way of Sonobuoy's results."""
        counts, tree = {}, yaml.load(data, yaml.CSafeLoader)

        def walk(item):
            for child in item.get('items') or ():
                if child.get('items'):
                    walk(child)
                else:
                    status = child['status']
                    counts[status] = counts.get(status, 0) + 1
        walk(tree)
        return tree['status'], counts

    def test_agrees_with_a_yaml_library_on_a_real_one(self):
        data = member(by_hand.PARALLEL, archives.YAML)
        # Thousands of skipped ones would only take time.
        head, *items = re.split(rb'(?m)^(?=    - name:)', data)
        bad = [n for n, item in enumerate(items)
               if b'\n      status: failed\n' in item]
        data = head + b''.join(
            item for n, item in enumerate(items)
            if any(abs(n - one) < 15 for one in bad))

        counter = count(data, 5000)

        self.assertEqual(self.oracle(data), (counter.status,
                                             counter.counts))
        self.assertEqual(4, counter.counts['failed'])
        self.assertGreater(counter.counts['skipped'], 20)

    TRICKY = b'''name: e2e
status: failed
meta:
  type: summary
items:
- name: 'folded: name that
    status: passed
    goes on'
  status: failed
  details:
    failure: "text\\n
      status: passed\\n
      - name: x"
    items:
    - name: not an item
      status: passed
    literal: |-
      - name: y
        status: skipped
  meta:
    status: passed
    name: z
- name: group
  status: custom
  items:
  - name: inner
    status: "timeout"
  - name: '- name: odd'
    status: passed
    items: []
- name: last
  status: passed
'''

    def test_agrees_on_a_tricky_one(self):
        for data in (self.TRICKY,
                     self.TRICKY.replace(b'items:\n- ', b'items:\n- '),
                     yaml.safe_dump(yaml.safe_load(self.TRICKY),
                                    sort_keys=False).encode()):
            for size in (1, 7, None):
                with self.subTest(size):
                    counter = count(data, size)
                    self.assertEqual(
                        self.oracle(data), (counter.status, counter.counts))

    def test_junk_is_counted_as_nothing(self):
        for data in (b'', b'\xff' * 5000, b'- name: x\n' * 100,
                     b'items:\n' + b' ' * 100_000, gzip.compress(b'x' * 99)):
            counter = count(data)
            self.assertEqual({}, counter.counts)

    def test_levels_and_statuses_are_bounded(self):
        deep = b''.join(b' ' * n + b'items:\n' + b' ' * n + b'- name: x\n'
                        + b' ' * n + b'  status: passed\n'
                        for n in range(0, 200, 2))
        many = b'items:\n' + b''.join(
            b'- name: x\n  status: s%d\n' % n for n in range(500))

        self.assertTrue(count(deep).overflow)
        self.assertTrue(count(many).overflow)
        self.assertLess(len(count(many).counts), 100)


class LeavesTest(testtools.TestCase):
    """Leaves in a row are counted at once, as they are one by one."""

    LEAVES = b"".join(
        b"    - name: '[It] %d of\n        two: lines'\n      status: %s\n"
        % (n, b'passed' if n % 3 else b'skipped') for n in range(30))
    HEAD = b'status: passed\nitems:\n- name: s\n  status: failed\n'

    def the_same(self, data):
        whole = count(data)
        for size in (1, 7, 100, 1000):
            found = count(data, size)
            self.assertEqual((whole.status, whole.counts, whole.overflow),
                             (found.status, found.counts, found.overflow))
        return whole.counts

    def test_leaves_of_an_item(self):
        self.assertEqual(
            {'passed': 20, 'skipped': 10},
            self.the_same(self.HEAD + b'  items:\n' + self.LEAVES))

    def test_what_looks_like_leaves_and_is_none(self):
        for head in (self.HEAD, self.HEAD + b'  details:\n',
                     self.HEAD + b'  items: []\n', b''):
            with self.subTest(head):
                self.assertIn(self.the_same(head + self.LEAVES),
                              ({}, {'failed': 1}))

    def test_a_leaf_with_items_of_its_own(self):
        data = (self.HEAD + b'  items:\n' + self.LEAVES
                + b'      items:\n      - name: x\n        status: odd\n')

        self.assertEqual({'passed': 19, 'skipped': 10, 'odd': 1},
                         self.the_same(data))


class MomentTest(testtools.TestCase):

    def test_go_writes_nanoseconds(self):
        self.assertEqual(
            datetime.datetime(2026, 11, 21, 9, 24, 31, 607505,
                              datetime.timezone.utc),
            documents.moment('2026-11-21T09:24:31.607505123Z'))

    def test_none(self):
        for stamp in (None, '', 'yesterday', 7):
            self.assertIsNone(documents.moment(stamp))


class NamesTest(testtools.TestCase):

    def test_suite_nodes(self):
        for name in ('[ReportBeforeSuite]', '[SynchronizedBeforeSuite]',
                     '[ReportAfterSuite] Kubernetes e2e suite report',
                     '[DeferCleanup (Suite)]'):
            self.assertTrue(suite_names.suite_node(name), name)
        for name in ('[It] [sig-a] b', '[sig-a] b', '[Feature:X] y', 'z',
                     '[BeforeEach] odd', ''):
            self.assertFalse(suite_names.suite_node(name), name)

    def test_specs(self):
        self.assertEqual('[sig-a] b c', suite_names.spec(
            '[It] [sig-a] b  c '))

    def test_lines_of_a_summary(self):
        for line, name in (
                ('[sig-node] Secrets [It] should work [Conformance] '
                 '[sig-node, Conformance]',
                 '[sig-node] Secrets should work [Conformance]'),
                ('[sig-node] Secrets [It] should work [Conformance]',
                 '[sig-node] Secrets should work [Conformance]'),
                ('[sig-a] b [It] c [d, e]', '[sig-a] b c [d, e]')):
            with self.subTest(line):
                self.assertEqual(name, suite_names.from_summary(line))
