# SPDX-License-Identifier: Apache-2.0

"""A cloud over HTTP: what "magnum-capi tempest init" asks a stranger's for."""

import json

from tests.unit.discovery import test_cloud
from tests.unit import loopback


class _Handler(test_cloud._Handler):

    def do_POST(self):
        body = self.body()
        if self.path == '/v3/auth/tokens':
            self._send(*self.cloud.login(json.loads(body)))
        else:
            self._send(*self.cloud.post(self.path, json.loads(body)))

    def do_DELETE(self):
        self.cloud.deleted.append(self.path)
        self.answer(204)

    def _send(self, status, body):
        self.answer(status, body, **{
            'X-Subject-Token': 'token', **self.cloud.microversions})


class Cloud(test_cloud.FakeCloud):
    """Keystone, Glance, Nova, Neutron and Magnum.

    :ivar drivers: of Magnum; each provides the type of the image.
    :ivar filtered: the discovery filter is in front of Magnum.
    :ivar newest: microversion of Magnum.
    :ivar made: paths of what was created; ``deleted``: of what was deleted.
    """

    def __init__(self, tls=None):
        super().__init__(tls)
        self.drivers = ['k8s_capi_helm_v1', 'k8s_capi_v1']
        self.filtered = False
        self.newest = '1.14'
        self.made, self.deleted = [], []
        self.roles = ['member', 'reader']
        self.images = [test_cloud.image(1, 'ubuntu', os_distro='ubuntu')]
        self.services |= {'identity': '/v3', 'compute': '/compute/v2.1',
                          'network': '/network'}

    def _setUp(self):
        super()._setUp()
        self.url = loopback.start(
            self, type('Handler', (_Handler,), {'cloud': self}), self.tls)
        self.configure(auth=self.auth('alice'))

    def users(self, *names):
        """Write a clouds.yaml with a cloud for each user."""
        self._path.write_text(json.dumps({'clouds': {
            name: {'auth': self.auth(name)} for name in names}}))

    @property
    def microversions(self):
        return {'OpenStack-API-Minimum-Version': 'container-infra 1.1',
                'OpenStack-API-Maximum-Version':
                f'container-infra {self.newest}'}

    def login(self, body):
        status, answer = self.token()
        if status != 201:
            return status, answer
        user = body['auth']['identity'].get('password', {}).get('user', {})
        name = user.get('name', 'alice')
        answer['token']['user'] |= {'id': f'id-{name}', 'name': name}
        return status, answer

    def post(self, path, body):
        status, answer = self._template(body.get('driver'))
        if status == 201:
            self.made.append(f'{path}/{answer["uuid"]}')
        return status, answer

    def _template(self, wanted):
        if self.newest < '1.14' and not self.filtered:
            return 201, test_cloud.template(str(len(self.made)), driver=None)
        if wanted and wanted not in self.drivers:
            return self._refused(f'Cluster driver ({wanted}) not supported')
        if not wanted and self.filtered and len(self.drivers) > 1:
            return self._refused(
                '(vm, ubuntu, kubernetes) is ambiguous: it is provided by '
                f'{", ".join(self.drivers)}. Name one.')
        return 201, test_cloud.template(
            str(len(self.made)), driver=wanted or min(self.drivers))

    def _refused(self, text):
        return 400, {'errors': [{
            'status': 400, 'code': 'client', 'title': text, 'detail': text,
            'links': [], 'request_id': ''}]}

    def get(self, path, query):
        if path in self.refuse:
            return super().get(path, query)
        if path == '/compute/v2.1/flavors/detail':
            return 200, {'flavors': [{'id': 'f', 'name': 'm1.small',
                                      'vcpus': 2, 'ram': 2048}]}
        if path == '/compute/v2.1/os-keypairs':
            return 200, {'keypairs': []}
        if path == '/network/v2.0/networks':
            return 200, {'networks': [{'id': 'n', 'name': 'public'}]}
        if path == '/infra/v1/clusters/detail':
            return 200, {'clusters': self.clusters}
        if path.startswith('/v3/') and path != '/v3/':
            return 403, {'error': {'message': 'Not you.'}}
        return super().get(path, query)
