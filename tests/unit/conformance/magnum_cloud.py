# SPDX-License-Identifier: Apache-2.0

"""A cloud without Keystone, whose Magnum only knows some clusters."""

import pathlib

import fixtures
import yaml

from tests.unit import loopback

#: Its name in clouds.yaml.
NAME = 'mine'


class Cloud(fixtures.Fixture):
    """Sets ``OS_CLOUD``.

    :param clusters: names of the clusters.
    :ivar asked: "METHOD /path" of each request.
    """

    def __init__(self, *clusters):
        super().__init__()
        self.clusters, self.asked = clusters, []

    def _setUp(self):
        url = loopback.start(
            self, type('Handler', (_Handler,), {'cloud': self}))
        file = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path, 'clouds.yaml')
        file.write_text(yaml.safe_dump({'clouds': {NAME: {
            'auth_type': 'none', 'auth': {'endpoint': url},
            'container_infrastructure_management_endpoint_override':
                f'{url}/v1'}}}))
        for name, value in (('OS_CLIENT_CONFIG_FILE', str(file)),
                            ('OS_CLOUD', NAME)):
            self.useFixture(fixtures.EnvironmentVariable(name, value))


class _Handler(loopback.Handler):

    cloud = None

    def do_GET(self):
        self.cloud.asked.append(f'GET {self.path}')
        name = self.path.rpartition('/')[2]
        if self.path.rstrip('/') == '/v1':
            self.answer(200, {'id': 'v1', 'status': 'CURRENT', 'links': [
                {'rel': 'self', 'href': self.path}]})
        elif name in self.cloud.clusters:
            self.answer(200, {'uuid': name, 'name': name,
                              'api_address': 'https://192.0.2.1:6443'})
        else:
            self.answer(404, {'errors': [{'title': f'no cluster {name}'}]})
