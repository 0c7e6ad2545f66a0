# SPDX-License-Identifier: Apache-2.0

"""A cluster that is made up, and runs in it whose programs are played."""

import hashlib
import json
import pathlib
import re
from unittest import mock

import fixtures
import testtools
import yaml

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import elsewhere
from magnum_capi_tempest.conformance.run import hydrophone
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
PASSED = JUNIT.replace(b'failed', b'passed').replace(
    b'<failure message="no"/>', b'')
AGGREGATOR = {
    'metadata': {'name': 'sonobuoy', 'namespace': 'sonobuoy', 'labels': {
        'sonobuoy-component': 'aggregator'}},
    'spec': {'containers': [{'name': 'kube-sonobuoy'}]},
    'status': {'phase': 'Running', 'containerStatuses': [
        {'name': 'kube-sonobuoy', 'containerID': 'containerd://1'}]}}
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
    of the namespace. ``called``: the verbs that were called; those of
    Hydrophone are "begin", "--continue" and "--cleanup". ``files``: content of
    those that it fetches.
    """

    def _setUp(self):
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.said, self.fails, self.called = [RUNNING], {}, []
        self.lists = {'nodes': [NODE], 'pods': [], 'namespaces': [],
                      'events': []}
        self.maps, self.log, self.created = {}, None, None
        self.files = {'e2e.log': LOG, 'junit_01.xml': PASSED}
        self.kubeconfig = self.base / 'kubeconfig'
        self.kubeconfig.write_text(yaml.safe_dump(
            kubeconfig.document('https://192.0.2.1', 'CA', None, None)))
        for owner, name, fake in ((processes, 'run', self.call),
                                  (hydrophone, '_call', self.hydrophone),
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
        reader.delete.side_effect = self.delete
        return reader

    def delete(self, path):
        name = path.rpartition('/')[2]
        self.lists['namespaces'] = [
            space for space in self.lists['namespaces']
            if space['metadata']['name'] != name]

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
        runs = re.fullmatch(r'e2e-run in \((.*)\)',
                            query.get('labelSelector') or '')
        return [obj for obj in self.lists[kind]
                if (not spaced or obj['metadata'].get(
                    'namespace', name) == name)
                and (not runs or (obj['metadata'].get('labels') or {}).get(
                    'e2e-run') in runs.group(1).split(','))]

    def get(self, path):
        if path == '/version':
            return {'gitVersion': 'v1.34.9'}
        if path.endswith(f'/pods/{hydrophone.POD}'):
            return next((p for p in self.lists['pods']
                         if p['metadata']['name'] == hydrophone.POD), None)
        if path in self.maps:
            if isinstance(self.maps[path], Exception):
                raise self.maps[path]
            return self.maps[path]
        for space in self.lists['namespaces']:
            if path == f'/api/v1/namespaces/{space["metadata"]["name"]}':
                return space
        return None

    @property
    def marked(self):
        """Metadata of the namespace that was created."""
        return self.created or {}

    def create(self, path, obj):
        if 'create' in self.fails:
            raise self.fails['create']
        obj['metadata']['uid'] = f'uid-{len(self.called)}'
        self.lists['namespaces'].append(obj)
        self.created = obj['metadata']

    def plain_run(self, name='sonobuoy'):
        """What "sonobuoy run" leaves in a namespace."""
        self.lists['namespaces'].append({'metadata': {
            'name': name, 'uid': f'uid-{name}',
            'creationTimestamp': '2026-11-23T10:00:00Z'}})
        self.lists['pods'].append({**AGGREGATOR, 'metadata': {
            **AGGREGATOR['metadata'], 'namespace': name}})

    def plain_hydrophone(self, name='conformance'):
        """What Hydrophone leaves in a namespace when the tests have ended."""
        self.lists['namespaces'].append({'metadata': {
            'name': name, 'uid': f'uid-{name}',
            'creationTimestamp': '2026-11-23T10:00:00Z'}})
        self.lists['pods'].append({
            'metadata': {'name': hydrophone.POD, 'namespace': name},
            'status': {'phase': 'Running', 'containerStatuses': [
                {'name': 'conformance-container', 'containerID': 'x://1',
                 'state': {'terminated': {'exitCode': 1}}}]}})

    def replace_namespace(self, name):
        """Somebody else makes one in the place of the run's."""
        self.lists['namespaces'] = [{'metadata': {'name': name}}]

    def call(self, argv, **kwargs):
        verb = argv[1] if argv[0] == '/sonobuoy' else argv[-1]
        self.called.append(verb)
        if verb in self.fails:
            raise self.fails[verb]
        if verb == 'run':
            self.lists['pods'].append(AGGREGATOR)
        if verb == 'delete':
            self.remove(argv)
        if verb == 'retrieve':
            pathlib.Path(argv[6], argv[8]).write_bytes(ARCHIVE)
        if verb == 'status':
            said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
            if isinstance(said, BaseException):
                raise said
            return said
        return ''

    def hydrophone(self, argv, timeout, done=None):
        verb = argv[-1] if argv[-1] == '--continue' else 'begin'
        self.called.append(verb)
        if verb in self.fails:
            raise self.fails[verb]
        if verb == 'begin':
            name = argv[argv.index('--namespace') + 1]
            self.lists['namespaces'] = [
                s for s in self.lists['namespaces']
                if s['metadata']['name'] != name] or []
            self.plain_hydrophone(name)
            self.lists['namespaces'][-1]['metadata'].update(self.marked)
            return -9, ''
        folder = pathlib.Path(argv[argv.index('--output-dir') + 1])
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        if len(self.files) == 2:
            self.remove(argv)
        return 1, '10:00:00 INF Created\nno such pod'

    def remove(self, argv):
        for kind in 'namespaces', 'pods':
            self.lists[kind] = [
                obj for obj in self.lists[kind]
                if obj['metadata'].get('namespace', obj['metadata']['name'])
                not in argv]

    @property
    def folder(self):
        return self.base / 'r'

    def request(self, **kwargs):
        return lifecycle.RunRequest(**{
            'target': runs.Target(kubeconfig=str(self.kubeconfig)),
            'plan': runner.Plan(mode=model.QUICK), 'folder': self.folder,
            **kwargs})

    def elsewhere(self, **kwargs):
        return elsewhere.Elsewhere(
            runs.Target(kubeconfig=str(self.kubeconfig)),
            **{'folder': self.folder, **kwargs})

    def run(self, **kwargs):
        return lifecycle.run(self.request(**kwargs), self.runtime)

    @property
    def stage(self):
        return runs.load(self.folder).stage


class TestCase(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.box = self.useFixture(Box())
