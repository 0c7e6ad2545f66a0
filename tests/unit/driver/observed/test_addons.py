# SPDX-License-Identifier: Apache-2.0

"""Which addons are a cluster's, and what they know of its credential."""

import json

import testtools

from magnum_capi.driver.observed import addons
from tests.unit.driver import objects

SECRET = 'c0-cloud-credentials'
#: data of a Secret, base64 of "new".
DATA = {'clouds.yaml': 'bmV3'}


class OfClusterTest(testtools.TestCase):

    def test_an_addon_that_its_provider_has_not_seen_counts(self):
        # B.4.12: the label is the provider's, spec.clusterName the chart's.
        unlabelled = objects.addon()

        self.assertEqual((unlabelled,), addons.of_cluster(
            [unlabelled], objects.NAME))

    def test_addons_of_another_cluster_do_not(self):
        for other in ('c00', 'b9', 'd0'):
            self.assertEqual((), addons.of_cluster([objects.addon()], other))

    def test_the_label_of_the_provider_counts_too(self):
        for cluster, count in ((objects.NAME, 1), ('d0', 0), ('b9', 0)):
            found = objects.as_read({'metadata': {'labels': {
                'addons.stackhpc.com/cluster': cluster}}})
            self.assertEqual(count, len(addons.of_cluster(
                [found], objects.NAME)))


def handled(addon, **changes):
    """Note on an addon what its provider last handled of it."""
    notes = addon['metadata'].setdefault('annotations', {})
    notes['addons.stackhpc.com/last-handled-configuration'] = json.dumps({
        'spec': addon['spec'], 'metadata': {'annotations': dict(notes)},
        **changes})
    return addon


class StateTest(testtools.TestCase):

    def test_what_the_provider_has_handled_is_deployed(self):
        self.assertEqual((addons.State.DEPLOYED, ''),
                         addons.state(handled(objects.addon())))

    def test_a_change_that_it_has_not_handled_is_not(self):
        found, why = addons.state(handled(objects.addon(), spec={'x': 1}))

        self.assertEqual(addons.State.WAITING, found)
        self.assertIn('not yet seen by its provider', why)

    def test_a_note_that_is_no_json_says_nothing(self):
        addon = handled(objects.addon())
        for note in ('', '{', '[]', None):
            addon['metadata']['annotations'] = {
                'addons.stackhpc.com/last-handled-configuration': note}
            self.assertEqual(addons.State.DEPLOYED, addons.state(addon)[0])

    def test_each_phase(self):
        for phase, state in (
                ('Deployed', addons.State.DEPLOYED),
                ('Failed', addons.State.FAILED),
                *((phase, addons.State.WAITING) for phase in (
                    'Deleting', 'Installing', 'Pending', 'Unknown'))):
            self.assertEqual(state, addons.state(objects.as_read(
                objects.addon(phase=phase)))[0])
        self.assertEqual(
            (addons.State.WAITING, 'phase Unknown'),
            addons.state(objects.addon(phase=None)))

    def test_a_proxy_says_the_first_of_its_problems(self):
        def proxy(*conditions, generation=1):
            return {'apiVersion': 'addons.cluster.x-k8s.io/v1beta1',
                    'kind': 'HelmChartProxy',
                    'metadata': {'name': 'p', 'generation': generation},
                    'status': {'observedGeneration': 1, 'conditions': [
                        {'type': kind, 'status': status}
                        for kind, status in conditions]}}

        for found, told in (
                (proxy(('Ready', 'True')), ''),
                (proxy(('Ready', 'False'), ('HelmReleaseReady', 'False'),
                       ('ClusterAvailable', 'False')),
                 'HelmReleaseReady is False'),
                (proxy(), 'it has no status yet'),
                (proxy(('Ready', 'True'), generation=2),
                 'its change is not yet seen by its controller')):
            self.assertEqual(
                (addons.State.WAITING if told else addons.State.DEPLOYED,
                 told), addons.state(found))

    def test_one_that_goes_is_not_deployed(self):
        addon = objects.addon()
        addon['metadata']['deletionTimestamp'] = 'now'

        self.assertEqual(addons.State.WAITING, addons.state(addon)[0])


class TookUpTest(testtools.TestCase):

    def user(self, phase='Deployed', **notes):
        addon = objects.addon('ccm', phase)
        addon['metadata']['labels'] = {
            f'{SECRET}.secret.addons.stackhpc.com/uses': ''}
        addon['metadata']['annotations'] = {
            f'secret.addons.stackhpc.com/{SECRET}': checksum
            for checksum in notes.values()}
        return addon

    def uses_current_secret(self, *users):
        return addons.uses_current_secret(
            [objects.addon('cni', 'Failed'), *users], SECRET, DATA)

    def test_a_user_that_runs_with_it_took_it_up(self):
        user = self.user(checksum=addons.checksum(DATA))

        self.assertEqual((True, ''), self.uses_current_secret(user))

    def test_a_user_that_knows_another_did_not(self):
        for checksum in ('0', 'f' * 64,
                         addons.checksum({'clouds.yaml': 'b2xk'})):
            taken, why = self.uses_current_secret(self.user(checksum=checksum))

            self.assertFalse(taken)
            self.assertIn('c0-ccm was not notified', why)

    def test_a_user_that_is_being_upgraded_did_not(self):
        taken, why = self.uses_current_secret(self.user(
            'Upgrading', checksum=addons.checksum(DATA)))

        self.assertFalse(taken)
        self.assertIn('Upgrading', why)

    def test_a_user_that_was_told_and_did_not_act_did_not(self):
        user = self.user(checksum=addons.checksum(DATA))

        taken, why = self.uses_current_secret(handled(user, metadata={}))

        self.assertFalse(taken)
        self.assertIn('has not applied', why)
        self.assertEqual((True, ''), self.uses_current_secret(handled(user)))

    def test_without_users_nothing_can_tell(self):
        self.assertIsNone(self.uses_current_secret())

    def test_the_checksum_is_that_of_the_provider(self):
        # printf 'a=MQ==;b=Mg==' | sha256sum
        self.assertEqual(
            '1b0921e82426be6a16c0c3ee3861748c4630c20f556632bef810e57955c28f40',
            addons.checksum({'b': 'Mg==', 'a': 'MQ=='}))
