# SPDX-License-Identifier: Apache-2.0

"""``magnum-capi driver info``: the drivers' descriptions of themselves."""

import argparse
import collections.abc
import json
import os
import pathlib
import sys

from magnum_capi.cli import base
from magnum_capi import driver_info
from magnum_capi import errors


class Info(base.Judging):
    """Print the drivers' descriptions (magnum-capi.yaml) as JSON.

    Exit code: 0 success, 1 a description is invalid (with --check), 2 there is
    none of the named driver.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'driver', nargs='?', metavar='DRIVER',
            help='Name of an installed driver, a YAML file, or a folder with '
                 'the source of drivers (default: all installed drivers).')
        parser.add_argument(
            '--check', action='store_true',
            help='Check the descriptions and print their problems instead.')
        return parser

    def act(self, args: argparse.Namespace) -> int:
        found = list(_texts(args.driver))
        if not found:
            if args.driver:
                raise errors.UsageError(
                    'No installed driver of this name has a description',
                    where=args.driver, hint='"magnum-capi discovery list" '
                    'shows the installed drivers')
            print('No driver with a description is installed',
                  file=sys.stderr)
        if args.check:
            return self._check(found)
        print(json.dumps([{
            **driver_info.parse(text, where).document, 'distribution': whose}
            for _, text, where, whose in found], indent=2),
            file=self.app.stdout)
        return 0

    def _check(self, found: list[tuple[str, str, str, str]]) -> int:
        bad = 0
        for name, text, where, _ in found:
            try:
                document = driver_info.document_of(text, where)
                wrong = driver_info.problems(document)
                if not wrong and name not in ('', document['name']):
                    wrong = [f'$.name: is {document["name"]!r}, but the entry '
                             f'point is {name!r}']
            except errors.UsageError as e:
                wrong = [f'not YAML: {e.last_seen}']
            for line in wrong or ['valid']:
                print(f'{where}: {line}', file=self.app.stdout)
            bad += bool(wrong)
        return 1 if bad else 0


def _texts(driver: str | None
           ) -> collections.abc.Iterator[tuple[str, str, str, str]]:
    path = pathlib.Path(driver or '')
    if driver and path.suffix in ('.yaml', '.yml'):
        yield '', driver_info.text_of(path), driver, ''
        return
    if driver and (path.is_dir() or os.sep in driver):
        yield from _below(path)
        return
    yield from driver_info.installed(driver)


def _below(folder: pathlib.Path
           ) -> collections.abc.Iterator[tuple[str, str, str, str]]:
    found = sorted(
        path for path in folder.rglob(driver_info.FILE)
        # Not those of a virtual environment, .tox or .venv, nor the copies
        # that pip leaves of what it has built.
        if not any(part.startswith('.') or part == 'build'
                   for part in path.relative_to(folder).parts))
    if not found:
        raise errors.UsageError(
            f'The folder has no file {driver_info.FILE}' if folder.is_dir()
            else 'There is no such file or folder', where=folder,
            hint='Name a driver, its description, or a folder with its source')
    for path in found:
        yield '', driver_info.text_of(path), str(path), ''
