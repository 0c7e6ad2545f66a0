# SPDX-License-Identifier: Apache-2.0
"""A Helm repository on loopback, with two versions of the sandbox's chart."""

import functools
import http.server
import pathlib
import shutil

import fixtures
import yaml

from magnum_capi import processes
from magnum_capi_tempest import resources
from magnum_capi_tempest import toolchain
from tests.unit import loopback

NAME = 'sandbox-cluster'
OLD, NEW = '0.1.0', '0.2.0'

#: Label of nodes of the newer one. It is part of what nodes are made from, so
#: that a cluster that moves to that chart gets others.
LABEL = 'newer-chart'


class ChartRepository(fixtures.Fixture):
    """Served until the end of the fixture.

    :ivar url: of the repository.
    """

    def _setUp(self):
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        helm = toolchain.ensure(['helm'])['helm']
        newer, served = folder / NAME, folder / 'served'
        shutil.copytree(resources.find(f'charts/{NAME}'), newer)
        _label_nodes(newer / 'values.yaml')
        for chart, version in (
                (resources.find(f'charts/{NAME}'), OLD), (newer, NEW)):
            processes.run([helm, 'package', chart, '--version', version,
                           '--destination', served], timeout=60)
        processes.run([helm, 'repo', 'index', served], timeout=60)
        self.url = loopback.start(
            self, functools.partial(_Handler, directory=served))


class _Handler(http.server.SimpleHTTPRequestHandler):

    def log_message(self, *_args):
        pass


def _label_nodes(path):
    values = yaml.safe_load(path.read_text())
    for machines in 'controlPlane', 'nodeGroupDefaults':
        values[machines]['nodeLabels'][LABEL] = 'true'
    path.write_text(yaml.safe_dump(values))
