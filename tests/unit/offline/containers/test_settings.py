# SPDX-License-Identifier: Apache-2.0

import json
import pathlib

import testtools

from magnum_capi import errors
from tools.offline.containers import layout as layouts
from tools.offline.containers import networks
from tools.offline.containers import settings

LAYOUT = layouts.Layout(pathlib.Path('/state/run'), pathlib.Path('/images'))
NETWORK = networks.parse('10.213.0.0/16')


class LayoutTest(testtools.TestCase):

    def test_unfit_folders(self):
        layouts.check(LAYOUT)
        for folder in ('/run/x', '/var/run/x', '/' + 'x' * 100):
            self.assertRaises(errors.UsageError, layouts.check, layouts.Layout(
                pathlib.Path(folder), LAYOUT.store))
        self.assertRaises(errors.UsageError, layouts.check, layouts.Layout(
            LAYOUT.directory, pathlib.Path('/run/images')))


class DaemonTest(testtools.TestCase):

    def daemon(self, **kwargs):
        return json.loads(settings.daemon(LAYOUT, NETWORK, **kwargs))

    def test_listens_at_its_socket_only(self):
        self.assertEqual(
            ['unix:///state/run/docker.sock'], self.daemon()['hosts'])
