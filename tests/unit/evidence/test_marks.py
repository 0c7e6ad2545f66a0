# SPDX-License-Identifier: Apache-2.0

"""By what the clusters of a driver are recognized."""

import base64
import json

import testtools

from magnum_capi_tempest.evidence import marks
from tests.unit.evidence import test_helm

RELEASES = r'Secret/sh\.helm\.release\.v1\.{stack_id}\.v[0-9]+'

MARK = marks.Mark(
    'k8s_x', 'c[0-9]+', {RELEASES: '"note": "x"'},
    {'Secret/{stack_id}-memory': '"operation": "DELETE"'})


def revision(number=1, note='x', stack_id='c1'):
    return test_helm.release(stack_id, number, config={'note': note})


def memory(operation):
    text = json.dumps({'operation': operation, 'password': 'hunter2'})
    return {'metadata': {'name': 'c1-memory'}, 'data': {
        'state.json': base64.b64encode(text.encode()).decode()}}


def secrets(*found):
    return [('Secret', one) for one in found]


class LacksTest(testtools.TestCase):

    def test_a_cluster_that_has_it(self):
        self.assertEqual([], MARK.lacks('c1', secrets(
            revision(), revision(2), revision(1, 'y', 'c2'))))

    def test_another_stack_id(self):
        for stack_id in ('kube-1', 'c1-c2', ''):
            found, = MARK.lacks(stack_id)
            self.assertIn(f'stack_id {stack_id} is not c[0-9]+', found)

    def test_a_revision_of_another_driver(self):
        found, = MARK.lacks('c1', secrets(
            revision(), revision(2, 'y'), revision(3)))

        self.assertEqual(
            'Secret sh.helm.release.v1.c1.v2 has no "note": "x"', found)

    def test_what_cannot_be_decoded_has_no_mark(self):
        broken = test_helm.secret('nonsense')

        self.assertEqual(1, len(MARK.lacks('c1', secrets(broken))))

    def test_nothing_there(self):
        found, = MARK.lacks('c1', secrets(revision(stack_id='c2')))

        self.assertIn(r'there is no Secret/sh\.helm\.release\.v1\.c1\.', found)

    def test_without_the_management_cluster_the_stack_id_counts(self):
        self.assertEqual([], MARK.lacks('c1'))

    def test_other_kinds_as_they_are(self):
        mark = marks.Mark('k8s_y', objects={
            'Cluster/{stack_id}': '"manager": "y"'})
        cluster = {'metadata': {'name': 'k', 'managedFields': [
            {'manager': 'y'}]}}

        self.assertEqual([], mark.lacks('k', [('Cluster', cluster)]))
        self.assertEqual(1, len(mark.lacks('k', [('Machine', cluster)])))
        self.assertEqual({'Cluster'}, mark.kinds)

    def test_secrets_stay_secret(self):
        found = marks.Mark('k8s_x', objects={
            'Secret/{stack_id}-memory': 'x'}).lacks(
            'c1', secrets(memory('CREATE')))

        self.assertEqual(1, len(found))
        self.assertNotIn('hunter2', found[0])


class DeletionTest(testtools.TestCase):

    def lacks(self, *changes):
        return MARK.lacks_deletion('c1', changes)

    def test_the_driver_wrote_before_it_deleted(self):
        self.assertEqual([], self.lacks(
            ('MODIFIED', memory('')), ('MODIFIED', memory('DELETE')),
            ('MODIFIED', revision()), ('DELETED', revision())))

    def test_another_driver_deleted_first(self):
        found, = self.lacks(
            ('MODIFIED', revision()), ('DELETED', revision()),
            ('MODIFIED', memory('DELETE')))

        self.assertIn('Secret/c1-memory did not get', found)

    def test_nobody_wrote(self):
        self.assertEqual(1, len(self.lacks()))
        self.assertEqual(1, len(self.lacks(('DELETED', memory('DELETE')))))

    def test_a_mark_without_one(self):
        self.assertEqual([], marks.Mark('k8s_y').lacks_deletion('c1', ()))
