# SPDX-License-Identifier: Apache-2.0

"""A sandbox of the proof: its tests, its audit, and cures."""

import json
import pathlib
import subprocess

from magnum_capi_sandbox import magnum_wheel
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest import report
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest import resources
from tests import proofs
from tests.proofs import boxes

BROKEN = 'k8s_capi_broken_v1'
#: The first of the real drivers that provide one type.
TAKEN = 'k8s_capi_helm_v1'
#: Disabled by the configuration of sandbox/drivers/clash.
DISABLED = 'k8s_capi_disabled_v1'

#: An image as the specification requires it: without os_distro.
IMAGE = 'magnum-distro-only'
_DISTRO = 'nameless'


class Box(boxes.Box):
    """A sandbox with drivers that clash.

    :param name: of the part, and of its folder.
    :param with_filter: whether Magnum's API has the discovery filter.
    :param broken: also install the driver that cannot be loaded.
    :param magnum: release of Magnum; None: the newest.
    :param patched: the newest with the patches of upstream/magnum.
    """

    port_base = 29000

    def __init__(self, name, *, with_filter, broken=False,
                 magnum=None, patched=False):
        self.name = name
        self.with_filter = with_filter
        self.broken = broken
        self._fixture = {'magnum_distro_image': IMAGE}
        install = ()
        if broken:
            install = (str(resources.find('sandbox/drivers/broken')),)
            self._fixture['broken_driver'] = BROKEN
        conf = ()
        if patched:
            magnum = magnum_wheel.PATCHED
            conf = (pathlib.Path(__file__).with_name('patched.conf'),)
        super().__init__(
            name, clash=True, discovery_filter=with_filter, magnum=magnum,
            magnum_conf=conf, install=install)

    def prepare(self):
        """Add the image of the specification."""
        with self.connect() as cloud:
            cloud.image.create_image(
                name=IMAGE, container_format='bare', disk_format='raw',
                visibility='public', data=b'not bootable',
                validate_checksum=False, magnum_distro=_DISTRO,
                kube_version='v1.34.2')

    def run(self, regex, what) -> model.Run:
        """Run tests with every promise of discovery.

        :param what: a word for the folder of the results.
        """
        results = self.results / f'{self.name}-{what}'
        results.mkdir(parents=True, exist_ok=True)
        # Tempest prints all details of a failure, and here most tests fail.
        with self.progress.step(f'Tests in {self.name}: {what}'), \
                open(results / 'tempest.txt', 'wb') as file, \
                proofs.printing_to(file.fileno()):
            stream, _ = tempest_run.run(self.sandbox, tempest_run.Order(
                regex=regex, promise='discovery', results=results,
                **self._driver(),
                fixture=tuple(self._fixture.items())))
        run = subunit.read(stream, title=f'{self.name}, {what}')
        report.write(run, results)
        return run

    def _driver(self):
        """Fields of an Order: the driver that serves most templates.

        The filter refuses templates of an ambiguous type that name none.
        Without it they name none, and Magnum takes :data:`TAKEN`.
        """
        if self.with_filter:
            return {'driver': tempest_run.chosen(self.sandbox)}
        return {'described': usable_drivers.description(self.sandbox, TAKEN)}

    def audit(self) -> list[dict]:
        """Findings of the audit, called like an operator does."""
        layout = self.sandbox.layout()
        ended = subprocess.run(
            [layout.magnum_env / 'bin' / 'magnum-capi', 'discovery', 'audit',
             '--config-file', layout.magnum_conf[0],
             '--config-dir', layout.magnum_conf[1],
             '--cloud', 'sandbox-admin', '--format', 'json'],
            env={'OS_CLIENT_CONFIG_FILE': str(
                layout.directory / 'clouds.yaml'),
                'HOME': str(layout.directory / 'home')},
            capture_output=True, text=True, timeout=300)
        if ended.returncode not in (0, 1):
            raise RuntimeError(
                f'The audit ended with {ended.returncode}: {ended.stderr}')
        return [{key.lower(): value for key, value in row.items()}
                for row in json.loads(ended.stdout)]

    def log(self) -> str:
        """Magnum's log."""
        return self.sandbox.supervisor.log('magnum').read_bytes().decode(
            errors='replace')

    def disable(self, *drivers):
        """Disable more drivers; restarts Magnum."""
        names = ','.join((DISABLED, *drivers))
        self.sandbox.set([f'drivers.disabled_drivers={names}'], True,
                         self.progress)

    def mend_image(self):
        """Give the image the os_distro that Magnum requires."""
        with self.connect() as cloud:
            image = cloud.image.find_image(IMAGE, ignore_missing=False)
            cloud.image.update_image(image, os_distro=_DISTRO)
