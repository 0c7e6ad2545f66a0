# SPDX-License-Identifier: Apache-2.0
"""Magnum's API as the filter sees it, scripted: a WSGI application.

What it does was compared with Magnum 23.0.0: distro of os_distro, uuid or
name in paths, 404 for what is not there, JSON patches, status codes.
"""

import io
import json
import uuid

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import filter as filter_
from magnum_capi.discovery import images
from magnum_capi.discovery import model

HELM, ALIAS, OFF, BETA = 'helm_v1', 'alias_v1', 'off_v1', 'beta_v1'


def cluster_type(distro):
    return model.ClusterType('vm', distro, 'kubernetes')


def catalog(**policy):
    """Two drivers for ubuntu, one of them the only one for flatcar."""
    ubuntu, flatcar = map(cluster_type, ('ubuntu', 'flatcar'))
    return model.Catalog(
        (model.Offer(HELM, (ubuntu, flatcar)), model.Offer(ALIAS, (ubuntu,)),
         model.Offer(OFF, (ubuntu, flatcar)),
         model.Offer(BETA, (flatcar,), beta=True)),
        model.Policy(disabled_drivers=frozenset((OFF,)), **policy))


class Images:
    """Images by id or name; an error is raised."""

    def __init__(self):
        self.known = {
            'ubuntu': {'os_distro': 'ubuntu'},
            'flatcar': {'os_distro': 'flatcar'},
            'helm': {'os_distro': 'ubuntu', 'magnum_driver': HELM},
            'renamed': {'os_distro': 'fedora', 'magnum_distro': 'flatcar'},
        }
        self.read_ = []

    def read(self, ident):
        self.read_.append(ident)
        found = self.get(ident) or images.NotVisible('No such image')
        if isinstance(found, Exception):
            raise found
        return images.Image(self.id(ident), model.ImageProperties.of(found))

    @staticmethod
    def id(ident):
        """The id of an image by its id or name."""
        return f'id-{ident.removeprefix("id-")}'

    def get(self, ident):
        return self.known.get(ident) or self.known.get(
            ident.removeprefix('id-'), {})


class Magnum:
    """Magnum's API, and the calls of the filter into its process.

    :ivar requests: (method, path, query, body) in their order.
    :ivar denied: what the user may not do, as Magnum's policy names it.
    :ivar users: tokens that the calls were made with.
    :ivar broken: status or error by (method, collection), or error by method
        of this class.
    """

    def __init__(self):
        self.images = Images()
        self.templates = {}
        self.clusters = {}
        self.requests = []
        self.environs = []
        self.broken = {}
        self.denied = ()
        self.users = []

    def add_template(self, name='t', **fields):
        """Put a template into it, past the filter; returns its uuid."""
        made = {'uuid': str(uuid.uuid4()), 'name': name, 'driver': HELM,
                'server_type': 'vm', 'coe': 'kubernetes',
                'cluster_distro': 'ubuntu', 'image_id': 'ubuntu'}
        self.templates[made['uuid']] = made | fields
        return made['uuid']

    def add_cluster(self, template, name='c'):
        made = {'uuid': str(uuid.uuid4()), 'name': name,
                'cluster_template_id': template}
        self.clusters[made['uuid']] = made
        return made['uuid']

    def asked(self, method):
        """(path, body) of the requests with a method."""
        return [(path, body) for m, path, _, body in self.requests
                if m == method]

    def __call__(self, environ, start_response):
        request = webob.Request(environ)
        parts = [p for p in request.path_info.split('/') if p][1:]
        body = json.loads(request.body) if request.body else None
        self.requests.append(
            (request.method, request.path_info, request.query_string, body))
        self.environs.append(dict(environ))
        broken = self.broken.get((request.method, parts[0]))
        if isinstance(broken, Exception):
            raise broken
        answer = (self._error(broken, 'broken') if broken
                  else self._answer(request.method, parts, body))
        return answer(environ, start_response)

    def calls(self, environ):
        """As discovery.magnum.Magnum, for one request."""
        self.users.append(environ['HTTP_X_AUTH_TOKEN'])
        return self

    def permit(self, action):
        if action in self.denied:
            raise answers.Refused(403, 'The policy does not allow this.')

    def image(self, ident):
        return self.images.read(ident)

    def template_to_create_with(self, ident):
        found = [one for one in self.templates.values()
                 if ident in (one['uuid'], one['name'])
                 and not one.get('hidden')]
        if not found:
            raise answers.Refused(404, f'{ident} could not be found.')
        return dict(found[0])

    template_to_upgrade_to = template_to_create_with

    def template_to_update(self, ident):
        self.permit('clustertemplate:update')
        return self.template_to_create_with(ident)

    def cluster_to_upgrade(self, ident):
        self.permit('cluster:upgrade')
        for cluster in self.clusters.values():
            if ident in (cluster['uuid'], cluster['name']):
                template = self.templates.get(cluster['cluster_template_id'])
                if template:
                    return cluster['uuid'], template
        raise answers.Refused(404, f'{ident} could not be found.')

    def set_decided(self, uuid, driver, distro):
        self._fail('set_decided')
        self.templates[uuid].update(driver=driver, cluster_distro=distro)

    def delete_template(self, uuid):
        self._fail('delete_template')
        del self.templates[uuid]

    def _fail(self, what):
        if what in self.broken:
            raise self.broken[what]

    def _answer(self, method, parts, body):
        match method, *parts[1:]:
            case ['POST']:
                return self._created(parts[0], body)
            case ['POST', ident, 'actions', 'upgrade']:
                return self._json(202, {'uuid': ident})
        found = self.templates.get(parts[1])
        if not found:
            return self._error(404, f'{parts[1]} could not be found.')
        for op in body:
            found[op['path'][1:]] = op.get('value')
        return self._json(200, found)

    def _created(self, collection, body):
        if collection == 'clusters':
            return self._json(202, {'uuid': str(uuid.uuid4())})
        image = self.images.get(body.get('image_id') or '')
        if isinstance(image, Exception) or not image.get('os_distro'):
            return self._error(400, 'The image is none.')
        fields = body | {'cluster_distro': image['os_distro']}
        fields.setdefault('driver', ALIAS)
        made = self.add_template(**fields)
        answer = self._json(201, self.templates[made])
        answer.headers['Location'] = (
            f'http://magnum.example/v1/clustertemplates/{made}')
        return answer

    def _json(self, status, found):
        return webob.Response(status=status, json_body=found)

    def _error(self, status, detail):
        return self._json(status, {'errors': [{
            'request_id': '', 'code': 'client', 'status': status,
            'title': detail, 'detail': detail, 'links': []}]})


def filtered(magnum, drivers=None):
    """Magnum behind the filter."""
    return filter_.Filter(magnum, drivers or catalog(), magnum.calls)


def send(app, method, path, body=None, **environ):
    """The answer to a request with JSON, as authtoken leaves it."""
    environ = {'openstack.request_id': 'req-1', 'HTTP_X_AUTH_TOKEN': 'secret',
               'HTTP_OPENSTACK_API_VERSION': 'container-infra 1.10',
               'keystone.token_info': {'token': {}}} | environ
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = webob.Request.blank(path, method=method)
    request.environ.update({
        'CONTENT_TYPE': 'application/json',
        'CONTENT_LENGTH': '0' if body is None else str(len(raw)),
        'wsgi.input': io.BytesIO(b'' if body is None else raw)} | environ)
    return request.get_response(app)


def detail(answer):
    """The text of an error answer."""
    [error] = answer.json['errors']
    return error['detail']
