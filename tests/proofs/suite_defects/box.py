# SPDX-License-Identifier: Apache-2.0

"""The sandbox of the proof, and the runs of tests in it."""

import os
import pathlib
import sys

from magnum_capi import processes
from magnum_capi_sandbox import infrastructure as infrastructures
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest import promises
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest import runmarks
from tests import proofs
from tests.proofs import boxes
from tests.proofs.suite_defects import tables

#: Drivers without defects.
HEALTHY = (tables.OWN, tables.CLASHES_WITH)

#: The source under test.
_TOP = pathlib.Path(__file__).resolve().parents[3]

#: Seconds for the test of a defect: several times its own timeouts.
LIMIT = 600


class Box(boxes.Box):
    """A sandbox with all drivers.

    Waits ``PATIENCE`` times as long, on a machine that is busy.
    """

    infrastructure = infrastructures.MEMORY
    port_base = 27000

    def __init__(self):
        super().__init__(infrastructure=self.infrastructure, install=(
            boxes.DRIVER, str(_TOP / 'tests' / 'defects')))
        self._patience = float(proofs.setting('PATIENCE', '1'))
        self.defects = tables.of(self.infrastructure)

    def try_defect(self, defect) -> model.Run:
        """Run the test of a defect with its driver.

        :param defect: tables.Defect.
        :raises CommandFailed: it did not end.
        """
        folder = self._folder(defect.name)
        etc = f'etc-{defect.name}'
        workspace = tempest_run.prepare(self.sandbox, tempest_run.Order(
            driver=defect.driver, promise='driver',
            options=tuple(defect.all_options(self._patience).items()),
            fixture=tuple(defect.fixture(self._mark_of).items())),
            folder / 'artefacts', etc)
        # The stream is the program's output, saved in the folder.
        stream = folder / 'run.subunit'
        try:
            processes.run(
                [sys.executable, '-W', 'ignore', '-m', 'subunit.run',
                 defect.id], cwd=folder, spool=folder,
                timeout=LIMIT * self._patience, binary=True, env={
                    **_environment(), runmarks.MARK: str(workspace),
                    'TMPDIR': str(self.sandbox.directory / 'tmp'),
                    'TEMPEST_CONFIG_DIR': str(workspace / etc)})
        finally:
            if (folder / 'out').exists():
                (folder / 'out').rename(stream)
        return subunit.read(stream, title=defect.name)

    def _mark_of(self, driver):
        return usable_drivers.description(self.sandbox, driver).mark

    def kept_by(self, driver):
        """The defects whose tests a driver without defects must pass.

        Not those of promises that it does not make or is known to break.
        """
        found = usable_drivers.description(self.sandbox, driver)
        broken = (*found.unsupported, *found.known_issues) if found else ()
        return tuple(defect for defect in self.defects if not promises.missing(
            defect.known.promise, broken))

    def try_healthy(self, driver, defects, turn) -> model.Run:
        """Run the tests of defects with a driver that has none.

        :param turn: number of the round.
        """
        name = f'{driver}-{turn}'
        stream, _ = tempest_run.run(self.sandbox, tempest_run.Order(
            regex=tables.regex(defects), driver=driver,
            results=self._folder(name)))
        return subunit.read(stream, title=name)

    def _folder(self, name):
        folder = self.results / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


class CloudBox(Box):
    """As :class:`Box`, with real servers."""

    infrastructure = infrastructures.OPENSTACK
    port_base = 28000


def _environment():
    """The caller's environment, without a cloud and without proxies."""
    return {key: value for key, value in os.environ.items()
            if not key.startswith('OS_') and 'proxy' not in key.lower()}
