# SPDX-License-Identifier: Apache-2.0


"""The commands at the beginning of the entry pages, run as written.

Each page is typed into one shell, with its own sandboxes.
"""

import os
import pathlib

import fixtures
import testtools

from magnum_capi_tempest.conformance import required
from tests.functional import boxes
from tests.functional import typed
from tests.unit.conformance import archives
from tests.unit.conformance import magnum_cloud
from tests.unit.conformance import submissions
from tests.unit.docs import pages

#: The name that devstack gives the image of its sample.
_IMAGE = 'ubuntu-24.04-v1.35.5'


class EntryPagesTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(
            self.useFixture(fixtures.TempDir(rootdir='/tmp')).path)
        self.shell = self.useFixture(typed.Shell(self.folder))

    def page(self, name, **kwargs):
        """Type the commands of a page; each must do what the page says."""
        page, = (p for p in pages.ENTRIES if p.stem == name)
        for seen in self.shell.type(pages.first(page), **kwargs):
            # stestr cannot read back an attachment with a two-line name.
            self.addDetail(' '.join(seen.command.text.split()),
                           testtools.content.text_content(seen.output))
            self.assertEqual(seen.command.code, seen.code,
                             f'{seen.command.text}\n{seen.output[-3000:]}')
            self.assertTrue(
                seen.command.printed(seen.output),
                f'The page shows\n{chr(10).join(seen.command.shown)}\n'
                f'and there was\n{seen.output[-5000:]}')

    def test_of_somebody_who_submits_to_cncf(self):
        version = 'v1.36.4'  # of the release that the page shows
        (self.folder / 'ARCHIVE.tar.gz').write_bytes(
            archives.by_library(submissions.certified(
                version=version, names=required.of(version))))
        (self.folder / 'PRODUCT.yaml').write_bytes(
            submissions.product_yaml())

        self.useFixture(magnum_cloud.Cloud('mycluster'))
        for name in ('OS_CLOUD', 'OS_CLIENT_CONFIG_FILE'):
            self.shell.env[name] = os.environ[name]
        self.page('cncf', cwd=self.folder)

    @boxes.LONG
    def test_of_an_operator_with_two_drivers(self):
        self.page('two-drivers', cwd=pages.TOP)

    @boxes.LONG
    def test_of_the_author_of_a_driver(self):
        self.page('driver-author', cwd=pages.TOP)

    @boxes.LONG
    def test_of_the_owner_of_a_zuul_job(self):
        self.addCleanup(
            self.shell.run, 'magnum-capi sandbox down --directory '
                            '~/magnum-capi-job/magnum-capi-sandbox')

        self.page('zuul-job-owner', cwd=pages.TOP, timeout=3600)

    @boxes.LONG
    def test_of_somebody_with_a_devstack(self):
        self.shell.run('magnum-capi sandbox up --install '
                       f'{pages.TOP}/drivers/k8s_capi_v1')
        box = self.folder / 'state' / 'sandbox'
        clouds = (box / 'clouds.yaml').read_text()
        (self.folder / 'clouds.yaml').write_text(
            clouds.replace('sandbox-admin:', 'devstack-admin:'))
        self.shell.run(f"""
            eval "$(magnum-capi sandbox env)"
            export OS_CLOUD=sandbox-admin
            $SANDBOX_OPENSTACK image set --name {_IMAGE} ubuntu-capi
            """)

        self.page('devstack', cwd=self.folder, replace=[
            ('/opt/stack/data/magnum-capi/kubeconfig',
             str(box / 'management/kubeconfig'))])
