# SPDX-License-Identifier: Apache-2.0

"""The sandbox of the proof, and the runs of tests in it."""

import os
import pathlib
import sys

from magnum_capi import processes
from magnum_capi_sandbox import tempest_run
from magnum_capi_sandbox import usable_drivers
from magnum_capi_tempest import promises
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest import resources
from magnum_capi_tempest import runmarks
from magnum_capi_tempest.scorecard import suite
from tests import proofs
from tests.proofs import boxes
from tests.proofs.suite_defects import tables

#: Drivers without defects, and the options of [magnum_capi] for them.
HEALTHY = (tables.OWN, tables.CLASHES_WITH)

#: The source under test.
_TOP = pathlib.Path(__file__).resolve().parents[3]

#: Seconds for the test of a defect: several times its own timeouts.
LIMIT = 600


class Box(boxes.Box):
    """A sandbox with all drivers.

    Waits ``PATIENCE`` times as long, on a machine that is busy.
    """

    def __init__(self, port_base, infrastructure):
        super().__init__(
            port_base, infrastructure=infrastructure, install=(
                str(resources.find('drivers/k8s_capi_v1')),
                str(_TOP / 'tests' / 'defects')))
        self._patience = float(proofs.setting('PATIENCE', '1'))
        self.defects = tables.of(infrastructure)

    def try_defect(self, defect):
        """Run the test of a defect with its driver; result in :func:`stream`.

        :param defect: tables.Defect.
        :raises CommandFailed: it did not end.
        """
        folder = self.results / defect.name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        etc = f'etc-{defect.name}'
        workspace = tempest_run.prepare(self.sandbox, tempest_run.Order(
            driver=defect.driver, promise='driver',
            options=tuple(defect.all_options(self._patience).items()),
            fixture=tuple(defect.fixture(self._mark_of).items())),
            folder / 'artefacts', etc)
        try:
            # The stream is the program's output, saved in the folder.
            processes.run(
                [sys.executable, '-W', 'ignore', '-m', 'subunit.run',
                 defect.id], cwd=folder, spool=folder,
                timeout=LIMIT * self._patience, binary=True, env={
                    **_environment(), runmarks.MARK: str(proofs.mark()),
                    'TMPDIR': str(self.sandbox.directory / 'tmp'),
                    'TEMPEST_CONFIG_DIR': str(workspace / etc)})
        finally:
            if (folder / 'out').exists():
                (folder / 'out').rename(stream(self.results, defect))

    def _mark_of(self, driver):
        return usable_drivers.description(self.sandbox, driver).mark

    def not_promised(self, driver) -> tuple[str, ...]:
        """Promises that a driver does not make or is known to break."""
        found = usable_drivers.description(self.sandbox, driver)
        return (*found.unsupported, *found.known_issues) if found else ()

    def try_healthy(self, driver, defects, turn) -> pathlib.Path:
        """Run the tests of defects with a driver that has none.

        :param turn: number of the round.
        :returns: the recorded stream.
        """
        folder = self.results / f'{driver}-{turn}'
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found, _ = tempest_run.run(self.sandbox, tempest_run.Order(
            regex=tables.regex(defects), driver=driver, results=folder))
        return found


def kept_by(not_promised, defects):
    """The defects whose tests a driver must pass.

    :param not_promised: ids of promises.
    """
    return tuple(defect for defect in defects if not promises.missing(
        suite.get(defect.id).promise, not_promised))


def stream(results, defect) -> pathlib.Path:
    """Path of the recorded run of a defect's test."""
    return results / defect.name / 'run.subunit'


def read(path, title) -> model.Run:
    return subunit.read(path, title=title)


def _environment():
    """The caller's environment, without a cloud and without proxies."""
    return {key: value for key, value in os.environ.items()
            if not key.startswith('OS_') and 'proxy' not in key.lower()}
