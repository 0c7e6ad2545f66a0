# SPDX-License-Identifier: Apache-2.0
"""The first request to each service: proof that it works, and a warm-up.

A service's first request is slow because it loads Keystone's middleware and
the policies; and a threaded Neutron may find nothing in a second request that
arrives meanwhile. So the sandbox sends the first request, not its user.
"""

import concurrent.futures

import requests

from magnum_capi import errors
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import hints
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import rest


def first_requests(layout: layouts.Layout, password: str,
                   kind: str = infrastructure.MEMORY) -> None:
    """Ask every service for a list, as the administrator.

    :param password: of the user admin.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :raises EnvironmentProblem: a service does not answer as it should.
    """
    services = catalog.services(kind)
    try:
        admin = rest.User(layout, password, 'admin')

        def ask(service: catalog.Service) -> None:
            admin.request(
                service.type_, 'GET', service.first).raise_for_status()

        with concurrent.futures.ThreadPoolExecutor(len(services)) as pool:
            list(pool.map(ask, services))
    except requests.RequestException as e:
        text = e.response.text[:300] if e.response is not None else ''
        raise errors.EnvironmentProblem(
            'A service of the sandbox does not work',
            where=e.request.url if e.request else layout.auth_url,
            last_seen=f'{e} {text}'.strip(),
            hint='See its log: '
                 f'{hints.command("logs", layout.directory)}') from e
