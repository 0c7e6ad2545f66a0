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

    def test_a_cluster(self):
        other = revision(1, 'y', 'c2')
        for stack_id, objects, lacks in (
                ('c1', secrets(revision(), revision(2), other), []),
                # Without the management cluster only the stack_id counts.
                ('c1', None, []),
                *((name, None, [f'its stack_id {name} is not c[0-9]+'])
                  for name in ('kube-1', 'c1-c2', '')),
                ('c1', secrets(revision(), revision(2, 'y'), revision(3)),
                 ['Secret sh.helm.release.v1.c1.v2 has no "note": "x"']),
                ('c1', secrets(test_helm.secret('nonsense')),
                 ['Secret sh.helm.release.v1.c1.v1 has no "note": "x"']),
                ('c1', secrets(other), [
                    r'there is no Secret/sh\.helm\.release\.v1\.c1\.v'
                    '[0-9]+'])):
            self.assertEqual(lacks, MARK.lacks(stack_id, objects))

    def test_other_kinds_as_they_are(self):
        mark = marks.Mark('k8s_y', objects={
            'Cluster/{stack_id}': '"manager": "y"'})
        cluster = {'metadata': {'name': 'k', 'managedFields': [
            {'manager': 'y'}]}}

        self.assertEqual([], mark.lacks('k', [('Cluster', cluster)]))
        self.assertEqual(1, len(mark.lacks('k', [('Machine', cluster)])))
        self.assertEqual({'Cluster'}, mark.kinds)

    def test_a_value_that_is_nested_too_deeply_is_a_text(self):
        value = base64.b64encode(b'[' * 100_000).decode()

        self.assertEqual([], marks.Mark('k8s_x', objects={
            'Secret/{stack_id}': r'\[\['}).lacks('c1', secrets({
                'metadata': {'name': 'c1'}, 'data': {'a': value}})))

    def test_secrets_stay_secret(self):
        found, = marks.Mark('k8s_x', objects={
            'Secret/{stack_id}-memory': 'x'}).lacks(
            'c1', secrets(memory('CREATE')))

        self.assertNotIn('hunter2', found)


class DeletionTest(testtools.TestCase):

    def test_who_wrote_first(self):
        asked, deleted = memory('DELETE'), ('DELETED', revision())
        for changes, lacks in (
                # the driver wrote before it deleted
                ((('MODIFIED', memory('')), ('MODIFIED', asked),
                  ('MODIFIED', revision()), deleted), False),
                # another driver deleted first
                ((('MODIFIED', revision()), deleted, ('MODIFIED', asked)),
                 True),
                # nobody wrote
                ((), True), ((('DELETED', asked),), True)):
            found = MARK.lacks_deletion('c1', changes)

            self.assertEqual(['Secret/c1-memory did not get "operation": '
                              '"DELETE" first'] if lacks else [], found)

    def test_a_mark_without_one(self):
        self.assertEqual([], marks.Mark('k8s_y').lacks_deletion('c1', ()))
