# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver charts`` next to a conductor, with the real helm.

Two clusters of a sandbox, charts in a repository: the preview matches what the
command then does, and only the named cluster changes.
"""

import json
import pathlib
import subprocess

from magnum_capi.driver.desired import names
from magnum_capi.kube import access
from magnum_capi.kube import kube
from magnum_capi.kube import rest as kube_rest
from magnum_capi import waiting
from magnum_capi_tempest.sandbox import rest
from magnum_capi_tempest import toolchain
from tests.functional import boxes
from tests.functional import chart_repository

#: Neither the default port base nor that of other tests.
PORT_BASE = 30000

_DRIVER = pathlib.Path(boxes.__file__).parents[2] / 'drivers/k8s_capi_v1'

_FILE = '''
    files:
      - path: /etc/motd
        content: Welcome
'''


def _add_file(chart):
    path = chart / 'templates/control-plane.yaml'
    text, spec = path.read_text(), '  kubeadmConfigSpec:'
    if text.count(f'{spec}\n') != 1:
        raise AssertionError(f'{path} has changed')
    path.write_text(text.replace(f'{spec}\n', spec + _FILE))


#: Versions of the chart, each with its change.
CHARTS = {'0.1.0': None, '0.2.0': None, '0.3.0': _add_file}


class Base(boxes.TestCase):
    """A sandbox with this driver and magnum-capi-helm."""

    def up(self, *arguments):
        self.assert_done(self.one.up('--install', str(_DRIVER), *arguments))
        self.layout = self.one.sandbox.layout()
        self.user = rest.User(self.layout,
                              self.one.sandbox.passwords()['demo'])
        self.kube = kube.Kube(kube_rest.Rest(access.load(
            self.layout.kubeconfig)))

    def post(self, path, **body):
        answer = self.user.request('container-infra', 'POST', path, body)
        self.assertIn(answer.status_code, (201, 202), answer.text)
        return answer.json()['uuid']

    def status(self, uuid):
        answer = self.user.request('container-infra', 'GET',
                                   f'clusters/{uuid}')
        # A busy machine may answer with an error; a lasting one ends up in
        # the timeout message.
        return answer.json()['status'] if answer.ok else answer.text

    def wait_for(self, wanted, *uuids):
        waiting.wait_for(
            lambda: {self.status(uuid) for uuid in uuids},
            done=lambda found: found == {wanted},
            timeout=300, what=f'the clusters to be {wanted}')

    def template(self, image='ubuntu-capi', driver='k8s_capi_v1'):
        seeded = json.loads((self.one.directory / 'seeded.json').read_text())
        return self.post(
            'clustertemplates', driver=driver, coe='kubernetes',
            network_driver='calico', flavor_id='m1.small',
            master_flavor_id='m1.small', image_id=seeded['images'][image],
            external_network_id=seeded['networks']['public'])

    def clusters(self, template, *names):
        """Uuids of new clusters with one worker each."""
        found = [self.post('clusters', name=name, node_count=1,
                           master_count=1, cluster_template_id=template)
                 for name in names]
        self.wait_for('CREATE_COMPLETE', *found)
        return found

    def command(self, *arguments, code=0):
        """Output of the command in Magnum's environment."""
        file, folder = self.layout.magnum_conf
        files = [file, *sorted(folder.glob('*.conf'))]
        helm = toolchain.ensure(['helm'])['helm']
        done = subprocess.run(
            [self.layout.magnum_env / 'bin' / 'python', '-m',
             'magnum_capi.cli.main', 'driver', *arguments,
             *(word for path in files for word in ('--config-file', path))],
            env=self.one.env | {'PATH': f'{helm.parent}:/usr/bin:/bin'},
            capture_output=True, text=True, timeout=600, check=False)
        ended = boxes.Ended(done.returncode, done.stdout, done.stderr)
        self.assert_done(ended, code)
        return ended.out

    def machines(self, release):
        """Their uids."""
        return {one['metadata']['uid'] for namespace in self.kube.list(
            'Namespace', None) for one in self.kube.list(
                'Machine', namespace['metadata']['name'],
                {'cluster.x-k8s.io/cluster-name': release})}


class ChartsTest(Base):

    def setUp(self):
        super().setUp()
        url = self.useFixture(
            chart_repository.ChartRepository(CHARTS)).url
        self.one = self.box(port_base=PORT_BASE)
        conf = self.one.base / 'charts.conf'
        conf.write_text(
            f'[k8s_capi]\nchart_repository = {url}\n'
            'chart_name = sandbox-cluster\nchart_version = 0.1.0\n'
            f'allowed_chart_versions = {", ".join(CHARTS)}\n')
        self.up('--magnum-conf', str(conf))

    def configure(self, **options):
        self.assert_done(self.one.call('set', *(
            f'k8s_capi.{key}={value}' for key, value in options.items())))

    def charts(self, *arguments, code=0):
        return self.command('charts', *arguments, code=code)

    def versions(self):
        return {one['Name']: (one['Version'], one['Behind'])
                for one in json.loads(self.charts('-f', 'json'))}

    def uids(self, *uuids):
        return {uuid: self.machines(names.cluster(uuid)) for uuid in uuids}

    def test_one_is_moved_and_the_other_one_not(self):
        alpha, beta = self.clusters(self.template(), 'alpha', 'beta')
        before = self.uids(alpha, beta)
        self.assertEqual([2, 2], list(map(len, before.values())))
        old = ('0.1.0', 'no')
        self.assertEqual({'alpha': old, 'beta': old}, self.versions())

        self.configure(chart_version='0.2.0')
        old = ('0.1.0', 'chart')
        self.assertEqual({'alpha': old, 'beta': old}, self.versions())
        told = self.charts('move', '--all')
        self.assertEqual(4, told.count(': nodes stay\n'), told)
        self.assertEqual(2, told.count(
            '# Objects in which only the label helm.sh/chart differs: '), told)
        self.assertEqual({'alpha': old, 'beta': old}, self.versions())

        self.charts('move', alpha, '--apply', '--wait', '5')
        self.assertEqual({'alpha': ('0.2.0', 'no'), 'beta': old},
                         self.versions())
        self.assertEqual('UPDATE_COMPLETE', self.status(alpha))
        self.assertEqual(before, self.uids(alpha, beta))

        told = self.charts('move', alpha, '--to', '0.3.0', '--apply',
                           '--wait', '5')
        self.assertIn('control plane: nodes are REPLACED '
                      '(kubeadmConfigSpec.files)\n', told)
        self.assertIn('node group default-worker: nodes stay\n', told)
        self.assertIn('\n+      content: Welcome\n', told)
        after = self.uids(alpha)[alpha]
        # Its worker was kept.
        self.assertEqual((2, 1), (len(after), len(after & before[alpha])))
        self.assertEqual(before[beta], self.uids(beta)[beta])
        self.assertEqual({'alpha': ('0.3.0', 'chart'), 'beta': old},
                         self.versions())

        told = self.charts('move', '--all', '--to', '0.9.9', '--apply',
                           code=2)
        self.assertEqual('', told)
        self.assertEqual('CREATE_COMPLETE', self.status(beta))
