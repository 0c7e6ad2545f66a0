# SPDX-License-Identifier: Apache-2.0


import pathlib
from unittest import mock

from magnum_capi import errors
from magnum_capi_tempest.toolchain import go
from tests.unit.offline.images import base
from tools.offline.images import archive
from tools.offline.images import assemble
from tools.offline.images import layer

BUSYBOX = b"""#!/bin/sh
echo busybox; echo cat; echo sh
"""


class TestEntries(base.TestCase):

    def setUp(self):
        super().setUp()
        file = self.folder() / 'debian.tar'
        layer.write(file, [
            layer.Entry('/bin', link='usr/bin'),
            layer.Entry('/usr/bin/busybox', BUSYBOX),
            layer.Entry('/usr/bin/bash-static', b'bash')])
        self.debian = archive.layer(file)

    def entries(self, **fields):
        found = layer.ordered(assemble.entries(
            base.recipe(**fields), {}, lambda name: self.debian,
            self.folder()))
        return {e.path: e for e in found}

    def test_applets_are_busybox_and_a_real_shell(self):
        found = self.entries(applets=True)

        self.assertEqual(
            ('busybox', 'bash', b'bash'),
            (found['bin/cat'].link, found['bin/sh'].link,
             found['bin/bash'].content))
        self.assertEqual({'bin', 'bin/busybox', 'bin/cat', 'bin/sh',
                          'bin/bash'}, set(found))

    def test_files_of_a_go_module(self):
        module = self.folder()
        (module / 'certificate').write_bytes(b'CERT')
        with mock.patch.object(go, 'module_files', return_value=module):
            found = self.entries(sources_of={'/c': 'clusterctl:certificate'})
            error = self.assertRaises(
                errors.EnvironmentProblem, self.entries,
                sources_of={'/c': 'clusterctl:gone'})

        self.assertEqual(b'CERT', found['c'].content)
        self.assertIn('gone', str(error))

    def test_a_missing_file_of_a_layer_is_reported(self):
        error = self.assertRaises(
            errors.EnvironmentProblem, self.entries,
            extract={'/c': 'debian:/etc/none'})

        self.assertIn('/etc/none', str(error))
        self.assertEqual(self.debian.file, pathlib.Path(error.where))
