# SPDX-License-Identifier: Apache-2.0

"""The cloud gets certificates of another authority."""

from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import names
from magnum_capi.driver import failures
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from tests.unit.driver import base
from tests.unit.driver import small_world


class Base(base.TestCase):

    def setUp(self):
        super().setUp()
        #: It signed the certificates of the cloud.
        self.authority = 'pem'
        asked = app_credentials.check

        def check(data, *args):
            # As with certificates; see keys.test_rotation.
            trusted = cluster_secrets.cacert(data)
            return (credentials.UNTRUSTED
                    if trusted not in (None, self.authority)
                    else asked(data, *args))
        self.patch(app_credentials, 'check', check)


class CreationTest(Base):

    def test_magnum_has_another_authority_for_clusters(self):
        self.authority = 'new pem'
        error = self.assertRaises(failures.Failed, self.create)
        self.assertIn('[drivers]openstack_ca_file', str(error))
        self.assertEqual([], self.w.helm.upgrades)
        self.operations().delete()
        self.check_status()
        self.assertEqual({}, self.w.cloud.credentials)

    def test_keystone_that_cannot_be_asked(self):
        self.patch(app_credentials, 'check',
                   lambda *_args: credentials.UNKNOWN)
        self.created()


class NewAuthorityTest(Base):

    def setUp(self):
        super().setUp()
        self.created()
        self.authority = 'new pem'
        self.w.trust('new pem')

    def data(self):
        path = (f'/api/v1/namespaces/{small_world.NAMESPACE}/secrets/'
                f'{names.credentials(small_world.RELEASE)}')
        return self.api.objects[path]['data']

    def assert_trusted(self, expected='new pem'):
        self.assertEqual(expected, cluster_secrets.cacert(self.data()))
        self.assertEqual([0], self.w.credentials())
        self.assertEqual(self.w.cloud.made[0].id,
                         cluster_secrets.applied_id(self.data()))

    def test_resize(self):
        self.resize(2)
        self.assert_trusted()

    def test_upgrade(self):
        self.request_upgrade()
        self.assert_trusted()

    def test_deletion(self):
        # Without it, Cluster API's provider can delete nothing.
        self.operations().delete()
        self.assert_trusted()

    def test_credential_that_is_refused_as_well(self):
        self.w.cloud.credentials.clear()
        self.resize(2)
        self.assertEqual('new pem', cluster_secrets.cacert(self.data()))
        self.assertEqual(self.w.cloud.made[1].id,
                         cluster_secrets.applied_id(self.data()))

    def test_magnum_does_not_trust_the_cloud_either(self):
        self.w.trust('other pem')
        self.resize(2)
        self.assert_trusted('pem')

    def test_what_is_trusted_stays(self):
        # Magnum's hosts may have bundles of different age.
        self.authority = 'pem'
        self.resize(2)
        self.assert_trusted('pem')

    def test_magnum_that_verifies_nothing_has_none_to_give(self):
        self.w.trust(None)
        self.resize(2)
        self.assert_trusted('pem')
