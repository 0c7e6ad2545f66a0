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
    """What makes one wait is in test_status."""

    def test_what_the_provider_has_handled_is_deployed(self):
        addon = handled(objects.addon())
        self.assertEqual((addons.State.DEPLOYED, ''), addons.state(addon))
        found, why = addons.state(handled(objects.addon(), spec={'x': 1}))
        self.assertEqual(addons.State.WAITING, found)
        self.assertIn('not yet seen by its provider', why)
        # A note that is no JSON says nothing.
        for note in ('', '{', '[]', None):
            addon['metadata']['annotations'] = {
                'addons.stackhpc.com/last-handled-configuration': note}
            self.assertEqual(addons.State.DEPLOYED, addons.state(addon)[0])

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

    def test_the_checksum_is_that_of_the_provider(self):
        # printf 'a=MQ==;b=Mg==' | sha256sum
        self.assertEqual(
            '1b0921e82426be6a16c0c3ee3861748c4630c20f556632bef810e57955c28f40',
            addons.checksum({'b': 'Mg==', 'a': 'MQ=='}))

    def test_only_a_user_that_runs_with_it_took_it_up(self):
        new = addons.checksum(DATA)
        old = addons.checksum({'clouds.yaml': 'b2xk'})
        for user, why in (
                (self.user(checksum=new), ''),
                (handled(self.user(checksum=new)), ''),
                (self.user(checksum='0'), 'c0-ccm was not notified'),
                (self.user(checksum=old), 'c0-ccm was not notified'),
                (self.user('Upgrading', checksum=new), 'Upgrading'),
                (handled(self.user(checksum=new), metadata={}),
                 'has not applied')):
            taken, said = self.uses_current_secret(user)
            self.assertEqual(not why, taken, why)
            self.assertIn(why, said)
        self.assertIsNone(self.uses_current_secret())
