# SPDX-License-Identifier: Apache-2.0

"""Common parts of the commands for reports of drivers."""

import hashlib
import importlib.metadata
import pathlib

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import report as reports
from magnum_capi_tempest.sandbox import descriptions
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import page
from magnum_capi_tempest.scorecard import report


def publish(found: report.Report, folder: pathlib.Path) -> None:
    """Write a report in every format, and show it in the terminal.

    :raises EnvironmentProblem: the folder cannot be written.
    """
    written = reports.write_files(folder, {
        'driver-report.json': report.dumps(found),
        'driver-report.md': forms.to_markdown([found]),
        'driver-report.html': page.render([found])})
    forms.show([found], page=written['driver-report.html'])


def digest(stream: pathlib.Path) -> str:
    """The digest by which a report refers to a recorded run."""
    return f'sha256:{hashlib.sha256(stream.read_bytes()).hexdigest()}'


def described_by(path: pathlib.Path | None, driver: str
                 ) -> driver_info.Description | None:
    """The description of a driver in a file; None without a file.

    :raises UsageError: it cannot be read, is not a description, or is that
        of another driver.
    """
    return path and driver_info.parse(
        driver_info.text_of(path), path).require(driver)


def description(path: pathlib.Path | None, driver: str
                ) -> driver_info.Description | None:
    """The description in a file, of an installed driver, or of a known one.

    :raises UsageError: see :func:`described_by`.
    """
    return (described_by(path, driver) or driver_info.of(driver)
            or descriptions.of_driver(driver))


def suite_version() -> str:
    """Version of the suite, and its commit in a checkout."""
    version = importlib.metadata.version('magnum-capi-tempest')
    top = pathlib.Path(__file__).resolve().parents[2]
    # It may be installed in somebody else's checkout.
    if not (top / '.git').exists():
        return version
    try:
        commit, dirty = (processes.run(
            ['git', '-C', top, *words], timeout=30).strip()
            for words in (('rev-parse', '--short=12', 'HEAD'),
                          ('status', '--porcelain', '-uno')))
    except errors.MagnumCapiError:
        return version
    return f'{version} ({commit}{", changed" if dirty else ""})'
