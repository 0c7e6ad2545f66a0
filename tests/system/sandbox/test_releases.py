# SPDX-License-Identifier: Apache-2.0
"""The oldest supported Magnum, with the driver of this project.

It is a checkout, like that of a developer who changes Magnum.
"""

import os
import pathlib
import sys
import tempfile

import testtools

from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import rest
from tests.functional import boxes
from tests.functional import cloud

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
        self.user = cloud.Cloud(self.sandbox)

    def trustees(self):
        admin = rest.User(self.sandbox.layout(),
                          self.sandbox.passwords()['admin'], 'admin')
        domain, = admin.request(
            'identity', 'GET', 'domains?name=magnum').json()['domains']
        return admin.request(
            'identity', 'GET', f'users?domain_id={domain["id"]}',
        ).json()['users']

    def test_life_of_a_cluster(self):
        answer = self.user.magnum('GET', '')
        self.assertEqual('container-infra 1.11', answer.headers[
            'OpenStack-API-Maximum-Version'].replace(
                'container-infrastructure-management', 'container-infra'))
        ask = self.user.ask
        self.assertIn(CHANGED, ask('GET', '../')['description'])
        # Without the filter, this Magnum stores no driver.
        for name in ('k8s_capi_helm_v1', DRIVER.name):
            template = ask('POST', 'clustertemplates',
                           self.user.template_body(driver=name))
            self.assertEqual([name, name], [template['driver'], ask(
                'GET', f'clustertemplates/{template["uuid"]}')['driver']])
        cluster = self.user.create(
            'c', cluster_template_id=template['uuid'])
        self.user.wait_created(cluster)
        self.assertEqual(1, len(self.trustees()))

        self.user.resize(cluster, 2)()
        self.user.delete(cluster)

        self.assertEqual([], self.trustees())
        line = self.assert_one_line(2, self.box_.up('--magnum', '2026.2'))
        self.assertIn(f'magnum-{OLDEST.version}.0.', line)
        self.assertIn('not 2026.2', line)
