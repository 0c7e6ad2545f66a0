# SPDX-License-Identifier: Apache-2.0

from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.services import journal
from tests.unit.services import scripted_magnum

ID = 'req-0f8fad5b-d9cb-469f-a165-70867728950e'
CLUSTER = '8d7c2c55-2a8c-4a5e-9a1a-4d3bd8c8c1de'
OTHER = 'b5b1c6a0-9a5e-4b51-8f0c-0d3a1d3e4f5a'


class JournalTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.now = 100.0
        self.journal = journal.Journal(lambda: self.now)

    def add(self, method='POST', url='/v1/clusters', status=202, ident=ID,
            **kwargs):
        self.journal.add(method, url, status, {journal.HEADER: ident},
                         **kwargs)

    def selected(self, *uuids, since=1000):
        return [str(s) for s in self.journal.select(uuids, since)]

    def test_a_request_reads_as_one_line(self):
        self.add()

        self.assertEqual([f'00:01:40 POST /v1/clusters 202 {ID}'],
                         self.selected(since=0))

    def test_good_looks_are_not_remembered_and_refused_ones_are(self):
        self.add('GET', status=200)
        self.add('GET', status=404)

        self.assertEqual([f'00:01:40 GET /v1/clusters 404 {ID}'],
                         self.selected(since=0))

    def test_what_is_no_id_never_gets_into_a_command_line(self):
        for ident in ('', 'req-1; reboot', '--since', None):
            self.add(ident=ident)

        self.assertEqual([], self.selected(since=0))

    def test_older_requests_are_found_by_a_cluster_in_any_part(self):
        self.add('DELETE', f'/v1/clusters/{CLUSTER}', 204)
        self.add(made=b'{"uuid": "%s"}' % CLUSTER.encode())
        self.add(url='/v1/certificates', sent=f'{{"c": "{CLUSTER}"}}')
        self.add(url=f'/v1/clusters/{OTHER}')

        self.assertEqual(3, len(self.selected(CLUSTER)))

    def test_requests_of_this_test_count_whatever_they_are_about(self):
        self.add(url='/old')
        self.now = 200.0
        self.add(url='/new')

        self.assertEqual([f'00:03:20 POST /new 202 {ID}'],
                         self.selected(since=150))

    def test_the_latest_are_kept(self):
        for number in range(journal.MOST + 1):
            self.add(url=f'/{number}')

        kept = self.journal.select((), 0)

        self.assertEqual(('/1', journal.MOST), (kept[0].url, len(kept)))


class ClientTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.magnum = self.useFixture(scripted_magnum.ScriptedMagnum())
        self.magnum.headers[journal.HEADER] = ID
        self.client = self.magnum.client('ClustersClient')
        self.client.journal = journal.Journal()

    def test_a_refusal_is_written_down_too(self):
        self.magnum.answers = [(409, {})]

        self.assertRaises(lib_exc.Conflict, self.client.delete_cluster,
                          CLUSTER)

        sent, = self.client.journal.select([CLUSTER], float('inf'))
        self.assertEqual(409, sent.status)
