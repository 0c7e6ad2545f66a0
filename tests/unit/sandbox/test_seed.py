# SPDX-License-Identifier: Apache-2.0

import contextlib
import pathlib
import sqlite3

import fixtures
import testtools

from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import seed
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts

TYPES = tuple(service.type_ for service in catalog.services())

CELL_0 = '00000000-0000-0000-0000-000000000000'


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

    def test_mariadb_has_another_way_to_join_text(self):
        """There, || is a logical OR."""
        statements = seed.relocation(
            self.layout, lambda name: f'mysql+pymysql://x/{name}', '/i')
        for _, statement, _ in statements:
            self.assertNotIn('||', statement)
        self.assertIn('CONCAT(', statements[-1][1])
