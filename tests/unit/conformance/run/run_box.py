# SPDX-License-Identifier: Apache-2.0

"""A cluster that is made up, and runs in it whose programs are played."""

import hashlib
import json
import pathlib
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import kubeconfig
from tests.unit.conformance import archives
from tests.unit import fake_clock
from tests.unit import own_folders

LOG = b'Will run 1 of 2 specs\n'
JUNIT = (b'<testsuites><testsuite><testcase name="[It] a" status="failed" '
         b'time="1"><failure message="no"/></testcase></testsuite>'
         b'</testsuites>')
RUNNING = json.dumps({'status': 'running', 'plugins': []})
NODE = {'metadata': {'name': 'n1'}, 'status': {
    'conditions': [{'type': 'Ready', 'status': 'True'}],
    'allocatable': {'pods': '110', 'cpu': '2', 'memory': '4Gi'}}}
REFUSED = errors.CommandFailed(['sonobuoy'], 1, 'forbidden')

#: An archive with one spec, which failed; a real one takes longer.
ARCHIVE = archives.by_library({archives.LOG: LOG, archives.JUNIT: JUNIT})
COMPLETE = json.dumps({'status': 'complete', 'plugins': [], 'tar-info': {
    'name': 'x.tar.gz', 'size': len(ARCHIVE),
    'sha256': hashlib.sha256(ARCHIVE).hexdigest()}})


class Box(fixtures.Fixture):
    """A cluster, and the programs that act on it.

    ``said``: what each call of "sonobuoy status" prints or raises; the last
    one again and again. ``fails``: verb -> what it raises; "create" is that
    of the namespace. ``called``: the verbs that were called.
    """

    def _setUp(self):
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.said, self.fails, self.called = [RUNNING], {}, []
        self.lists = {'nodes': [NODE], 'pods': [], 'namespaces': [],
                      'events': []}
        self.maps, self.log = {}, None
        self.kubeconfig = self.base / 'kubeconfig'
        self.kubeconfig.write_text(yaml.safe_dump(
            kubeconfig.document('https://192.0.2.1', 'CA', None, None)))
        for owner, name, fake in ((processes, 'run', self.call),
                                  (kube, 'Client', self.reader)):
            self.useFixture(fixtures.MockPatchObject(owner, name, fake))
        self.runtime = lifecycle.Runtime(
            progress=progress.Silent(), clock=fake_clock.FakeClock(),
            ensure=lambda names, _: {n: f'/{n}' for n in names})

    def reader(self, *args):
        reader = mock.Mock()
        reader.get.side_effect = self.get
        reader.create.side_effect = self.create
        reader.items.side_effect = self.items
        reader.text.side_effect = self.read_log
        return reader

    def read_log(self, *args, **kwargs):
        if self.log is None:
            raise kube.KubeError('no log', status=400)
        return self.log

    def items(self, path, **query):
        _, spaced, rest = path.partition('/namespaces/')
        name = rest.partition('/')[0]
        kind = path.rpartition('/')[2]
        if kind not in self.lists:
            raise kube.KubeError(f'no {kind}', status=404)
        return [obj for obj in self.lists[kind]
                if not spaced or obj['metadata'].get(
                    'namespace', name) == name]

    def get(self, path):
        if path == '/version':
            return {'gitVersion': 'v1.34.9'}
        if path in self.maps:
            if isinstance(self.maps[path], Exception):
                raise self.maps[path]
            return self.maps[path]
        for space in self.lists['namespaces']:
            if path == f'/api/v1/namespaces/{space["metadata"]["name"]}':
                return space
        return None

    def create(self, path, obj):
        if 'create' in self.fails:
            raise self.fails['create']
        self.lists['namespaces'].append(obj)

    def plain_run(self, focus='\\[Conformance\\]', name='sonobuoy',
                  timeout=7200):
        """What "sonobuoy run" leaves in a namespace."""
        self.lists['namespaces'].append({'metadata': {
            'name': name, 'uid': f'uid-{name}',
            'creationTimestamp': '2026-11-23T10:00:00Z'}})
        self.lists['pods'].append({
            'metadata': {'name': 'sonobuoy', 'namespace': name, 'labels': {
                'sonobuoy-component': 'aggregator'}},
            'status': {'phase': 'Running', 'containerStatuses': [
                {'name': 'kube-sonobuoy', 'containerID': 'containerd://1'}]}})
        self.maps[f'/api/v1/namespaces/{name}/configmaps/'
                  'sonobuoy-plugins-cm'] = {'data': {'p.yaml': json.dumps({
                      'sonobuoy-config': {'plugin-name': 'e2e'},
                      'spec': {'env': [{'name': 'E2E_FOCUS',
                                        'value': focus}]}})}}
        self.maps[f'/api/v1/namespaces/{name}/configmaps/'
                  'sonobuoy-config-cm'] = {'data': {
                      'config.json': json.dumps({
                          'Server': {'timeoutseconds': timeout}})}}

    def replace_namespace(self, name):
        """Somebody else makes one in the place of the run's."""
        self.lists['namespaces'] = [{'metadata': {'name': name}}]

    def call(self, argv, **kwargs):
        verb = argv[1] if argv[0] == '/sonobuoy' else argv[0]
        self.called.append(verb)
        if verb in self.fails:
            raise self.fails[verb]
        if verb == 'delete' or verb == '/hydrophone':
            self.lists['namespaces'] = [
                space for space in self.lists['namespaces']
                if space['metadata']['name'] not in argv]
        if verb == 'retrieve':
            pathlib.Path(argv[6], argv[8]).write_bytes(ARCHIVE)
        if verb == '/hydrophone' and '--output-dir' in argv:
            folder = pathlib.Path(argv[argv.index('--output-dir') + 1])
            (folder / 'e2e.log').write_bytes(LOG)
            (folder / 'junit_01.xml').write_bytes(JUNIT.replace(
                b'failed', b'passed').replace(b'<failure message="no"/>', b''))
        if verb == 'logs':
            return self.log or ''
        if verb == 'status':
            said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
            if isinstance(said, BaseException):
                raise said
            return said
        return ''

    def request(self, **kwargs):
        return lifecycle.RunRequest(**{
            'target': runs.Target(kubeconfig=str(self.kubeconfig)),
            'plan': runner.Plan(mode=model.QUICK), 'name': 'r',
            'results': self.base / 'results', **kwargs})

    def run(self, **kwargs):
        return lifecycle.run(self.request(**kwargs), self.runtime)

    @property
    def stage(self):
        return self.runtime.store.load('r').stage


class TestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.box = self.useFixture(Box())
