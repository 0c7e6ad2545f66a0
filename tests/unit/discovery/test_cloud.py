# SPDX-License-Identifier: Apache-2.0

"""openstacksdk itself, against a cloud of three services in one thread."""

import json
import pathlib
import urllib.parse

import fixtures
import testtools

from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import cloud
from magnum_capi import errors
from magnum_capi_tempest.management import pki
from tests.unit import loopback

ID = '11111111-1111-4111-8111-11111111111{}'


class _Handler(loopback.Handler):

    def do_POST(self):
        self.body()
        self._send(*self.cloud.token())

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        self._send(*self.cloud.get(parts.path, query))

    def _send(self, status, body):
        self.answer(status, body, **{'X-Subject-Token': 'token'})


class FakeCloud(fixtures.Fixture):
    """Keystone, Glance and Magnum; also writes clouds.yaml.

    :param tls: folder of the certificate of its services, if any.
    :ivar refuse: {path: status} of requests to refuse.
    """

    def __init__(self, tls=None):
        self.tls = tls
        self.images = []
        self.hidden = []
        self.templates = []
        self.clusters = []
        self.roles = ['member']
        self.services = {'image': '/image', 'container-infra': '/infra/v1'}
        self.refuse = {}
        self.asked = []
        self.page = 2

    def _setUp(self):
        self.url = loopback.start(
            self, type('Handler', (_Handler,), {'cloud': self}), self.tls)
        folder = self.useFixture(fixtures.TempDir()).path
        self._path = pathlib.Path(folder, 'clouds.yaml')
        self.configure(auth=self.auth('alice'))
        for name, value in (('OS_CLIENT_CONFIG_FILE', str(self._path)),
                            ('OS_CLOUD', None), ('OS_CACERT', None),
                            ('NO_PROXY', '127.0.0.1'),
                            ('no_proxy', '127.0.0.1')):
            self.useFixture(fixtures.EnvironmentVariable(name, value))

    def auth(self, name):
        """What clouds.yaml has about a user."""
        return {'auth_url': f'{self.url}/v3', 'username': name,
                'password': 'secret', 'project_name': 'demo',
                'user_domain_name': 'Default',
                'project_domain_name': 'Default'}

    def configure(self, **settings):
        """Of the cloud in clouds.yaml."""
        # JSON is YAML.
        self._path.write_text(json.dumps({'clouds': {'fake': settings}}))

    def token(self):
        if '/v3/auth/tokens' in self.refuse:
            return self.refuse['/v3/auth/tokens'], {
                'error': {'message': 'No such user.'}}
        return 201, {'token': {
            'expires_at': '2099-01-01T00:00:00.000000Z', 'methods': [],
            'user': {'id': 'u', 'name': 'alice',
                     'domain': {'id': 'default', 'name': 'Default'}},
            'project': {'id': 'p', 'name': 'demo',
                        'domain': {'id': 'default', 'name': 'Default'}},
            'roles': [{'id': r, 'name': r} for r in self.roles],
            'catalog': [{'type': kind, 'id': kind, 'name': kind, 'endpoints': [
                {'id': kind, 'interface': 'public', 'region': 'R',
                 'region_id': 'R', 'url': self.url + path}]}
                for kind, path in self.services.items()]}}

    def get(self, path, query):
        self.asked.append((path, query))
        if path in self.refuse:
            return self.refuse[path], {'message': 'Not you.'}
        if path == '/infra/v1/clustertemplates':
            return 200, {'clustertemplates': self._page(
                self.templates, query, 'uuid'), 'next': 'http://127.0.0.2:1/'}
        if path == '/image/v2/images':
            hidden = query.get('os_hidden', 'False') == 'True'
            found = [i for i in (self.hidden if hidden else self.images)
                     if query.get('name') in (None, i['name'])]
            page = self._page(found, query, 'id')
            body = {'images': page}
            if len(page) == self.page:
                body['next'] = '/v2/images?' + urllib.parse.urlencode(
                    query | {'marker': page[-1]['id']})
            return 200, body
        for kind in ('clustertemplates', 'clusters'):
            if path.startswith(f'/infra/v1/{kind}/'):
                ident = urllib.parse.unquote(path.rpartition('/')[2])
                found = [each for each in getattr(
                    self, kind.removeprefix('cluster'), self.clusters)
                    if ident in (each['uuid'], each['name'])]
                return (404, {}) if not found else (200, found[0]) if len(
                    found) == 1 else (409, {'errors': [
                        {'detail': 'Multiple exist with the name'}]})
        for image in self.images + self.hidden:
            if path == f'/image/v2/images/{image["id"]}':
                return 200, image
        if path.startswith('/image/v2/images/'):
            return 404, {'message': 'No such image.'}
        return 200, self._versions(path)

    def _page(self, found, query, key):
        keys = [each[key] for each in found]
        marker = query.get('marker')
        start = keys.index(marker) + 1 if marker else 0
        return found[start:start + self.page]

    def _versions(self, path):
        version = {'/v3': ('v3.14', '/v3'), '/image': ('v2.16', '/image/v2')}
        name, where = version.get(path.rstrip('/'), ('v1', '/infra/v1'))
        one = {'id': name, 'status': 'CURRENT', 'max_version': '1.14',
               'links': [{'rel': 'self', 'href': f'{self.url}{where}/'}]}
        return {'version': one} if path.startswith('/v3') else {
            'versions': [one]}


def image(number, name='', **properties):
    return {'id': ID.format(number), 'name': name or f'i{number}',
            'status': 'active', **properties}


def template(name, **fields):
    return {'uuid': f'u-{name}', 'name': name, 'image_id': ID.format(1),
            'server_type': 'vm', 'coe': 'kubernetes',
            'cluster_distro': 'ubuntu', 'driver': 'd', 'project_id': 'p',
            **fields}


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.fake = self.useFixture(FakeCloud())

    def problem(self, function, *args, kind=errors.EnvironmentProblem):
        e = self.assertRaises(kind, function, *args)
        self.assertNotIn('\n', str(e))
        self.assertNotIn('secret', str(e))
        return str(e)


class ReadTest(_Base):

    def test_images_of_all_pages(self):
        self.fake.images = [
            image(1, os_distro='ubuntu', magnum_driver=' d ',
                  magnum_distro='', os_version='24.04'),
            image(2), image(3), image(4), image(5, os_distro='debian')]
        found = cloud.read('fake').images
        self.assertEqual(
            seen.Image(ID.format(1), 'i1', '', 'ubuntu', ' d '), found[0])
        self.assertEqual(seen.Image(ID.format(5), 'i5', os_distro='debian'),
                         found[4])
        self.assertEqual(5, len(found))

    def test_what_is_asked(self):
        cloud.read('fake')
        self.assertEqual(
            {'/image/v2/images': '1000', '/infra/v1/clustertemplates': '1000'},
            {path: query['limit'] for path, query in self.fake.asked
             if 'limit' in query})
        # Also images that others share.
        self.assertIn('all', [query.get('visibility') for path, query
                              in self.fake.asked
                              if path == '/image/v2/images'])

    def test_templates_of_all_pages(self):
        """Not by Magnum's links, which may lead to another host."""
        self.fake.images = [image(1)]
        self.fake.templates = [template('a'), template('b', driver=None),
                               template('c', cluster_distro=None)]
        found = cloud.read('fake').templates
        self.assertEqual(
            (seen.Template('u-a', 'a', ID.format(1), 'vm', 'kubernetes',
                           'ubuntu', 'd'), None, ''),
            (found[0], found[1].driver, found[2].cluster_distro))

    def test_a_magnum_that_does_not_know_markers(self):
        self.fake.templates = [template('a'), template('b')]
        self.fake._page = lambda found, query, key: found

        self.assertEqual(
            {'u-a', 'u-b'}, {t.uuid for t in cloud.read('fake').templates})

    def test_hidden_image_of_a_template(self):
        self.fake.hidden = [image(1, 'x', os_distro='ubuntu'), image(2, 'y')]
        for reference in (ID.format(1), 'x'):
            self.fake.templates = [template('a', image_id=reference)]
            found = cloud.read('fake')
            self.assertEqual('ubuntu', found.image(reference).os_distro)
            self.assertEqual(1, len(found.images))
        self.assertNotIn('name', {key for _, query in self.fake.asked
                                  for key in query})

    def test_image_that_has_gone(self):
        self.fake.templates = [template('a'), template('b', image_id='../x')]
        found = cloud.read('fake')
        self.assertIsNone(found.image(ID.format(1)))
        # What is no identifier never gets into a path.
        self.assertNotIn('x', ''.join(path for path, _ in self.fake.asked
                                      if path.startswith('/image')))

    def test_image_that_is_refused(self):
        self.fake.templates = [template('a')]
        self.fake.refuse = {f'/image/v2/images/{ID.format(1)}': 403}
        self.assertEqual((), cloud.read('fake').images)

    def test_who_looked(self):
        for roles, everything, text in (
                (['member'], False, 'of the project demo or public, as seen '
                                    'by alice'),
                (['member', 'admin'], True, 'of all projects, as seen by '
                                            'alice (administrator)')):
            self.fake.roles = roles
            found = cloud.read('fake')
            self.assertEqual(
                (f'images: 0, cluster templates: 0; {text}', everything),
                (found.who, found.everything))


class FindImageTest(_Base):

    def setUp(self):
        super().setUp()
        self.fake.images = [image(1, 'x', os_distro='ubuntu'),
                            image(2, 'twin'), image(3, 'twin')]
        # As Magnum and the filter do, if no other has the name.
        self.fake.hidden = [image(4, 'old'), image(5, 'x')]

    def test_one(self):
        for reference, number in (('x', 1), (ID.format(1), 1), ('old', 4),
                                  (ID.format(4), 4)):
            found = cloud.find_image('fake', reference)
            self.assertEqual(ID.format(number), found.id)
        self.assertEqual('ubuntu', cloud.find_image('fake', 'x').os_distro)

    def test_none(self):
        for name in ('y', ID.format(9), '../images', 'a/b'):
            self.assertIn(f"no image '{name}'", self.problem(
                cloud.find_image, 'fake', name, kind=errors.UsageError))

    def test_a_name_that_is_a_query_to_glance(self):
        asked = self.fake.get
        self.fake.get = lambda path, query: asked(path, {
            key: value for key, value in query.items() if key != 'name'})
        for name in ('in:x,y', 'zz:x'):
            self.assertIn(f"no image '{name}'", self.problem(
                cloud.find_image, 'fake', name, kind=errors.UsageError))

    def test_two_of_one_name(self):
        self.assertIn('Several images have the name', self.problem(
            cloud.find_image, 'fake', 'twin', kind=errors.UsageError))


class ErrorsTest(_Base):

    def test_refusals(self):
        login, images = '/v3/auth/tokens', '/image/v2/images'
        templates = '/infra/v1/clustertemplates'
        for path, status, said in (
                (login, 401, 'does not accept this user'),
                (login, 403, 'does not allow'),
                (login, 500, 'cannot be read'),
                (templates, 403, 'does not allow'),
                (images, 500, 'cannot be read')):
            self.fake.refuse = {path: status}
            self.assertIn(said, self.problem(cloud.read, 'fake'))

    def test_a_cloud_that_is_not_described(self):
        self.assertIn('nope was not found. Check', self.problem(
            cloud.read, 'nope', kind=errors.UsageError))
        self.fake.configure(auth_type='none', auth={
            'endpoint': f'{self.fake.url}/image'})
        self.assertIn('auth_type', self.problem(
            cloud.read, 'fake', kind=errors.UsageError))

    def test_services_that_are_missing(self):
        for service, name in (('container-infra', 'Magnum'),
                              ('image', 'Glance')):
            del self.fake.services[service]
            self.assertIn(f'{name} is not in the catalog', self.problem(
                cloud.read, 'fake'))


class PrivateAuthorityTest(_Base):
    """A cloud whose certificate a private authority signed."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('cloud', 'stranger'):
            pki.make_server(folder / name, '127.0.0.1')
        self.authority = str(folder / 'cloud/ca.crt')
        self.stranger = str(folder / 'stranger/ca.crt')
        self.fake = self.useFixture(FakeCloud(folder / 'cloud'))
        self.fake.images = [image(1, 'x', os_distro='ubuntu')]

    def configure(self, cacert=None, variable=None):
        """Name the authority in clouds.yaml, in OS_CACERT, or nowhere."""
        self.fake.configure(auth=self.fake.auth('alice'), cacert=cacert)
        self.useFixture(fixtures.EnvironmentVariable('OS_CACERT', variable))

    def test_it_is_named(self):
        for cacert, variable in ((self.authority, None),
                                 (None, self.authority),
                                 # As with the command "openstack".
                                 (self.stranger, self.authority)):
            self.configure(cacert, variable)
            self.assertEqual(
                'ubuntu', cloud.find_image('fake', 'x').os_distro)

    def test_another_one_is_named_or_none(self):
        for cacert, variable in ((None, None), (self.stranger, None),
                                 (self.authority, self.stranger)):
            self.configure(cacert, variable)
            said = self.problem(cloud.read, 'fake')
            self.assertIn('TLS to the cloud fails (fake)', said)
            self.assertIn('last seen: certificate verify failed', said)
            self.assertIn(f'at {self.fake.url}', said)
            self.assertIn('"cacert" in clouds.yaml, or OS_CACERT', said)

    def test_a_server_without_tls(self):
        plain = self.useFixture(FakeCloud())
        plain.url = plain.url.replace('http:', 'https:')
        plain.configure(auth=plain.auth('alice'))
        self.assertIn('TLS to the cloud fails (fake); last seen: ',
                      self.problem(cloud.read, 'fake'))

    def test_a_file_that_is_none(self):
        self.configure('/nowhere/ca.crt')
        said = self.problem(cloud.read, 'fake', kind=errors.UsageError)
        self.assertIn('cannot be read (fake)', said)
        self.assertIn('/nowhere/ca.crt', said)
        self.configure(str(self.fake._path))
        self.assertIn('no certificate or crl found', self.problem(
            cloud.read, 'fake'))


class StoredTest(_Base):

    def setUp(self):
        super().setUp()
        self.fake.templates = [
            template('new', uuid='u-a'), template('two', uuid='u-b'),
            template('two', uuid='u-c'), template('old', driver=None)]
        self.fake.clusters = [{
            'uuid': 'u-1', 'name': 'mine', 'cluster_template_id': 'u-old',
            'status': 'CREATE_COMPLETE'}]

    def test_template(self):
        for reference in ('u-a', 'new'):
            found = cloud.find_template('fake', reference)
            self.assertEqual(
                ('u-a', 'new', 'd', 'vm', 'ubuntu', 'kubernetes'),
                tuple(found[name] for name in (
                    'uuid', 'name', 'driver', 'server_type',
                    'cluster_distro', 'coe')))

    def test_several_have_the_name(self):
        e = self.assertRaises(errors.UsageError, cloud.find_template,
                              'fake', 'two')
        self.assertIn('Give the uuid', str(e))

    def test_none(self):
        for find in cloud.find_template, cloud.find_cluster:
            e = self.assertRaises(errors.UsageError, find, 'fake', 'x/y')
            self.assertIn("'x/y'", e.what)

    def test_cluster_and_its_template(self):
        found, of = cloud.find_cluster('fake', 'mine')
        self.assertEqual(('u-1', 'mine'), (found['uuid'], found['name']))
        self.assertEqual(('u-old', None), (of['uuid'], of['driver']))

    def test_a_cloud_without_glance(self):
        del self.fake.services['image']
        self.assertEqual(
            'u-a', cloud.find_template('fake', 'new')['uuid'])
