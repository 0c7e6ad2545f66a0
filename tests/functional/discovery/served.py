# SPDX-License-Identifier: Apache-2.0

"""Run with a cloud's Python: the real Magnum's API behind the filter, served.

Prints the port. Users are as authtoken would leave them: the token is that of
the request, and the catalog in it has the Glance of the command line.
"""

import sys
import tempfile
from wsgiref import simple_server

import application

from magnum_capi.discovery import filter as filter_


def main():
    [glance, *names] = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, \
            application.magnum_api(folder) as app:
        app = filter_.Filter(app, application.catalog(
            {name: ['ubuntu'] for name in names}))

        def authenticated(environ, start_response):
            token = environ.get('HTTP_X_AUTH_TOKEN')
            if token:
                environ['keystone.token_info'] = token_info(glance)
            environ.update(HTTP_X_PROJECT_ID='p', HTTP_X_USER_ID='u',
                           HTTP_X_ROLES='member,reader')
            return app(environ, start_response)
        server = simple_server.make_server('127.0.0.1', 0, authenticated)
        print(server.server_port, flush=True)
        server.serve_forever()


def token_info(glance):
    domain = {'id': 'default', 'name': 'Default'}
    return {'token': {
        'methods': ['password'], 'expires_at': '2999-01-01T00:00:00.000000Z',
        'issued_at': '2020-01-01T00:00:00.000000Z',
        'user': {'id': 'u', 'name': 'u', 'domain': domain},
        'project': {'id': 'p', 'name': 'p', 'domain': domain},
        'roles': [{'id': 'r', 'name': 'member'}],
        'catalog': [{
            'type': 'image', 'name': 'glance', 'id': 'g',
            'endpoints': [
                {'id': interface, 'interface': interface, 'url': url,
                 'region': 'One', 'region_id': 'One'}
                for interface, url in (
                    ('internal', 'http://127.0.0.1:9'), ('public', glance))
            ]}]}}


if __name__ == '__main__':
    main()
