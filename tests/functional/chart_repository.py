# SPDX-License-Identifier: Apache-2.0
"""A Helm repository on loopback, with versions of the sandbox's chart."""

import functools
import http.server
import pathlib
import shutil

import fixtures

from magnum_capi import processes
from magnum_capi_tempest import resources
from magnum_capi_tempest import toolchain
from tests.unit import loopback

NAME = 'sandbox-cluster'


class ChartRepository(fixtures.Fixture):
    """Served until the end of the fixture.

    :param charts: versions, each with a function that changes that chart,
        or None: it is called with the chart's folder.
    :ivar url: of the repository.
    """

    def __init__(self, charts):
        self._charts = charts

    def _setUp(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        helm = toolchain.ensure(['helm'])['helm']
        for version, change in self._charts.items():
            chart = folder / version / NAME
            shutil.copytree(resources.find(f'sandbox/charts/{NAME}'), chart)
            if change:
                change(chart)
            processes.run([helm, 'package', chart, '--version', version,
                           '--destination', folder], timeout=60)
        processes.run([helm, 'repo', 'index', folder], timeout=60)
        self.url = loopback.start(
            self, functools.partial(_Handler, directory=folder))


class _Handler(http.server.SimpleHTTPRequestHandler):

    def log_message(self, *args):
        pass
