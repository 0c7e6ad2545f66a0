# SPDX-License-Identifier: Apache-2.0

"""Common parts of the commands for reports of drivers."""

import argparse
import collections.abc
import contextlib
import hashlib
import importlib.metadata
import pathlib

from magnum_capi import driver_info
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import descriptions
from magnum_capi_tempest import promises
from magnum_capi_tempest import report as reports
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import report
from magnum_capi_tempest.scorecard import suite
from magnum_capi_tempest.workspace import runs


def publish(found: report.Report, folder: pathlib.Path) -> None:
    """Write a report in every format, and show it in the terminal.

    :raises EnvironmentProblem: the folder cannot be written.
    """
    written = reports.write_files(folder, {
        'driver-report.json': json_.dumps(found),
        'driver-report.md': forms.to_markdown([found]),
        'driver-report.html': forms.to_html([found])})
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
    return None if path is None else driver_info.parse(
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


class Ended:
    """Delays what has ended a run early until there is a report."""

    def __init__(self) -> None:
        self._by: BaseException | None = None

    def __bool__(self) -> bool:
        return self._by is not None

    @contextlib.contextmanager
    def run(self, stream: pathlib.Path) -> collections.abc.Iterator[None]:
        """Handle the early end of the run recorded in this stream."""
        earlier = _stamp(stream)
        try:
            yield
        except runs.RunCutOff as e:
            self._by = e
        except (KeyboardInterrupt, SystemExit) as e:
            # The folder may have the stream of an earlier run.
            if _stamp(stream) in (None, earlier):
                raise
            self._by = e

    def go_on(self) -> None:
        if self._by is not None:
            raise self._by


def _stamp(path: pathlib.Path) -> tuple[int, int] | None:
    """A value that changes when the file is replaced; None: there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def asked(args: argparse.Namespace, described: driver_info.Description | None
          ) -> tuple[str, ...]:
    """Profiles to test.

    :raises UsageError: the description names unknown promises, which would
        exclude nothing.
    """
    wrong = promises.unknown_names(
        (*described.unsupported, *described.known_issues)
    ) if described else []
    if described and wrong:
        raise errors.UsageError(
            f'Unknown promises: {", ".join(wrong)}',
            where=described.where,
            hint=f'All promises are in {promises.REGISTRY}')
    supported = described.profiles if described else promises.PROFILES
    return tuple(args.profile or supported)


def regex(args: argparse.Namespace, profiles: collections.abc.Collection[str]
          ) -> str:
    """Regular expression of the tests that a report needs."""
    if args.everything:
        return runs.SUITE
    wanted = [f'{profile}/' for profile in profiles]
    if args.core:
        wanted = [f'{promises.attribute(one.id)}[],]'
                  for one in promises.known().values()
                  if one.core and one.profile in profiles]
    return rf'{suite.PACKAGE}\..*[\[,]({"|".join(wanted)})'


def judged(stream: pathlib.Path, about: dict[str, str],
           described: driver_info.Description | None,
           made: collections.abc.Mapping[str, str], kind: str,
           profiles: tuple[str, ...], ended: object = False
           ) -> report.Report:
    """Judge a recorded run, and write the reports of its tests beside it.

    :param ended: not all of its tests have run.
    """
    title = about['name']
    if 'distribution' in about:
        title += f' ({about["distribution"]})'
    run = reports.summarise(
        stream, stream.parent, title,
        {**made, 'driver': about['name']},
        outcome='interrupted' if ended else '')
    return report.of_run(
        run, digest(stream), about, described,
        {'suite': suite_version(), **made}, kind, profiles,
        ['The run was interrupted before all of its tests had run']
        if ended else ())
