# SPDX-License-Identifier: Apache-2.0

"""The images of a run, compared with Kubernetes' own code."""

import json
import pathlib
import re
import sys

import fixtures
import testtools

from magnum_capi import processes
from magnum_capi_tempest.conformance import lists
from magnum_capi_tempest.conformance.mirroring import plan
from magnum_capi_tempest.conformance.mirroring import suite
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from tests.functional import boxes

#: Prints the images that the tests pull, given a file with a mirror.
MAIN = '''package main

import (
\t"fmt"

\t"mirror/image"
)

func main() {
\tfor _, config := range image.GetImageConfigs() {
\t\tfmt.Println(config.GetE2EImage())
\t}
}
'''
#: Replaces the images of CSI drivers, which need half of Kubernetes.
CSI = '''package image

func appendCSIImageConfigs(configs map[ImageID]Config) {}
'''
#: Manifests of CSI drivers, in Kubernetes.
DRIVERS = 'test/e2e/testing-manifests/storage-csi'
MIRROR = 'registry.example.org:5000/k8s'


class TestImages(testtools.TestCase):

    def pulled(self, folder, told=''):
        """The images that the tests of a version pull.

        :param told: contents of KUBE_TEST_REPO_LIST.
        """
        base = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        (base / 'image').mkdir()
        (base / 'image' / 'manifest.go').write_text(
            (folder / suite.SOURCE).read_text())
        (base / 'image' / 'csi.go').write_text(CSI)
        (base / 'main.go').write_text(MAIN)
        yaml, = set(re.findall(r'"((?:go\.yaml\.in|sigs\.k8s\.io)/yaml[^"]*)"',
                               (folder / suite.SOURCE).read_text()))
        version = re.search(rf'{re.escape(yaml)} (v\S+)',
                            (folder / 'go.mod').read_text())[1]
        (base / 'go.mod').write_text(
            f'module mirror\n\ngo 1.24\n\nrequire {yaml} {version}\n')
        (base / 'mirrors.yaml').write_text(told)
        program = go.find_go()
        env = {**go.environment(program), 'GOFLAGS': '-mod=mod'}
        if told:
            env['KUBE_TEST_REPO_LIST'] = str(base / 'mirrors.yaml')
        return set(processes.run([program, 'run', '.'], cwd=base, env=env,
                                 timeout=540).split())

    def test_kubernetes_names_the_same(self):
        for version in 'v1.34.9', 'v1.36.5':
            folder = lists.source(version)
            found = suite.parse((folder / suite.SOURCE).read_text(), folder)

            self.assertEqual(self.pulled(folder),
                             {*found.images, *found.special}, version)
            self.assertEqual(
                self.pulled(folder, plan.repo_list(found, MIRROR)),
                {*(plan.mirrored(image, MIRROR) for image in found.images),
                 *found.special}, version)

    @boxes.LONG
    def test_the_program_of_the_tests_names_the_same(self):
        """Except the images of CSI drivers, which no required test starts."""
        for minor in recipes.minors()[-2:]:
            version = f'v{recipes.defaults()[minor]}'
            name = f'e2e.test-{minor}'
            program = toolchain.ensure([name])[name]
            drivers = set()
            for file in (lists.source(version) / DRIVERS).rglob('*.yaml'):
                drivers.update(re.findall(r'^\s+(?:- )?image:\s*(\S+)$',
                                          file.read_text(), re.MULTILINE))

            printed = set(processes.run([program, '--list-images'],
                                        timeout=120).split())
            told = json.loads(processes.run(
                [sys.executable, '-m', 'magnum_capi.cli.main', 'conformance',
                 'images', '--kubernetes', version, '--json'], timeout=120))

            ours = {*told['images'], *told['special']} - {
                *told['tools'].values()}
            self.assertEqual(printed, ours | drivers, version)
