# SPDX-License-Identifier: Apache-2.0

"""The driver's helm adapter with the real helm; needs no cluster.

Checks the texts of helm's errors, which the unit tests quote.
"""

import dataclasses
import functools
import json
import pathlib

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi.driver import config
from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows
from magnum_capi.driver import gather
from magnum_capi.driver.helm import helm
from magnum_capi.driver.helm import helm_errors
from magnum_capi_tempest import resources
from magnum_capi_tempest import toolchain
from tests.unit.driver import small_world

VALUES = {
    'kubernetesVersion': '1.34.2',
    'machineImageId': 'e9f1a0b2-0000-4000-a000-000000000001',
    'cloudCredentialsSecretName': 'c1-cloud-credentials',
    'controlPlane': {'machineFlavor': 'm1.medium', 'machineCount': 1},
    'nodeGroups': [{'name': 'workers', 'machineFlavor': 'm1.small',
                    'machineCount': 2}],
}


@functools.cache
def program():
    return str(toolchain.ensure(['helm'])['helm'])


def chart():
    return charts.Chart(str(
        resources.find('sandbox/charts/sandbox-cluster')))


def of(kubeconfig=None, **options):
    """A Helm with default options, some changed."""
    return helm.Helm(dataclasses.replace(
        config.Options.read(cfg.ConfigOpts()), helm_binary=program(),
        **options), kubeconfig)


def render(chart, values):
    """Have helm render a release, which needs no management cluster."""
    return of()._run(['template', 'c1', *helm._chart_argv(chart),
                      '--values', '-'], stdin=json.dumps(values))


class SchemaTest(testtools.TestCase):
    """A chart with a schema for its values refuses keys."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'openstack-cluster'
        (self.folder / 'templates').mkdir(parents=True)
        (self.folder / 'templates/all.yaml').write_text(
            'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n'
            'data: {cidrs: "{{ .Values.apiServer.allowedCIDRs }}"}\n')
        (self.folder / 'values.schema.json').write_text(json.dumps({
            'type': 'object', 'properties': {'apiServer': {
                'type': 'object', 'additionalProperties': False,
                'properties': {name: {} for name in (
                    'enableLoadBalancer', 'associateFloatingIP',
                    'loadBalancerProvider', 'allowedCIDRs')}}}}))

    def values(self, version):
        (self.folder / 'Chart.yaml').write_text(
            'apiVersion: v2\nname: openstack-cluster\n'
            f'version: {version}\n')
        world = self.useFixture(small_world.Magnum())
        for rows_of in (world.rows.templates[small_world.TEMPLATE],
                        world.rows.clusters[small_world.CLUSTER]):
            rows_of['labels'] = {'api_master_lb_allowed_cidrs': '10.0.0.0/8'}
        cluster, store = world.row(), world.store
        return gather.Planner(
            rows.Rows(cluster, store.groups(cluster),
                      store.template(small_world.TEMPLATE),
                      names.Naming(small_world.RELEASE)),
            store.cloud, dataclasses.replace(
                config.Options.read(cfg.ConfigOpts()),
                chart_name=str(self.folder))).plan().values

    def test_no_key_of_another_version(self):
        found = render(charts.Chart(str(self.folder)), self.values('0.27.0'))
        self.assertIn('10.0.0.0/8', found)

    def test_refused_key_is_named(self):
        values = self.values('0.1.0')
        e = self.assertRaises(helm_errors.HelmFailed, render,
                              charts.Chart(str(self.folder)), values)
        self.assertIn('allowedCidrs', e.reason)


class RefusalTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def refused(self, kind, **changes):
        e = self.assertRaises(
            kind, render, chart(), {**VALUES, **changes})
        self.assertIs(kind, type(e))
        return e.reason

    def test_words_of_the_chart(self):
        reason = self.refused(helm_errors.HelmFailed, nodeGroups=[
            {'name': 'x', 'machineFlavor': 'f', 'machineCount': 1}])
        self.assertTrue(reason.startswith(
            'node group name "x" is not allowed: '), reason)

    def test_missing_value(self):
        reason = self.refused(helm_errors.HelmFailed, nodeGroups=[
            {'name': 'workers', 'machineCount': 1}])
        self.assertEqual('machineFlavor of workers is missing', reason)

    def test_schema(self):
        reason = self.refused(helm_errors.HelmFailed, nodeGroups='many')
        self.assertIn('nodeGroups', reason)
        self.assertNotIn(str(chart().name), reason)

    def test_missing_chart(self):
        e = self.assertRaises(
            helm_errors.HelmFailed, render,
            charts.Chart(str(self.folder / 'none')), VALUES)
        self.assertNotIn(str(self.folder), e.reason)

    def test_repository_that_is_away(self):
        self.assertRaises(
            helm_errors.HelmFailed, render, charts.Chart(
                'c', 'http://127.0.0.1:9', '1.2.3'), VALUES)

    def test_registry_that_is_away(self):
        self.assertRaises(
            helm_errors.HelmFailed, render, charts.Chart(
                'oci://127.0.0.1:9/c', None, '1.2.3'), VALUES)

    def test_management_cluster_that_is_away(self):
        path = self.folder / 'kubeconfig'
        path.write_text(yaml.safe_dump({
            'apiVersion': 'v1', 'kind': 'Config',
            'clusters': [{'name': 'c', 'cluster': {
                'server': 'https://127.0.0.1:9'}}],
            'users': [{'name': 'u', 'user': {'token': 't'}}],
            'contexts': [
                {'name': 'x', 'context': {'cluster': 'c', 'user': 'u'}}],
            'current-context': 'x'}))
        path.chmod(0o600)
        for call in (lambda: of(path).upgrade('c1', chart(), VALUES, 'n'),
                     lambda: of(path).uninstall('c1', 'n')):
            e = self.assertRaises(helm_errors.HelmDisturbed, call)
            self.assertNotIn('127.0.0.1', e.reason)
