# SPDX-License-Identifier: Apache-2.0

"""Each thing that does not fit is said in words that help."""

import types
from unittest import mock

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools
import urllib3.exceptions

from magnum_capi_tempest.tests.common.preflight import checks
from magnum_capi_tempest.tests.common.preflight import options as options_
from tests.unit.evidence import fake_kube
from tests.unit.package_tests import test_base

OPTIONS = {
    'catalog_type': 'container-infra', 'endpoint_type': 'public',
    'image_id': 'ubuntu', 'flavor_id': 'm1', 'master_flavor_id': '',
    'external_network': 'public',
    'management_kubeconfig': '',
    'management_changes': False, 'network_driver': 'calico',
    'master_lb_enabled': True, 'labels': {}, 'dns_nameserver': '',
    'driver': '', 'upgrade_image_id': '', 'upgrade_labels': {},
    'fault_flavors': {}, 'clashing_drivers': [], 'discovery_fixture': '',
    'conformance_plan': '', 'not_promised': [],
}


class FakeMagnum:
    """All clients of Magnum in one; a healthy cloud unless told otherwise."""

    def __init__(self):
        self.clusters = self.templates = self.mservices = self
        self.base_url = 'http://magnum'
        self.newest = 'container-infrastructure-management 1.14'
        self.services = [{'host': 'h', 'binary': 'magnum-conductor',
                          'state': 'up'}]
        # The driver of a template, as of release 23.
        self.heeds = True
        self.deleted = []

    def list_cluster_templates(self, microversion, limit):
        return types.SimpleNamespace(response={
            'openstack-api-maximum-version': self.newest})

    def create_cluster_template(self, driver=None, **body):
        if driver and self.heeds:
            raise lib_exc.BadRequest(
                'Cluster driver k8s_nobody_wrote_it not supported')
        return {'uuid': 't'}

    def delete_cluster_template(self, uuid):
        self.deleted.append(uuid)

    def list_mservices(self):
        return {'mservices': self.services}


class NoEndpoint(FakeMagnum):

    base_url = property(lambda self: self._fail(), lambda self, value: None)

    def _fail(self):
        raise lib_exc.EndpointNotFound('container-infra')


class FakeManager:
    """Glance, Nova and Neutron of a healthy cloud."""

    def __init__(self):
        self.image_client_v2 = self.flavors_client = self
        self.networks_client = self
        self.images = [{'id': 'i', 'name': 'ubuntu', 'os_distro': 'ubuntu'}]
        self.networks = [{'id': 'n', 'name': 'public',
                          'router:external': True}]

    def show_image(self, image):
        for found in self.images:
            if found['id'] == image:
                return found
        raise lib_exc.NotFound('image')

    def list_images(self, params):
        return {'images': [i for i in self.images
                           if i['name'] == params['name']]}

    def list_flavors(self, detail=False):
        return {'flavors': [{'id': '1', 'name': 'm1'}]}

    def list_networks(self):
        return {'networks': self.networks}


class PreflightTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.manager = FakeManager()
        self.magnum = FakeMagnum()

    def problems(self, magnum=None, **options):
        conf = types.SimpleNamespace(
            resource_name_prefix='tempest',
            magnum_capi=test_base.Options(OPTIONS, **options),
            magnum_capi_feature_enabled=test_base.Options(
                workload_api=True))
        magnum = magnum or self.magnum
        return checks.problems(options_.Cloud(
            conf, self.manager, magnum, magnum))

    def assert_one_problem(self, text, *args, **options):
        problem, = self.problems(*args, **options)
        self.assertIn(text, problem)

    def test_a_healthy_cloud_has_none(self):
        self.assertEqual([], self.problems())
        # Names and ids are both good.
        self.assertEqual([], self.problems(
            image_id='i', flavor_id='1', external_network='n'))

    def test_options_that_do_not_fit(self):
        for options, said in (
                ({'image_id': '', 'external_network': ''},
                 'Not set: image_id, external_network'),
                ({'image_id': 'x'}, "image_id is 'x', and 0 images"),
                ({'flavor_id': 'x', 'master_flavor_id': 'y'},
                 "flavor_id is 'x' and master_flavor_id is 'y'"),
                ({'external_network': 'x'}, '0 networks'),
                ({'management_kubeconfig': '/nowhere'},
                 'management_kubeconfig does not work'),
                ({'management_changes': True},
                 'without a management_kubeconfig')):
            self.assert_one_problem(said, **options)

    def test_no_endpoint(self):
        self.assert_one_problem('no endpoint of catalog_type',
                                NoEndpoint())

    def test_a_cloud_that_does_not_fit(self):
        for change, said in (
                (lambda: setattr(self.magnum, 'newest', ''),
                 'does not report a highest microversion'),
                (lambda: self.magnum.services[0].update(state='down'),
                 "Magnum knows: {'h': 'down'}"),
                (lambda: self.magnum.services.clear(), 'Magnum knows: none'),
                (lambda: delattr(self.manager, 'image_client_v2'),
                 'glance is false'),
                (lambda: self.manager.images.append(
                    {'id': 'j', 'name': 'ubuntu'}), '2 images'),
                (lambda: self.manager.images[0].pop('os_distro'),
                 'lacks the property os_distro'),
                (lambda: self.manager.networks[0].update(
                    {'router:external': False}), 'is not external')):
            self.manager, self.magnum = FakeManager(), FakeMagnum()
            change()
            self.assert_one_problem(said)

    def test_changes_that_are_not_allowed(self):
        api = self.useFixture(fake_kube.FakeKube())
        api.serve_management()
        api.allowed = False

        self.assert_one_problem(
            'may not delete machines', management_changes=True,
            management_kubeconfig=api.kubeconfig)

    def test_missing_library(self):
        self.useFixture(fixtures.MonkeyPatch(
            'importlib.util.find_spec', lambda name: None))

        self.assert_one_problem('pip install kubernetes')

    def test_a_service_that_fails_does_not_hide_the_rest(self):
        def list_flavors(detail=False):
            raise lib_exc.ServerFault('nova is down')

        self.manager.list_flavors = list_flavors

        second, first = self.problems(external_network='x')
        self.assertIn('flavors: could not be checked', first)
        self.assertIn('nova is down', first)
        self.assertIn('0 networks', second)

    def test_one_cause_of_several_checks_is_reported_once(self):
        for cause in (lib_exc.IdentityError('keystone is down'),
                      urllib3.exceptions.MaxRetryError(
                          None, '/v3/auth/tokens', 'keystone is down')):
            self.manager.list_flavors = self.manager.list_networks = (
                mock.Mock(side_effect=cause))

            told, = self.problems()
            self.assertIn('flavors, external_network: could not be checked',
                          told)
            self.assertEqual(1, told.count('keystone is down'))

    def test_all_problems_are_on_one_screen(self):
        found = self.problems(image_id='x', flavor_id='y')

        self.assertEqual(3, len(checks.screen(found).splitlines()))

    def test_release_that_ignores_the_driver_of_templates(self):
        self.magnum.heeds = False

        self.assert_one_problem(
            'This Magnum ignores the driver that a cluster template names. '
            'Add magnum.template.keeps-driver to not_promised')

    def test_release_that_heeds_it(self):
        self.assert_one_problem(
            'This Magnum heeds the driver that a cluster template names. '
            'Remove magnum.template.keeps-driver from not_promised',
            not_promised=['magnum.template'])

    def test_a_promise_that_fits(self):
        self.magnum.heeds = False

        self.assertEqual([], self.problems(
            not_promised=['magnum.template.keeps-driver']))

    def test_another_refusal_is_reported(self):
        self.magnum.heeds = False
        self.magnum.create_cluster_template = self._refuse

        self.assert_one_problem(
            'Magnum refuses a cluster template of these options: ',
            not_promised=['magnum.template.keeps-driver'])

    def _refuse(self, **body):
        raise lib_exc.BadRequest('no flavor')

    def test_templates_of_the_trial_are_deleted(self):
        self.magnum.heeds = False
        self.problems()

        self.doCleanups()

        self.assertEqual(['t', 't'], self.magnum.deleted)
