# SPDX-License-Identifier: Apache-2.0

import types

from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi_tempest.tests.common import images

CONF = types.SimpleNamespace(resource_name_prefix='prefix')

#: As Glance showed it in a sandbox, with what other stores and imports add.
SHOWN = {
    'os_distro': 'ubuntu', 'kube_version': 'v1.34.2', 'name': 'ubuntu-capi',
    'disk_format': 'raw', 'container_format': 'bare', 'visibility': 'public',
    'size': 31, 'virtual_size': None, 'status': 'active', 'checksum': 'c',
    'protected': False, 'min_ram': 0, 'min_disk': 0, 'owner': 'o',
    'os_hidden': False, 'os_hash_algo': 'sha512', 'os_hash_value': 'h',
    'id': 'i', 'created_at': 't', 'updated_at': 't', 'tags': ['x'],
    'self': '/v2/images/i', 'file': '/v2/images/i/file',
    'schema': '/v2/schemas/image', 'stores': 'ceph', 'direct_url': 'rbd://x',
    'os_glance_importing_to_stores': '',
    'owner_specified.openstack.md5': 'm', 'img_config_drive': 'mandatory'}


class ScriptedImages:
    """As far as the tests need it, tempest's client of images."""

    def __init__(self, **known):
        self.known = known
        self.created = []
        self.stored = {}

    def store_image_file(self, ident, data):
        self.stored[ident] = data.read()

    def show_image(self, ident):
        if ident not in self.known:
            raise lib_exc.NotFound()
        return self.known[ident]

    def list_images(self, params):
        return {'images': [i for i in self.known.values()
                           if i['name'] == params['name']]}

    def create_image(self, **image):
        self.created.append(image)
        return {'id': 'new'}

    def delete_image(self, ident):
        self.created.remove(ident)


class FindTest(testtools.TestCase):

    def test_by_id_and_by_name(self):
        client = ScriptedImages(i=SHOWN)

        self.assertIs(SHOWN, images.find(client, 'i'))
        self.assertIs(SHOWN, images.find(client, 'ubuntu-capi'))

    def test_a_name_of_two_is_none(self):
        client = ScriptedImages(i=SHOWN, j=SHOWN)

        error = self.assertRaises(
            lib_exc.NotFound, images.find, client, 'ubuntu-capi')
        self.assertIn('2 images', str(error))


class PropertiesTest(testtools.TestCase):

    def test_what_people_have_set(self):
        self.assertEqual(
            {'os_distro': 'ubuntu', 'kube_version': 'v1.34.2',
             'img_config_drive': 'mandatory'}, images.properties(SHOWN))


class CreateTest(testtools.TestCase):

    def test_private_with_the_wanted_properties_only(self):
        client, cleanups = ScriptedImages(), []

        images.create(client, lambda *call: cleanups.append(call), CONF,
                      {'os_distro': 'x', 'magnum_distro': None,
                       'magnum_driver': ''})

        created, = client.created
        self.assertRegex(created.pop('name'), '^prefix-image-')
        self.assertEqual(
            {'container_format': 'bare', 'disk_format': 'raw',
             'visibility': 'private', 'os_distro': 'x',
             'magnum_driver': ''}, created)
        self.assertEqual('new', cleanups[0][-1])

    def test_data_make_it_active(self):
        client = ScriptedImages()

        images.create(client, lambda *call: None, CONF, {}, data=b'1')

        self.assertEqual({'new': b'1'}, client.stored)
