# SPDX-License-Identifier: Apache-2.0

import contextlib
import json
import pathlib
import sqlite3

import fixtures
import testtools

from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import flavors
from magnum_capi_sandbox.cloud import seed
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from tests.unit.sandbox import samples

TYPES = tuple(service.type_ for service in catalog.services())

CELL_0 = '00000000-0000-0000-0000-000000000000'


class ContentTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        layout = layouts.Layout(pathlib.Path('/box'), '127.80')
        # What the program in the cloud's environment reads.
        self.content = json.loads(json.dumps(
            seed.content(layout, samples.PASSWORDS)))

    def test_a_domain_of_trustees_only_where_magnum_makes_some(self):
        self.assertFalse(self.content['trusts'])
        layout = layouts.Layout(pathlib.Path('/box'), '127.80')
        self.assertTrue(seed.content(
            layout, samples.PASSWORDS, trusts=True)['trusts'])

    def test_every_endpoint(self):
        self.assertEqual(set(TYPES),
                         set(self.content['endpoints']))
        self.assertEqual(['magnum', 'http://127.80.0.1:25511/v1'],
                         self.content['endpoints']['container-infra'])

    def test_every_flavor(self):
        self.assertEqual(
            [f.name for f in flavors.FLAVORS],
            [f['name'] for f in self.content['flavors']])

    def test_images_carry_what_drivers_read(self):
        images = self.content['images']
        self.assertEqual({}, images.pop('no-distro'))
        for name, properties in images.items():
            self.assertEqual({'os_distro', 'kube_version'},
                             set(properties), name)

    def test_a_valid_public_key(self):
        kind, key, _ = self.content['public_key'].split()
        self.assertEqual('ssh-ed25519', kind)
        self.assertEqual(68, len(key))


class RelocationTest(testtools.TestCase):
    """With small databases that have the columns of the real ones."""

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path)
        self.layout = layouts.Layout(self.folder, '127.99', 40000)

    def database(self, name, script):
        with contextlib.closing(
                sqlite3.connect(self.folder / name)) as connection:
            connection.executescript(script)

    def rows(self, name, query):
        with contextlib.closing(
                sqlite3.connect(self.folder / name)) as connection:
            return connection.execute(query).fetchall()

    def url(self, name):
        return f'sqlite:///{self.folder}/{name}'

    def relocate(self, kind=infrastructure.MEMORY, public=False):
        for url, statement, parameters in seed.relocation(
                self.layout, self.url, self.folder / 'images', kind, public):
            path = url.removeprefix('sqlite:///')
            with contextlib.closing(
                    sqlite3.connect(path)) as connection, connection:
                connection.execute(statement, parameters)

    def make(self):
        self.database('keystone', '''
            CREATE TABLE service (id, type);
            CREATE TABLE endpoint (id, service_id, interface, url);
            ''')
        for kind in (*TYPES, 'foreign'):
            self.database('keystone', f'''
                INSERT INTO service VALUES ('s-{kind}', '{kind}');
                INSERT INTO endpoint VALUES
                    ('p-{kind}', 's-{kind}', 'public', 'http://old'),
                    ('i-{kind}', 's-{kind}', 'internal', 'http://old');
                ''')
        self.database('nova_api', f'''
            CREATE TABLE cell_mappings (uuid, database_connection, name);
            INSERT INTO cell_mappings VALUES
                ('{CELL_0}', 'sqlite:///old', 'cell0');
            INSERT INTO cell_mappings VALUES ('another', 'kept', 'x');
            ''')
        self.database('glance', '''
            CREATE TABLE image_locations (image_id, value);
            INSERT INTO image_locations VALUES ('1a', 'file:///old/1a');
            INSERT INTO image_locations VALUES ('2b', 'file:///old/2b');
            ''')

    def test_catalog(self):
        self.make()
        self.relocate()
        wanted = {f's-{kind}': self.layout.url(kind)
                  for kind in TYPES} | {
                      's-foreign': 'http://old'}
        for interface in ('public', 'internal'):
            self.assertEqual(wanted, dict(self.rows(
                'keystone', 'SELECT service_id, url FROM endpoint '
                f"WHERE interface = '{interface}'")))

    def test_catalog_for_pods(self):
        self.make()
        self.relocate(public=True)
        for interface, url in (('public', self.layout.public_url),
                               ('internal', self.layout.url)):
            self.assertEqual(
                {f's-{kind}': url(kind) for kind in TYPES} | {
                    's-foreign': 'http://old'},
                dict(self.rows(
                    'keystone', 'SELECT service_id, url FROM endpoint '
                    f"WHERE interface = '{interface}'")))

    def test_cell_0(self):
        self.make()
        self.relocate()
        self.assertEqual(
            {CELL_0: self.url('nova_cell0'), 'another': 'kept'},
            dict(self.rows('nova_api', 'SELECT uuid, database_connection '
                           'FROM cell_mappings')))

    def test_external_network(self):
        self.make()
        self.database('neutron', """
            CREATE TABLE subnets (id, name, cidr, gateway_ip);
            INSERT INTO subnets VALUES
                ('p', 'public-subnet', '198.18.0.0/21', '198.18.0.1'),
                ('x', 'another', '10.0.0.0/24', '10.0.0.1');
            CREATE TABLE ipallocationpools (subnet_id, first_ip, last_ip);
            INSERT INTO ipallocationpools VALUES
                ('p', '198.18.0.2', '198.18.7.254'),
                ('x', '10.0.0.2', '10.0.0.254');
            CREATE TABLE ipamsubnets (id, neutron_subnet_id);
            INSERT INTO ipamsubnets VALUES ('ip', 'p'), ('ix', 'x');
            CREATE TABLE ipamallocationpools (
                ipam_subnet_id, first_ip, last_ip);
            INSERT INTO ipamallocationpools VALUES
                ('ip', '198.18.0.2', '198.18.7.254'),
                ('ix', '10.0.0.2', '10.0.0.254');
            """)
        self.relocate(infrastructure.OPENSTACK)
        self.assertEqual('198.18.176.0/21', self.layout.external_network)
        self.assertEqual(
            [('p', '198.18.176.0/21', '198.18.176.1',
              '198.18.176.2', '198.18.183.254'),
             ('x', '10.0.0.0/24', '10.0.0.1', '10.0.0.2', '10.0.0.254')],
            self.rows('neutron', """
                SELECT id, cidr, gateway_ip, first_ip, last_ip FROM subnets
                JOIN ipallocationpools ON id = subnet_id ORDER BY id
                """))
        self.assertEqual(
            [('ip', '198.18.176.2', '198.18.183.254'),
             ('ix', '10.0.0.2', '10.0.0.254')],
            self.rows('neutron', 'SELECT * FROM ipamallocationpools'))

    def test_images(self):
        self.make()
        self.relocate()
        self.assertEqual(
            {'1a': f'file://{self.folder}/images/1a',
             '2b': f'file://{self.folder}/images/2b'},
            dict(self.rows('glance', 'SELECT * FROM image_locations')))

    def test_twice_is_once(self):
        self.make()
        self.relocate()
        self.relocate()
        self.assertEqual(
            [(f'file://{self.folder}/images/1a',)], self.rows(
                'glance', 'SELECT value FROM image_locations '
                "WHERE image_id = '1a'"))

    def test_mariadb_has_another_way_to_join_text(self):
        """There, || is a logical OR."""
        statements = seed.relocation(
            self.layout, lambda name: f'mysql+pymysql://x/{name}', '/i')
        for _, statement, _ in statements:
            self.assertNotIn('||', statement)
        self.assertIn('CONCAT(', statements[-1][1])
