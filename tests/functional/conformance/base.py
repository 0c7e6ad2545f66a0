# SPDX-License-Identifier: Apache-2.0


"""Base of tests of conformance runs against a scripted cluster."""

import hashlib
import io
import pathlib
import tarfile

import fixtures
import testtools

from magnum_capi import waiting
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest import toolchain
from tests.functional.conformance import scripted_cluster as scripted
from tests.functional import recorder

DATA = pathlib.Path(__file__).parents[2] / 'data' / 'sonobuoy'
QUICK = DATA / 'quick-e2e-v1.34.9.tar.gz'
FAILED = DATA / 'one-failed-v1.34.9.tar.gz'
NO_ARCHIVE = {'name': '', 'created': '0001-01-01T00:00:00Z', 'sha256': '',
              'size': 0}
TESTS = {'metadata': {'name': 'e2e-job', 'namespace': 'sonobuoy',
                      'labels': {'sonobuoy-plugin': 'e2e'}},
         'spec': {'nodeName': 'n1'}, 'status': {'phase': 'Running'}}


def running(status='running'):
    plugin = {'plugin': 'e2e', 'node': 'global', 'status': 'running',
              'result-status': '', 'result-counts': None,
              'progress': {'name': 'e2e', 'node': 'global', 'total': 1,
                           'timestamp': '2026-11-21T09:24:31Z',
                           'msg': 'Starting', 'completed': 0}}
    return {'plugins': [plugin], 'status': status, 'tar-info': NO_ARCHIVE}


def complete(archive, **tar_info):
    content = archive.read_bytes()
    return {**running('complete'), 'tar-info': {
        'name': archive.name, 'created': '2026-11-21T09:24:51Z',
        'sha256': hashlib.sha256(content).hexdigest(),
        'size': len(content), **tar_info}}


class BaseTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.useFixture(fixtures.EnvironmentVariable(
            'MAGNUM_CAPI_STATE', str(self.base / 'state')))
        self.progress = recorder.Recorder()
        self.runtime = lifecycle.Runtime(
            progress=self.progress, pace=waiting.Pace(0.1, 1, 0.1))

    def cluster(self, *statuses, running=False, execs=(), **parts):
        cluster = self.useFixture(scripted.ScriptedCluster(running=running))
        cluster.statuses = list(statuses)
        cluster.execs = list(execs)
        for name, value in parts.items():
            setattr(cluster, name, value)
        return cluster

    def sent(self, archive, **kwargs):
        """The output of "sonobuoy splat" in an exec, for an archive."""
        path = self.base / f'{archive.name}.splat'
        with tarfile.open(path, 'w:gz') as tar:
            content = archive.read_bytes()
            member = tarfile.TarInfo(archive.name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        return scripted.Exec(str(path), **kwargs)

    def request(self, cluster, **kwargs):
        return lifecycle.RunRequest(**{
            'target': runs.Target(kubeconfig=str(cluster.kubeconfig)),
            'plan': runner.Plan(mode=model.QUICK),
            'folder': self.base / 'r1', **kwargs})

    @property
    def record(self):
        return runs.load(self.base / 'r1')

    def program(self, cluster):
        path = toolchain.ensure(['sonobuoy'], self.progress)['sonobuoy']
        return sonobuoy.Sonobuoy(runner.Plan(), str(path),
                                 str(cluster.kubeconfig))
