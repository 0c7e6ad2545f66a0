# SPDX-License-Identifier: Apache-2.0
"""The oldest supported Magnum, with the driver of this project.

It is a checkout, like that of a developer who changes Magnum.
"""

import json
import os
import pathlib
import sys
import tempfile

import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import rest
from tests.functional import boxes

OLDEST = releases.RELEASES[0]
#: Program for the environments' own Python.
PROGRAMS = pathlib.Path(environment.__file__).parent / 'programs'
DRIVER = pathlib.Path(__file__).resolve().parents[3] / 'drivers/k8s_capi_v1'
#: How its API describes itself after the change.
CHANGED = 'Magnum with a patch'

_NEW_MODULES = """
from keystoneauth1 import session
import magnum.cmd, magnum_all
from magnum.common import clients
import sys
magnum_all.import_clients()
known, any_ = set(sys.modules), session.Session()
clients.glanceclient.Client('2', endpoint='http://x', session=any_)
clients.novaclient.Client('2', session=any_)
clients.cinder_client.Client(session=any_)
clients.neutronclient.Client(session=any_)
print(sorted(set(sys.modules) - known))
"""


def checkout(folder):
    """Make one of the oldest Magnum, with a commit, a tag and a change.

    :param folder: where.
    :returns: its path.
    """
    processes.run(
        [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-deps',
         '--no-binary', 'magnum', '--dest', folder,
         f'magnum~={OLDEST.version}.0'], timeout=300)
    archive, = folder.glob('magnum-*.tar.gz')
    # git refuses what root unpacks for the archive's owner.
    processes.run(['tar', '--no-same-owner', '-xzf', archive, '-C', folder],
                  timeout=60)
    top = folder / archive.name.removesuffix('.tar.gz')
    # Otherwise the version would not be that of the tag.
    (top / 'PKG-INFO').unlink()
    date, someone = '2026-01-01T00:00:00Z', {}
    for who in ('AUTHOR', 'COMMITTER'):
        someone |= {f'GIT_{who}_NAME': 'x', f'GIT_{who}_EMAIL': 'x',
                    f'GIT_{who}_DATE': date}
    for words in (('init', '-q'), ('add', '-A'), ('commit', '-q', '-m', 'x'),
                  ('tag', f'{OLDEST.version}.0.99')):
        processes.run(['git', '-C', top, *words], timeout=60,
                      env=os.environ | someone)
    root = top / 'magnum/api/controllers/root.py'
    root.write_text(root.read_text().replace(
        'root.description = (', f'root.description = ({CHANGED!r} '))
    return top


class ServerTest(testtools.TestCase):

    def test_only_a_magnum_that_asks_for_eventlet_is_served_by_it(self):
        for release in (OLDEST, releases.NEWEST):
            python = environment.ensure(
                progress.Progress(), release) / 'bin' / 'python'
            printed = processes.run(
                [python, '-W', 'ignore', '-c', 'import magnum.cmd, magnum_all;'
                 'print(magnum_all.is_green())'], timeout=120,
                env=os.environ | {'PYTHONPATH': str(PROGRAMS)})
            self.assertEqual(str(release == OLDEST), printed.strip(),
                             release.name)

    def test_the_first_request_imports_no_client(self):
        python = environment.ensure(
            progress.Progress(), OLDEST) / 'bin' / 'python'
        printed = processes.run(
            [python, '-W', 'ignore', '-c', _NEW_MODULES], timeout=120,
            env=os.environ | {'PYTHONPATH': str(PROGRAMS)})
        self.assertEqual('[]', printed.strip())


class OldestTest(boxes.TestCase):

    def setUp(self):
        super().setUp()
        self.box_ = self.box()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = checkout(pathlib.Path(folder.name))
        self.assert_done(self.box_.up(
            '--magnum', str(self.source), '--clash', '--discovery-filter'))
        self.sandbox = self.box_.sandbox
        self.user = rest.User(self.sandbox.layout(),
                              self.sandbox.passwords()['demo'])

    def magnum(self, method, path, body=None):
        answer = self.user.request('container-infra', method, path, body)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def wait(self, cluster, status):
        def look():
            answer = self.user.request(
                'container-infra', 'GET', f'clusters/{cluster}')
            return answer.json()['status'] if answer.ok else str(
                answer.status_code)

        waiting.wait_for(
            look, done=lambda seen: seen == status, timeout=300,
            failed=lambda seen: seen if seen.endswith('FAILED') else None,
            what=f'the cluster to be {status}')

    def trustees(self):
        admin = rest.User(self.sandbox.layout(),
                          self.sandbox.passwords()['admin'], 'admin')
        domain, = admin.request(
            'identity', 'GET', 'domains?name=magnum').json()['domains']
        return admin.request(
            'identity', 'GET', f'users?domain_id={domain["id"]}',
        ).json()['users']

    def test_life_of_a_cluster(self):
        answer = self.user.request('container-infra', 'GET', '')
        self.assertEqual('container-infra 1.11', answer.headers[
            'OpenStack-API-Maximum-Version'].replace(
                'container-infrastructure-management', 'container-infra'))
        self.assertIn(CHANGED, self.magnum('GET', '../')['description'])
        seeded = json.loads(
            (self.sandbox.directory / 'seeded.json').read_text())
        body = {
            'name': 't', 'coe': 'kubernetes', 'network_driver': 'calico',
            'image_id': seeded['images']['ubuntu-capi'],
            'external_network_id': seeded['networks']['public'],
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small'}
        # Without the filter, this Magnum stores no driver.
        for name in ('k8s_capi_helm_v1', DRIVER.name):
            template = self.magnum(
                'POST', 'clustertemplates', body | {'driver': name})
            self.assertEqual([name, name], [template['driver'], self.magnum(
                'GET', f'clustertemplates/{template["uuid"]}')['driver']])
        cluster = self.magnum('POST', 'clusters', {
            'name': 'c', 'cluster_template_id': template['uuid'],
            'node_count': 1, 'keypair': 'demo', 'master_count': 1})['uuid']
        self.wait(cluster, 'CREATE_COMPLETE')
        self.assertEqual(1, len(self.trustees()))

        self.magnum('POST', f'clusters/{cluster}/actions/resize',
                    {'node_count': 2})
        self.wait(cluster, 'UPDATE_COMPLETE')
        self.magnum('DELETE', f'clusters/{cluster}')
        self.wait(cluster, '404')

        self.assertEqual([], self.trustees())
        line = self.assert_one_line(2, self.box_.up('--magnum', '2026.2'))
        self.assertIn(
            f'Magnum {OLDEST.name} (magnum-{OLDEST.version}.0.', line)
