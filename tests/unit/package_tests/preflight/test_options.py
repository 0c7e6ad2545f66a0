# SPDX-License-Identifier: Apache-2.0

"""Options of single tests, before an hour is lost with them."""

import pathlib
import types

import fixtures
from tempest.lib import exceptions as lib_exc
import testtools
import urllib3.exceptions

from magnum_capi import errors
from magnum_capi_tempest import option_files
from magnum_capi_tempest.tests.common.preflight import checks
from magnum_capi_tempest.tests.common.preflight import options
from tests.unit.package_tests.preflight import test_checks
from tests.unit.package_tests import test_base

NEWER = {'id': 'j', 'name': 'newer', 'os_distro': 'ubuntu',
         'kube_version': 'v1.35.1'}


class _Base(testtools.TestCase):

    problems = test_checks.PreflightTest.problems
    assert_one_problem = test_checks.PreflightTest.assert_one_problem

    def setUp(self):
        super().setUp()
        self.manager = test_checks.FakeManager()
        self.magnum = test_checks.FakeMagnum()


class IdentityTest(testtools.TestCase):

    def told(self, error):
        def enter():
            with checks.identity('http://cloud/v3'):
                raise error

        return self.assertRaises(errors.EnvironmentProblem, enter)

    def test_a_keystone_that_is_down_is_one_line(self):
        error = self.told(urllib3.exceptions.MaxRetryError(
            None, '/v3/auth/tokens', 'connection refused'))

        self.assertEqual(1, len(str(error).splitlines()))
        self.assertIn('http://cloud/v3', str(error))
        self.assertIn('connection refused', str(error))
        # No trace of the libraries below.
        self.assertTrue(error.__suppress_context__)

    def test_one_that_fails_or_refuses(self):
        for kind in (lib_exc.IdentityError, lib_exc.Unauthorized):
            self.assertIn('does not let Tempest in',
                          str(self.told(kind('No.'))))


class FlavorsTest(_Base):

    def test_special_ones(self):
        self.assert_one_problem(
            "fault_flavors slow is 'x' and fault_flavors late is 'y', and no "
            'such flavor', fault_flavors={
                'slow': 'x', 'late': 'y', 'stuck': 'm1'})

    def test_a_fault_that_nothing_tests(self):
        self.assert_one_problem('fault_flavors has slo, and may only have ',
                                fault_flavors={'slo': 'm1', 'late': 'm1'})


class UpgradeTest(_Base):

    def setUp(self):
        super().setUp()
        self.manager.images[0]['kube_version'] = 'v1.34.2'
        self.newer = dict(NEWER)
        self.manager.images.append(self.newer)

    def test_a_good_one(self):
        self.assertEqual([], self.problems(upgrade_image_id='newer'))
        self.assertEqual([], self.problems(upgrade_image_id='j'))

    def test_none_of_the_name(self):
        self.assert_one_problem(
            "upgrade_image_id is 'x', and 0 images", upgrade_image_id='x')

    def test_another_operating_system(self):
        self.newer['os_distro'] = 'flatcar'

        self.assert_one_problem(
            "os_distro of upgrade_image_id is 'flatcar'",
            upgrade_image_id='newer')

    def test_versions_that_are_no_upgrade(self):
        for version in ('v1.34.2', '1.33.9', 'v1.36.0', 'v2.0.0'):
            self.newer['kube_version'] = version

            self.assert_one_problem(
                'must be newer, by one minor version at most',
                upgrade_image_id='newer')

    def test_versions_of_labels(self):
        self.assertEqual([], self.problems(
            upgrade_image_id='ubuntu', labels={'kube_tag': 'v1.34.2'},
            upgrade_labels={'kube_tag': 'v1.35.0'}))
        self.assert_one_problem(
            'from v1.34.2 (image_id, labels) to v1.34.2',
            upgrade_image_id='newer', labels={'kube_tag': 'v1.34.2'})

    def test_what_nobody_tells_is_not_compared(self):
        del self.newer['kube_version']

        self.assertEqual([], self.problems(upgrade_image_id='newer'))


class TemplateTest(_Base):

    def refuse(self, said, **wanted):
        def create_cluster_template(**body):
            if wanted.items() <= body.items():
                raise lib_exc.BadRequest(resp_body=[
                    {'request_id': '', 'title': said, 'detail': said}])
            self.made.append(body.get('driver'))
            return {'uuid': 't'}

        self.made, self.deleted = [], []
        self.magnum.create_cluster_template = create_cluster_template
        self.magnum.delete_cluster_template = self.deleted.append

    def cloud(self, **options):
        conf = types.SimpleNamespace(
            resource_name_prefix='tempest', magnum_capi=(
                test_base.Options(test_checks.OPTIONS, **options)))
        return types.SimpleNamespace(
            conf=conf, options=conf.magnum_capi, magnum=self.magnum)

    def test_network_driver(self):
        self.refuse('Network driver type x is not supported, expecting a '
                    '[calico] network driver.', network_driver='x')

        said = options.template(self.cloud(network_driver='x'))

        self.assertEqual(
            "network_driver is 'x', which Magnum refuses: Network driver type "
            'x is not supported, expecting a [calico] network driver. Compare '
            '[cluster_template] kubernetes_allowed_network_drivers of '
            'magnum.conf', said)

    def test_clashing_drivers(self):
        self.refuse('Cluster driver k8s_y not supported', driver='k8s_y')

        said = options.clashing_templates(
            self.cloud(clashing_drivers=['k8s_x', 'k8s_y']))

        self.assertIn("Magnum refuses 'k8s_y': ", said)
        self.assertNotIn('k8s_x', said)

    def test_a_template_that_is_refused_is_reported_once(self):
        self.refuse('no such label')

        self.assertIsNone(options.clashing_templates(
            self.cloud(clashing_drivers=['k8s_x', 'k8s_y'])))

    def test_files_that_cannot_be_read(self):
        path = pathlib.Path(self.useFixture(fixtures.TempDir()).path) / 'x'
        for option, text, said in (
                ('discovery_fixture', '[]', 'it is no mapping'),
                ('discovery_fixture', 'sole: x', "there is no 'sole', only "),
                ('discovery_fixture', 'sole_driver: 7', 'sole_driver is 7'),
                ('discovery_fixture', 'marks: {k8s_x: {}}',
                 'mark of k8s_x is not valid'),
                ('conformance_plan', 'mode: quik', "mode is 'quik'"),
                ('conformance_plan', 'timeout: 7', 'mode'),
                ('conformance_plan', '{', 'This is no ConformancePlan')):
            option_files._read.cache_clear()
            path.write_text(text)
            self.assert_one_problem(said, **{option: str(path)})
        self.assert_one_problem(
            'No such file', conformance_plan=f'{path}.missing')
        self.assertEqual([], self.problems(conformance_plan='quick'))

    def test_a_clash_takes_two(self):
        self.assert_one_problem('must name two drivers or more',
                                clashing_drivers=['k8s_x', 'k8s_x'])

    def test_a_promise_that_is_none(self):
        self.assert_one_problem(
            'there is no promise lifecycle.x.y. ', not_promised=[
                'lifecycle.x.y', 'lifecycle.resize.last-wins', 'autoscaling',
                'discovery.disabled.refused'])

    def test_trials_are_made_only_in_a_cloud_that_fits(self):
        self.refuse('x')

        self.assert_one_problem("image_id is 'x'", image_id='x')
        self.assertEqual([], self.made)
