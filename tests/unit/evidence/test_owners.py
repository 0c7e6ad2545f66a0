# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi_tempest.evidence import owners


class BelongsTest(testtools.TestCase):

    def test_what_belongs(self):
        for metadata in (
                {'name': 'c1'},
                {'name': 'c1-control-plane-abcde'},
                {'name': 'sh.helm.release.v1.c1.v12'},
                {'name': 'x', 'labels': {
                    'cluster.x-k8s.io/cluster-name': 'c1'}},
                {'name': 'x', 'labels': {'capi.stackhpc.com/cluster': 'c1'}},
                {'name': 'x', 'labels': {
                    'addons.stackhpc.com/cluster': 'c1'}},
                {'name': 'x', 'annotations': {
                    'meta.helm.sh/release-name': 'c1'}},
                {'name': 'x', 'labels': {
                    'magnum.openstack.org/cluster-uuid': 'uuid'}}):
            self.assertTrue(owners.belongs(metadata, 'c1', 'uuid'), metadata)

    def test_what_does_not(self):
        for metadata in (
                {'name': 'c10'},
                {'name': 'other-c1'},
                {'name': 'sh.helm.release.v1.c10.v1'},
                {'name': 'x', 'labels': None, 'annotations': None},
                {'name': 'x', 'labels': {
                    'cluster.x-k8s.io/cluster-name': 'c10'}},
                {'name': 'x', 'labels': {
                    'magnum.openstack.org/cluster-uuid': 'other'}}):
            self.assertFalse(owners.belongs(metadata, 'c1', 'uuid'), metadata)

    def test_without_uuid_no_label_is_one(self):
        self.assertFalse(owners.belongs({'name': 'x', 'labels': {}}, 'c1'))
