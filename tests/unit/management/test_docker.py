# SPDX-License-Identifier: Apache-2.0

"""Cluster API's provider "docker" in a management cluster of processes."""

import testtools

from magnum_capi_tempest.management import manifests


def crd(plural):
    return {'kind': 'CustomResourceDefinition',
            'spec': {'names': {'plural': plural}}}


def hook(name, *resources):
    return {'name': name, 'rules': [{'resources': list(resources)}]}


class ServedTest(testtools.TestCase):

    def test_definitions_and_webhooks_of_what_is_served(self):
        mine = {'kind': 'MutatingWebhookConfiguration', 'webhooks': [
            hook('a', 'devclusters'), hook('b', 'dockerclusters'),
            hook('c', 'devclusters', 'dockerclusters')]}
        other = {'kind': 'ValidatingWebhookConfiguration',
                 'webhooks': [hook('d', 'dockerclusters')]}
        found = manifests.served(
            [crd('devclusters'), crd('dockerclusters'), mine, other,
             {'kind': 'Deployment'}], {'devclusters'})
        self.assertEqual(
            [crd('devclusters'), {**mine, 'webhooks': mine['webhooks'][:1]}],
            found)
