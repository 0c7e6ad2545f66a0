# SPDX-License-Identifier: Apache-2.0

"""What is asked of Zuul's web server, by its public API."""

import json
import urllib.error
import urllib.parse
import urllib.request

from magnum_capi import errors
from magnum_capi import processes
from tests.zuul import site as sites


class Client:
    """The API of the one tenant.

    :param site: site.Site.
    """

    def __init__(self, site):
        self._site = site
        self._base = f'{site.url}/api/tenant/{sites.TENANT}'

    def get(self, path, **query):
        """What is there, from JSON.

        :raises EnvironmentProblem: Zuul refuses to answer.
        """
        return self._ask(urllib.request.Request(
            f'{self._base}/{path}?{urllib.parse.urlencode(query)}'))

    def _ask(self, request):
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.load(response)
        except urllib.error.HTTPError as e:
            raise errors.EnvironmentProblem(
                f'Zuul answers {e.code}', where=request.full_url,
                last_seen=e.read(300).decode(errors='replace')) from e

    def frozen(self, pipeline) -> dict[str, dict]:
        """Jobs of a pipeline as they would be run, by name."""
        where = f'pipeline/{pipeline}/project/{sites.OURS}/branch/master'
        return {job['name']: self.get(f'{where}/freeze-job/{job["name"]}')
                for job in self.get(f'{where}/freeze-jobs')}

    def enqueue(self, old, new):
        """Start the jobs of "manual" that the files of a change concern."""
        token = processes.run(
            [self._site.zuul / 'bin/zuul-admin', '-c', self._site.conf,
             'create-auth-token', '--auth-config', 'operator', '--tenant',
             sites.TENANT, '--user', 'run', '--expires-in', '86400'],
            timeout=120).strip()
        self._ask(urllib.request.Request(
            f'{self._base}/project/{sites.OURS}/enqueue', method='POST',
            headers={'Authorization': token,
                     'Content-Type': 'application/json'},
            data=json.dumps({
                'pipeline': 'manual', 'ref': 'refs/heads/master',
                'oldrev': old, 'newrev': new}).encode()))
