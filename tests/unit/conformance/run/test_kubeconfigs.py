# SPDX-License-Identifier: Apache-2.0


import os
import signal
import sys
from unittest import mock

import fixtures
from keystoneauth1 import exceptions
import testtools
import yaml

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.management import pki
from tests.unit.discovery import test_cloud
from tests.unit import own_folders

CLUSTER = {'uuid': 'u1', 'name': 'c1', 'api_address': 'https://192.0.2.1',
           'cluster_template_id': 't1', 'status': 'CREATE_COMPLETE'}
TEMPLATE = {'driver': 'k8s_capi_v1', 'network_driver': 'calico',
            'image_id': 'ubuntu'}


class Magnum:
    """Its REST API, as far as it is asked."""

    def __init__(self, **answers):
        self.asked = []
        self.answers = {
            'GET /clusters/c1': CLUSTER, 'GET /certificates/u1': {
                'pem': 'CA'}, 'POST /certificates': {'pem': 'CERT'},
            'GET /clustertemplates/t1': TEMPLATE, **answers}

    def connect(self, cloud):
        self.cloud = cloud
        return mock.Mock(container_infrastructure_management=self)

    def request(self, path, method, **kwargs):
        self.asked.append((f'{method} {path}', kwargs.get('json')))
        answer = self.answers[f'{method} {path}']
        if isinstance(answer, Exception):
            raise answer
        return mock.Mock(json=mock.Mock(return_value=answer))


class TestAccess(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.base = self.useFixture(own_folders.OwnFolders()).base
        self.private = self.base / 'tmp'
        self.private.mkdir()
        self.useFixture(fixtures.MonkeyPatch('tempfile.tempdir',
                                             str(self.private)))

    def access(self, magnum, cluster='c1'):
        return kubeconfigs.access(runs.Target(cluster, 'cloud'),
                                  magnum.connect)

    def refused(self, kind, magnum):
        with testtools.ExpectedException(kind):
            with self.access(magnum):
                pass
        self.assertEqual([], os.listdir(self.private))

    def test_magnum_signs_a_key_that_never_leaves(self):
        magnum = Magnum()
        with self.access(magnum) as access:
            document = yaml.safe_load(access.kubeconfig.read_text())
            mode = access.kubeconfig.stat().st_mode & 0o777
            folder = access.kubeconfig.parent.stat().st_mode & 0o777

        self.assertEqual((0o600, 0o700), (mode, folder))
        self.assertEqual('https://192.0.2.1',
                         document['clusters'][0]['cluster']['server'])
        sent = dict(magnum.asked)['POST /certificates']
        self.assertEqual('u1', sent['cluster_uuid'])
        self.assertIn('CERTIFICATE REQUEST', sent['csr'])
        self.assertNotIn('PRIVATE', str(magnum.asked))
        self.assertEqual('cloud', magnum.cloud)

    def test_it_is_gone_afterwards_also_after_an_error(self):
        for error in (None, KeyboardInterrupt, errors.UsageError('x')):
            try:
                with self.access(Magnum()) as access:
                    if error:
                        raise error
            except (KeyboardInterrupt, errors.UsageError):
                pass
            self.assertFalse(access.kubeconfig.exists())
            self.assertEqual([], os.listdir(self.private))

    def test_the_cluster_is_known(self):
        with self.access(Magnum()) as access:
            about = access.about

        self.assertEqual(('c1', 'k8s_capi_v1', 'calico', 'ubuntu'), (
            about.name, about.driver, about.cni, about.image))

    def test_refusals_are_told_apart(self):
        for error, kind in (
                (exceptions.NotFound(), errors.UsageError),
                (exceptions.Conflict(), errors.UsageError),
                (exceptions.Forbidden(), errors.EnvironmentProblem),
                (exceptions.ConnectFailure('x'), errors.EnvironmentProblem)):
            self.refused(kind, Magnum(**{'GET /clusters/c1': error}))

    def test_a_cluster_without_an_address(self):
        self.refused(errors.UsageError, Magnum(**{
            'GET /clusters/c1': {**CLUSTER, 'api_address': None}}))

    def test_a_file_is_used_where_it_is(self):
        file = self.base / 'kubeconfig'
        file.write_text('{}')

        with kubeconfigs.access(runs.Target(kubeconfig=str(file))) as access:
            self.assertEqual(file, access.kubeconfig)
        self.assertTrue(file.exists())

    def test_the_rest_of_a_killed_command_goes_with_the_next(self):
        child = os.fork()
        if not child:
            with self.access(Magnum()):
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        self.assertEqual(1, len(list(self.private.glob('*/kubeconfig'))))

        with self.access(Magnum()) as access:
            self.assertEqual([access.kubeconfig.parent],
                             list(self.private.iterdir()))
            # A living command keeps its own.
            with self.access(Magnum()):
                pass
            self.assertTrue(access.kubeconfig.exists())

    def test_the_authority_of_the_cloud(self):
        folder = self.base / 'tls'
        pki.make_server(folder, '127.0.0.1')
        fake = self.useFixture(test_cloud.FakeCloud(folder))
        fake.clusters = [CLUSTER | {'name': 'c1'}]
        target = runs.Target('c1', 'fake')
        fake.configure(auth=fake.auth('alice'),
                       cacert=str(folder / 'ca.crt'))
        kubeconfigs.check(target)

        fake.configure(auth=fake.auth('alice'))
        error = self.assertRaises(
            errors.EnvironmentProblem, kubeconfigs.check, target)
        self.assertIn('TLS to the cloud fails (fake)', str(error))
        self.useFixture(fixtures.EnvironmentVariable(
            'OS_CACERT', str(folder / 'ca.crt')))
        kubeconfigs.check(target)

    def test_without_a_cloud(self):
        for name in ('OS_CLOUD', 'OS_AUTH_URL', 'OS_CLIENT_CONFIG_FILE'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        error = self.assertRaises(
            errors.UsageError, kubeconfigs.check, runs.Target('c1', 'none'))
        self.assertIn('(none)', str(error))

    def test_when_nothing_names_a_cloud(self):
        for name in ('OS_CLOUD', 'OS_AUTH_URL', 'OS_CLIENT_CONFIG_FILE'):
            self.useFixture(fixtures.EnvironmentVariable(name))
        error = self.assertRaises(
            errors.UsageError, kubeconfigs.check, runs.Target('c1'))
        self.assertIn('No cloud is named', str(error))
        self.assertIn('set OS_CLOUD', str(error))

    def test_without_the_library(self):
        with mock.patch.dict(sys.modules, {'openstack': None}):
            error = self.assertRaises(
                errors.EnvironmentProblem, kubeconfigs._connect, '')
        self.assertIn('pip install openstacksdk', str(error))
