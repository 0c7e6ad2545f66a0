# SPDX-License-Identifier: Apache-2.0


import contextlib
import pathlib
import types
from unittest import mock

import fixtures
import testtools

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import lifecycle
from magnum_capi_tempest.conformance.run import outcome
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import conformance
from magnum_capi_tempest.tests.scenario import test_conformance
from tests.unit.package_tests import test_base


OPTIONS = {'conformance_mode': 'quick', 'conformance_focus': '',
           'conformance_skip': '', 'conformance_parallel': 1,
           'conformance_timeout': 0, 'conformance_images': ''}


class PlanTest(testtools.TestCase):

    def test_what_options_say_is_run(self):
        found = conformance.plan(test_base.Options(OPTIONS, **{
            'conformance_mode': 'focus', 'conformance_focus': 'sig-apps',
            'conformance_skip': 'Slow', 'conformance_parallel': 4,
            'conformance_timeout': 60, 'conformance_images': 'stand-in'}))

        self.assertEqual(
            runner.Plan(mode=model.FOCUSED, expression='sig-apps',
                        skip='Slow', parallel=4, timeout=60, stand_in=True),
            found)

    def test_defaults(self):
        self.assertEqual(runner.Plan(mode=model.QUICK),
                         conformance.plan(test_base.Options(OPTIONS)))


class ConformanceTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        conf = types.SimpleNamespace(magnum_capi=test_base.Options(
            OPTIONS, conformance_results=str(self.folder), master_count=1,
            node_count=2))
        for module in (conformance, test_conformance):
            self.useFixture(fixtures.MockPatchObject(module, 'CONF', conf))
        self.calls = mock.Mock()
        self.useFixture(fixtures.MockPatchObject(
            access, 'kubeconfig_of',
            lambda *args: contextlib.nullcontext('/kubeconfig')))

    def play(self, *specs):
        """Run the test with a cluster in which these specs ran."""
        test = test_conformance.ConformanceTest('test_conformance')
        # Fixtures are of the test that is played; this one ends them.
        test.useFixture = self.useFixture
        test.magnum = mock.Mock()
        test.create_template = mock.Mock()
        test.create_cluster = mock.Mock(return_value={
            'name': 'c1', 'cluster_template_id': 't1'})
        test.assert_usable = self.calls.usable
        test.magnum.templates.show_cluster_template.return_value = {
            'driver': 'k8s_capi_v1', 'network_driver': 'calico'}
        result = model.Result('r', '/x', mode=model.QUICK, specs=specs,
                              suite_finished=True)
        self.run_ = self.useFixture(fixtures.MockPatchObject(
            lifecycle, 'run', mock.Mock(return_value=outcome.Outcome(
                runs.Run('r', runs.Target(), runner.Plan(), '/x'), result,
                verdict.judge(result))))).mock
        self.calls.attach_mock(self.run_, 'run')
        test.test_conformance()
        return test

    def test_a_cluster_that_conforms(self):
        test = self.play(model.Spec('[sig-x] a', model.PASSED))

        wish = self.run_.call_args.args[0]
        self.assertEqual((model.QUICK, self.folder / 'c1'),
                         (wish.plan.mode, wish.results))
        self.assertEqual('/kubeconfig', wish.target.kubeconfig)
        page = (self.folder / 'c1' / 'report.html').read_text()
        self.assertIn('k8s_capi_v1', page)
        self.assertIn('passed', test.getDetails()['conformance'].as_text())

    def test_nodes_are_ready_before_it_runs(self):
        test = self.play(model.Spec('[sig-x] a', model.PASSED))

        self.assertEqual(['usable', 'run'],
                         [name for name, *_ in self.calls.mock_calls])
        self.calls.usable.assert_called_once_with(
            test.create_cluster.return_value, 1, 2)

    def test_failed_tests_fail_it(self):
        error = self.assertRaises(
            AssertionError, self.play, model.Spec('[sig-x] a', model.FAILED))

        self.assertIn('1 of 1 specs failed', str(error))

    def test_no_tests_at_all_fail_it(self):
        self.assertRaises(AssertionError, self.play)
