# SPDX-License-Identifier: Apache-2.0

import io
import os
import types

import fixtures
from stestr import subunit_trace
# stestr uses it without importing it.
from subunit import test_results  # noqa: F401
from subunit import v2
import testtools
from testtools import content
from testtools import content_type

from magnum_capi_tempest.evidence import events
from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.services import journal
from magnum_capi_tempest.tests.common import details
from tests.unit.services import scripted_magnum

UUID = '0f8fad5b-d9cb-469f-a165-70867728950e'
REQUEST = 'req-8d7c2c55-2a8c-4a5e-9a1a-4d3bd8c8c1de'
CONDITIONS = f'Cluster API conditions of {UUID}'


class TextTest(testtools.TestCase):

    def test_secrets_go(self):
        shown = details.text({'labels': {'password': 'hunter2'}}).as_text()

        self.assertNotIn('hunter2', shown)
        self.assertIn('password', shown)

    def test_a_long_one_is_cut_and_says_so(self):
        shown = details.shown('a' * (details.MOST + 5))

        self.assertTrue(shown.endswith('and 5 more characters'))


class DivideTest(testtools.TestCase):

    class Long(testtools.TestCase):
        """Fails with more than a packet of subunit holds."""

        def setUp(self):
            self.addCleanup(lambda: details.prepare(self.getDetails()))
            super().setUp()

        def test_it(self):
            self.addDetail('log', content.text_content('ö' * (3 << 20)))
            self.fail('long')

    def test_a_long_detail_goes_through_a_stream(self):
        stream, seen = io.BytesIO(), []
        result = testtools.ExtendedToStreamDecorator(
            v2.StreamResultToBytes(stream))
        result.startTestRun()

        self.Long('test_it').run(result)

        result.stopTestRun()
        target = testtools.StreamToDict(seen.append)
        target.startTestRun()
        v2.ByteStreamToStreamResult(io.BytesIO(stream.getvalue())).run(target)
        ended, = seen
        self.assertEqual('fail', ended['status'])
        self.assertEqual('ö' * (3 << 20), ended['details']['log'].as_text())
        self.assertIn('long', ended['details']['traceback'].as_text())


class FiledTest(testtools.TestCase):
    """What ``tempest run`` prints of a test whose evidence is in files."""

    class Verbose(testtools.TestCase):

        def setUp(self):
            self.addCleanup(lambda: details.prepare(
                self.getDetails(), self.write, {'cluster of c'}))
            super().setUp()

        def test_it(self):
            for name in 'cluster of c', "pythonlogging:''":
                self.addDetail(name, content.text_content(
                    '\n'.join(f'{name} {n}' for n in range(1000))))
            self.fail('Timed out waiting for cluster c')

    def test_the_details_are_in_the_record_and_in_files_only(self):
        stream, files = io.BytesIO(), {}
        said = io.TextIOWrapper(io.BytesIO(), write_through=True)
        result = testtools.ExtendedToStreamDecorator(
            v2.StreamResultToBytes(stream))
        result.startTestRun()
        test = self.Verbose('test_it')
        test.write = files.__setitem__
        test.run(result)
        result.stopTestRun()

        subunit_trace.trace(io.BytesIO(stream.getvalue()), said,
                            post_fails=True)

        said = said.buffer.getvalue().decode()
        self.assertIn('Timed out waiting for cluster c', said)
        self.assertLess(len(said.splitlines()), 60)
        path = self.useFixture(fixtures.TempDir()).join('run.subunit')
        with open(path, 'wb') as f:
            f.write(stream.getvalue())
        recorded, = subunit.read(path, title='t').tests
        texts = {detail.name: detail.text for detail in recorded.details}
        for name in 'cluster of c', 'pythonlogging':
            self.assertIn(' 999', texts[name])
        self.assertIn("pythonlogging:'' 999", files["pythonlogging:''"])
        self.assertNotIn('cluster of c', files)


class DivideSecretsTest(testtools.TestCase):

    class Secret(testtools.TestCase):
        """Fails with what Tempest's fixtures log."""

        def setUp(self):
            self.addCleanup(lambda: details.prepare(self.getDetails()))
            super().setUp()

        def test_it(self):
            self.addDetail('log', content.Content(
                content.UTF8_TEXT, lambda: [b'password: hun', b'ter2\nx\n']))
            self.addDetail('picture', content.Content(
                content_type.ContentType('image', 'png'),
                lambda: [b'\x89P', b'NG']))
            raise ValueError("{'token': 'hunter2'}")

    def test_secrets_of_all_details_go(self):
        test = self.Secret('test_it')

        test.run(testtools.TestResult())

        found = test.getDetails()
        self.assertEqual('password: <redacted>\nx\n',
                         found['log'].as_text())
        self.assertIn("{'token': '<redacted>'}",
                      found['traceback'].as_text())
        self.assertEqual(b'\x89PNG', b''.join(found['picture'].iter_bytes()))


class Management:
    """A management cluster that has something to say of any cluster."""

    def conditions(self, stack_id):
        return [f'{stack_id} is bad']

    def events(self, stack_id, most=50):
        return [events.Event('1', 'Machine', stack_id, 'Warning', 'Failed',
                             'no host')]

    def releases(self, stack_id):
        return {stack_id: [helm.Revision(1, 'failed', '2', 'c 1', 'timeout')]}


class CollectTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.server = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.server.answers = [
            (200, {'uuid': UUID, 'stack_id': 'sta-1'}),
            (200, {'nodegroups': [{'uuid': 'g'}]}),
            (200, {'uuid': 'g', 'status': 'CREATE_FAILED'})]
        self.magnum = types.SimpleNamespace(
            clusters=self.server.client('ClustersClient'),
            nodegroups=self.server.client('NodegroupsClient'),
            certificates=self.server.client('CertificatesClient'),
            journal=journal.Journal(), stacks={})

    def collect(self, management=None, clusters=(UUID,), seconds=20,
                **options):
        return details.collect(
            details.Sources(self.magnum, management, **options),
            list(clusters), seconds)

    def test_cluster_and_node_groups(self):
        self.assertEqual(
            {f'cluster of {UUID}': {'uuid': UUID, 'stack_id': 'sta-1'},
             'requests': 'none',
             f'node groups of {UUID}': [
                 {'uuid': 'g', 'status': 'CREATE_FAILED'}]},
            self.collect())

    def test_what_the_management_cluster_says(self):
        found = self.collect(Management())

        self.assertEqual('sta-1 is bad', found[CONDITIONS])
        self.assertEqual('1 Warning Machine sta-1 Failed: no host',
                         found[f'Cluster API events of {UUID}'])
        self.assertEqual('sta-1:\n  1: failed, 2, c 1: timeout',
                         found[f'Helm history of {UUID}'])

    def test_a_cluster_that_is_gone_is_looked_for_behind_magnum(self):
        self.server.answers = [(404, {})]
        self.magnum.stacks[UUID] = 'sta-1'

        found = self.collect(Management())

        self.assertIn('NotFound', found[f'cluster of {UUID}'])
        self.assertEqual('sta-1 is bad', found[CONDITIONS])

    def test_logs_of_requests_clusters_and_users(self):
        folder = self.useFixture(fixtures.TempDir()).path
        with open(os.path.join(folder, 'magnum.log'), 'w') as file:
            for word in (REQUEST, UUID, 'user-1', 'stranger'):
                file.write(f'INFO [{word}] password=hunter2\n')
        self.magnum.journal.add(
            'DELETE', f'/v1/clusters/{UUID}', 204, {journal.HEADER: REQUEST})

        found = self.collect(log_files=[f'{folder}/*.log'],
                             users=['user-1'])

        self.assertIn(REQUEST, found['requests'])
        log = details.shown(found['Magnum logs'])
        for word in (REQUEST, UUID, 'user-1'):
            self.assertIn(word, log)
        self.assertNotIn('stranger', log)
        self.assertNotIn('hunter2', log)

    def test_a_log_command(self):
        found = self.collect(log_command=f'echo {UUID} since {{since}}')

        self.assertRegex(found['Magnum logs, by command'],
                         rf'{UUID} since @\d+')

    def test_a_source_that_hangs_is_named(self):
        found = self.collect(log_command='sleep 30', seconds=1)

        self.assertIn('not available', found['Magnum logs, by command'])
        self.assertIn(f'node groups of {UUID}', found)

    def test_a_workload_that_cannot_be_reached(self):
        self.server.answers = [
            (200, {'uuid': UUID, 'api_address': 'https://127.0.0.1:1'}),
            (500, {})]

        found = self.collect(workload_api=True)

        self.assertIn('not available', found[f'nodes and pods of {UUID}'])

    def test_of_many_clusters_the_latest_are_asked_for(self):
        self.server.answers = [(404, {})]
        uuids = [f'{UUID[:-1]}{n}' for n in range(details.CLUSTERS + 2)]

        found = self.collect(clusters=uuids)

        self.assertEqual('\n'.join(uuids[:2]),
                         found['clusters not asked for'])
        self.assertIn(f'cluster of {uuids[-1]}', found)

    def test_no_cluster(self):
        self.assertEqual({'requests': 'none'}, self.collect(clusters=()))
