# SPDX-License-Identifier: Apache-2.0

"""What is published carries no secret, and says how many it carried."""

import io
import json
import os
import pathlib
from xml.etree import ElementTree

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.submission import publish
from magnum_capi_tempest.conformance.submission import redactedxml
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

FAILURE = ('<failure message="see">{&#34;password&#34;: &#34;hunter2&#34;}'
           '&#xA;&lt;b&gt; token: 0123456789abcdef</failure>')
LOG = b'x \xff\r\npassword: hunter2\r\n' + archives.log(1, 0, 1, 1)


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.folder / 'state')))
        self.archive = self.folder / 'run.tar.gz'
        self.out = self.folder / 'out'
        members = archives.files(
            archives.case('[It] [sig-a] b', 'failed', FAILURE))
        self.archive.write_bytes(archives.by_library(
            members | {archives.LOG: LOG}))


class PublishTest(_Base):

    def test_no_secret_in_any_file(self):
        done = publish.publish(self.archive, self.out)

        self.assertEqual(
            {'e2e.log', 'junit_01.xml', 'report.json', 'report.html',
             'redacted.json'}, set(os.listdir(self.out)))
        for path in done.files:
            for secret in (b'hunter2', b'0123456789abcdef'):
                self.assertNotIn(secret, path.read_bytes(), path)

    def test_a_file_in_the_place_of_the_folder(self):
        """The error is ours, also if the tests have left no log."""
        self.out.touch()
        for record in self.archive, by_hand.PLUGIN:
            error = self.assertRaises(errors.EnvironmentProblem,
                                      publish.publish, record, self.out)
            self.assertIn(str(self.out), str(error))

    def test_what_was_taken_out_is_counted(self):
        done = publish.publish(self.archive, self.out)

        written = json.loads((self.out / 'redacted.json').read_text())
        self.assertEqual({'password': 1}, written['files']['e2e.log'])
        self.assertEqual({'password': 1, 'bearer-token': 1},
                         written['files']['junit_01.xml'])
        self.assertEqual(done.total, sum(written['total'].values()))

    def test_the_rest_of_the_log_stays(self):
        publish.publish(self.archive, self.out)

        self.assertEqual(
            LOG.replace(b'hunter2', b'<redacted>'),
            (self.out / 'e2e.log').read_bytes())

    def test_the_junit_file_is_still_one(self):
        publish.publish(self.archive, self.out)

        root = ElementTree.parse(self.out / 'junit_01.xml').getroot()
        failure = root.find('.//failure')
        self.assertEqual('see', failure.get('message'))
        self.assertEqual('{"password": "<redacted>"}\n<b> token: '
                         '<redacted>', failure.text)

    def test_a_junit_file_that_declares_another_encoding(self):
        """It is read as UTF-8, whatever it says."""
        for encoding in 'ISO-8859-1', 'US-ASCII', 'UTF-16', 'klingon':
            self.archive.write_bytes(archives.good(**{
                archives.JUNIT: archives.junit(archives.case(
                    '[It] [sig-a] über')).replace(
                        b'UTF-8', encoding.encode())}))

            publish.publish(self.archive, self.out)

            root = ElementTree.parse(self.out / 'junit_01.xml').getroot()
            self.assertEqual('[It] [sig-a] über',
                             root.find('.//testcase').get('name'))

    def test_files_of_hydrophone(self):
        publish.publish(by_hand.folder(self.folder / 'hydrophone'), self.out)

        self.assertTrue((self.out / 'junit_01.xml').exists())

    def test_a_record_is_neither_replaced_nor_hidden(self):
        """Of Hydrophone's files there may be no others.

        Beside an archive, the copies would be read in its place, and CNCF
        would get them.
        """
        record = by_hand.folder(self.folder / 'hydrophone')
        before = (record / 'junit_01.xml').read_bytes()
        other = self.folder / 'other'
        other.mkdir()
        (other / 'run.json').touch()
        link = self.folder / 'link'
        link.symlink_to(record)
        for given, folder in (
                (record, record), (record, link),
                (f'{record},driver=x', record), (self.archive, self.folder),
                (self.archive, other)):
            error = self.assertRaises(
                errors.UsageError, publish.publish, given, folder)
            self.assertIn('Name another folder', str(error))

        self.assertEqual(before, (record / 'junit_01.xml').read_bytes())
        self.assertFalse((self.folder / 'junit_01.xml').exists())
        self.assertEqual(['run.json'], os.listdir(other))

    def test_a_broken_archive_publishes_nothing(self):
        self.archive.write_bytes(self.archive.read_bytes()[:-20])

        self.assertRaises(damage.Damage, publish.publish, self.archive,
                          self.out)
        self.assertFalse(self.out.exists())

    def test_a_log_with_a_line_of_megabytes(self):
        line = b'x' * (3 << 20)
        self.archive.write_bytes(archives.good(**{
            archives.LOG: line + b'\n' + archives.log(1, 1)}))

        publish.publish(self.archive, self.out)

        self.assertIn(line, (self.out / 'e2e.log').read_bytes())

    def test_a_record_without_one_of_the_files(self):
        """Of an incomplete run, the report is published nevertheless."""
        publish.publish(self.archive, self.out)
        self.archive.write_bytes(archives.good(**{archives.LOG: None}))

        publish.publish(self.archive, self.out)

        self.assertEqual(
            ['junit_01.xml', 'redacted.json', 'report.html', 'report.json'],
            sorted(os.listdir(self.out)))
        self.assertIn('INCOMPLETE', (self.out / 'report.html').read_text())


class CleanTest(testtools.TestCase):

    def test_every_text_of_a_result(self):
        result = by_hand.result(
            by_hand.failed('x', failure='token: abc'),
            problems=('password=hunter2',), facts={'a': 'secret: x1'},
            cluster=model.Cluster(name='https://u:pw@h'))

        found, counts = publish._without_secrets(result)

        self.assertEqual('token: <redacted>', found.specs[0].failure)
        self.assertEqual(('password=<redacted>',), found.problems)
        self.assertEqual('secret: <redacted>', found.facts['a'])
        self.assertEqual('https://u:<redacted>@h', found.cluster.name)
        self.assertEqual(4, sum(counts.values()))


class XmlTest(testtools.TestCase):

    def copy(self, content):
        out = io.BytesIO()
        counts = redactedxml.copy(io.BytesIO(content), out)
        return ElementTree.fromstring(out.getvalue()), counts

    def test_what_is_not_secret_means_the_same(self):
        content = ('<a b="&lt;&quot;&#10;&amp;" c=""><d> x &lt; y\n</d>'
                   'ä&#13;<e/></a>').encode()

        found, counts = self.copy(content)

        self.assertEqual({}, counts)
        self.assertEqual(
            ElementTree.tostring(ElementTree.fromstring(content)),
            ElementTree.tostring(found))

    def test_a_property_is_a_name_and_a_value(self):
        found, counts = self.copy(
            b'<a><property name="OS_PASSWORD" value="hunter2"/></a>')

        self.assertEqual('<redacted>', found[0].get('value'))
        self.assertEqual({'openstack-secret': 1}, counts)
