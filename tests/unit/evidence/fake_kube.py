# SPDX-License-Identifier: Apache-2.0

"""A Kubernetes API that serves lists, over real HTTP, without TLS."""

import os
from urllib import parse

import fixtures
import yaml

from magnum_capi_tempest import kubeconfig
from tests.unit import loopback


class FakeKube(fixtures.Fixture):
    """``answers``: path -> (status, body). ``asked``: list of paths.

    ``queries``: list of the query strings, their parts sorted.

    ``kubeconfig`` is the path of a file that leads here.
    """

    def __init__(self, page=None):
        self._page = page

    def _setUp(self):
        self.answers = {}
        self.asked = []
        self.queries = []
        self.url = loopback.start(self, self._handler())
        self.kubeconfig = os.path.join(
            self.useFixture(fixtures.TempDir()).path, 'kubeconfig')
        document = kubeconfig.document(self.url, 'CA', None, None)
        with open(self.kubeconfig, 'w') as f:
            yaml.safe_dump(document, f)

    def serve(self, path, *items):
        """Answer a list request with these objects."""
        self.answers[path] = 200, {'items': list(items)}

    def serve_group(self, group, version, **kinds):
        """Announce a version of an API group; kinds: plural=kind.

        The first one of a group is its preferred version.
        """
        groups = self.answers.setdefault('/apis/', (200, {'groups': []}))[1][
            'groups']
        served = {'version': version}
        known = [g for g in groups if g['name'] == group]
        if known:
            known[0]['versions'].append(served)
        else:
            groups.append({'name': group, 'preferredVersion': served,
                           'versions': [served]})
        self.answers[f'/apis/{group}/{version}'] = 200, {'resources': [
            {'name': plural, 'kind': kind, 'verbs': ['get', 'list']}
            for plural, kind in kinds.items()] + [
            {'name': f'{plural}/status', 'kind': kind, 'verbs': ['get']}
            for plural, kind in kinds.items()]}
        for plural in kinds:
            self.serve(f'/apis/{group}/{version}/{plural}')

    def _handler(self):
        fixture = self

        class Handler(loopback.Handler):

            def do_GET(self):
                url = parse.urlsplit(self.path)
                fixture.asked.append(url.path)
                fixture.queries.append('&'.join(sorted(
                    url.query.split('&'))))
                status, body = fixture.answers.get(
                    url.path, (404, {'message': f'no {url.path}'}))
                if fixture._page and 'items' in body:
                    query = parse.parse_qs(url.query)
                    start = int(query.get('continue', ['0'])[0])
                    end = start + fixture._page
                    more = end < len(body['items'])
                    body = {'items': body['items'][start:end], 'metadata': {
                        'continue': str(end) if more else ''}}
                self.answer(status, body)

        return Handler
