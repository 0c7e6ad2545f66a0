# SPDX-License-Identifier: Apache-2.0

"""What is run in which sandbox, and what must come out of it.

A :class:`Box` is one sandbox; each function below it is a part of the proof
and returns what is not as it must be, one line each.
"""

import contextlib
import dataclasses
import json
import os
import subprocess
import sys

import openstack

from magnum_capi_tempest import report
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest import resources
from magnum_capi_tempest import sandbox
from magnum_capi_tempest.sandbox import configuration
from magnum_capi_tempest.sandbox import tempest_run
from tests.proofs.discovery import compare

BROKEN = 'k8s_capi_broken_v1'
#: Disabled by the configuration of drivers/clash.
DISABLED = 'k8s_capi_disabled_v1'
#: They win the types of other drivers in Magnum's map.
SHADOWING = ('k8s_capi_beta_v1', 'k8s_capi_lenient_v1')

#: An image as the specification wants it: without os_distro.
IMAGE = 'magnum-distro-only'
_DISTRO = 'flatcar'

_REST = (r'^(?!.*\b(%s)\b)'
         % '|'.join(sorted(compare.APART | {compare.LIFE})))
#: Regular expressions of "tempest run".
REST = rf'{_REST}magnum_capi_tempest\.'
UNCURED = rf'{_REST}magnum_capi_tempest\..*\b{compare.UNCURED}\b'
ONLY = r'^magnum_capi_tempest\..*\b%s\b'

#: This project's driver beside magnum-capi-helm, and the classes of tests
#: that know two drivers and nothing of the others.
OWN = 'k8s_capi_v1'
PAIR = f'k8s_capi_helm_v1,{OWN}'
PAIR_CLASSES = ('TwoDriversTest', 'ClashTest')


class Box:
    """A sandbox with drivers that clash; a context manager.

    :param folder: of the sandbox.
    :param results: folder for the reports of the runs.
    :param with_filter: Magnum's API has the discovery filter.
    :param broken: install the driver that cannot be loaded, too.
    :param own: install this project's driver, and have that clash.
    """

    def __init__(self, folder, results, progress, *, with_filter,
                 broken=False, own=False, port_base=None):
        self.name = folder.name
        self.with_filter = with_filter
        self._progress = progress
        self._results = results
        self._options = [('magnum_distro_image', IMAGE)]
        install = []
        if broken:
            install.append('broken')
            self._options.append(('broken_driver', BROKEN))
        if own:
            install.append(OWN)
            self._options.append(('clashing_drivers', PAIR))
        self._box = sandbox.Sandbox(folder)
        self._wish = sandbox.Wish(
            clash=True, discovery_filter=with_filter, port_base=port_base,
            install=tuple(str(resources.find(f'drivers/{name}'))
                          for name in install))

    def __enter__(self):
        self._progress.info(f'Sandbox {self.name}')
        try:
            self._box.up(self._wish, self._progress)
            with self._cloud() as cloud:
                cloud.image.create_image(
                    name=IMAGE, container_format='bare', disk_format='raw',
                    visibility='public', data=b'not bootable',
                    validate_checksum=False, magnum_distro=_DISTRO,
                    kube_version='v1.34.2')
        except BaseException:
            self._box.down(self._progress)
            raise
        return self

    def __exit__(self, *exc_info):
        self._box.down(self._progress)

    def run(self, regex, what) -> model.Run:
        """Run tests with every promise of discovery asked for.

        :param what: a word for the folder of the results.
        """
        results = self._results / f'{self.name}-{what}'
        results.mkdir(parents=True, exist_ok=True)
        # Tempest shows all that it knows of a failure, and here most fail.
        with self._progress.step(f'Tests in {self.name}: {what}'), \
                _printing_to(results / 'tempest.txt'):
            stream, _ = tempest_run.run(self._box, tempest_run.Order(
                regex=regex, promise='discovery', options=tuple(self._options),
                results=results))
        run = subunit.read(stream, title=f'{self.name}, {what}')
        report.write(run, results)
        return run

    def audit(self) -> list[dict]:
        """Findings of the audit, made as an operator makes it."""
        layout = self._box.layout()
        ended = subprocess.run(
            [layout.magnum_env / 'bin' / 'magnum-capi', 'discovery', 'audit',
             '--config-file', layout.magnum_conf[0],
             '--config-dir', layout.magnum_conf[1],
             '--os-cloud', 'sandbox-admin', '--format', 'json'],
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
        """What Magnum has logged."""
        return self._box.supervisor.log('magnum').read_bytes().decode(
            errors='replace')

    def disable(self, *drivers):
        """Disable drivers besides the one that is; restarts Magnum."""
        names = ','.join((DISABLED, *drivers))
        self._box.set([f'drivers.disabled_drivers={names}'], True,
                      self._progress)

    def mend_image(self):
        """Give the image the os_distro that Magnum insists on."""
        with self._cloud() as cloud:
            image = cloud.image.find_image(IMAGE, ignore_missing=False)
            cloud.image.update_image(image, os_distro=_DISTRO)

    def _cloud(self):
        layout = self._box.layout()
        return openstack.connect(
            auth_url=layout.auth_url, username='admin', project_name='admin',
            password=self._box.passwords()['admin'],
            user_domain_id='default', project_domain_id='default',
            region_name=configuration.REGION, load_yaml_config=False,
            load_envvars=False)


@contextlib.contextmanager
def _printing_to(path):
    """Let programs that are started here print into a file."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with open(path, 'wb') as file:
            os.dup2(file.fileno(), 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def cured_or_named(box, tests) -> tuple[list[str], model.Run]:
    """With the filter, what it cannot cure fails, and nothing else.

    Then the audit names each, and with its cures these pass.
    """
    found, run = rest_and_live(box, tests)
    found += compare.unclean(box.log())
    uncured = [t for t in tests if t.uncured and not t.apart]
    found += compare.without_finding(uncured, box.audit())
    box.disable(*SHADOWING)
    box.mend_image()
    found += compare.differences(
        box.run(UNCURED, 'cured'), uncured, lambda t: False)
    found += compare.still_found(uncured, box.audit())
    return found, run


def rest_and_live(box, tests) -> tuple[list[str], model.Run]:
    """Everything but the broken driver, in two runs.

    Without the filter, what shows a deviation fails, and nothing else.
    """
    def fails(test):
        return test.fails(box.with_filter)

    rest = box.run(REST, 'rest')
    live = box.run(ONLY % compare.LIVE, 'live')
    found = compare.differences(
        rest, [t for t in tests if not t.apart], fails)
    found += compare.differences(
        live, [t for t in tests if compare.LIVE in t.deviations], fails)
    return found, dataclasses.replace(rest, tests=rest.tests + live.tests)


def own_driver(box, tests) -> tuple[list[str], model.Run]:
    """Two drivers of two authors: magnum-capi-helm and this project's."""
    tests = [t for t in tests if t.name.partition('.')[0] in PAIR_CLASSES]
    run = box.run(rf'^magnum_capi_tempest\..*\.({"|".join(PAIR_CLASSES)})\.',
                  'pair')
    return compare.differences(
        run, tests, lambda t: t.fails(box.with_filter)), run


def broken(box, tests) -> tuple[list[str], model.Run]:
    """A driver that cannot be loaded, in a sandbox of its own."""
    tests = [t for t in tests if compare.BROKEN in t.deviations]
    uncured = [t for t in tests if t.uncured]
    run = box.run(ONLY % compare.BROKEN, 'broken')
    found = compare.differences(
        run, tests, lambda t: t.fails(box.with_filter))
    found += compare.without_finding(uncured, box.audit())
    box.disable(BROKEN)
    # Without the filter, who names it still gets it: that is D4.
    found += compare.differences(
        box.run(ONLY % compare.BROKEN, 'cured'), tests,
        lambda t: not (box.with_filter or t.uncured))
    found += compare.still_found(uncured, box.audit())
    return found, run
