# SPDX-License-Identifier: Apache-2.0

"""Presents all results in the same way.

:mod:`subunit` converts a stream to the :class:`~.model.Run` of :mod:`model`;
each other module presents a Run in one format and is independent of the rest.
Conformance results become a Run as well, so that users learn to read a single
kind of report.
"""

import collections.abc
import dataclasses
import pathlib
import types
import typing

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text
from magnum_capi_tempest import texts

if typing.TYPE_CHECKING:
    import rich.console

#: The file of each format.
FORMS = ('report.html', 'junit.xml', 'report.json', 'report.md')


def summarise(
        stream_path: pathlib.Path, folder: pathlib.Path, title: str,
        facts: collections.abc.Mapping[str, object] | None = None,
        console: 'rich.console.Console | None' = None, outcome: str = '',
        races: collections.abc.Mapping[str, str] = types.MappingProxyType({}),
        again: str = '') -> model.Run:
    """Read a stream, write it in every format, and print a summary.

    :param stream_path: file with a subunit version 2 stream.
    :param folder: output folder, created if missing.
    :param title: first line in every format.
    :param facts: information about the run for readers: versions, profile,
        paths. Shown in the given order; must not contain secrets.
    :param console: ``rich.console.Console``, standard output by default.
    :param outcome: see :class:`~.model.Run`.
    :param races: see :meth:`.model.Run.with_races`.
    :param again: command that runs the failed tests again.
    :returns: the :class:`~.model.Run`; ``run.ok`` is the verdict.
    :raises UsageError: there is no such file, or it is not a subunit stream.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    # Imported here, as below: whoever needs one module of this package would
    # wait for the libraries of all others, or lack them.
    from magnum_capi_tempest.report import subunit
    from magnum_capi_tempest.report import terminal
    run = dataclasses.replace(
        subunit.read(stream_path, title=title, facts=facts).with_races(races),
        outcome=outcome)
    written = write(run, folder)
    terminal.show(run, report=written['report.html'],
                  failures=write_failures(run, folder), console=console,
                  again=again)
    return run


def regex_of_failed(stream_path: pathlib.Path) -> str:
    """Regular expression for ``tempest run`` of the tests that failed.

    :param stream_path: file with a subunit version 2 stream.
    :returns: empty: none did.
    :raises UsageError: there is no such file, or it is not a subunit stream.
    """
    from magnum_capi_tempest.report import subunit
    return subunit.regex_of_failed(subunit.read(stream_path, title=''))


def write(run: model.Run, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Write a run to a folder in every format.

    :returns: dict of file name to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    from magnum_capi_tempest.report import html
    from magnum_capi_tempest.report import json_
    from magnum_capi_tempest.report import junit
    from magnum_capi_tempest.report import markdown
    return write_files(folder, {
        name: form.render(run) for name, form in zip(
            FORMS, (html, junit, json_, markdown))})


def write_files(folder: pathlib.Path,
                contents: collections.abc.Mapping[str, str]
                ) -> dict[str, pathlib.Path]:
    """Write texts to a folder, which is created if missing.

    Each file appears when it is complete; the umask decides who can read it.

    :param contents: text without secrets by file name.
    :returns: dict of file name to absolute path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    folder = pathlib.Path(folder).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot make the folder: {e.strerror}', where=folder,
            hint='Name another folder') from e
    for name, content in contents.items():
        with outfile.whole(folder / name) as stream:
            stream.write(content.encode())
    return {name: folder / name for name in contents}


def write_failures(
        run: model.Run, folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Write everything about each failed test to a file of its own.

    :param folder: the files are in ``failures`` below it.
    :returns: dict of test id to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    names: dict[str, str] = {}
    for test in run.failures:
        name = f'{texts.file_name(test.name)}.txt'
        if name in names.values():
            # The name has no module.
            name = f'{texts.file_name(test.id)}.txt'
        names[test.id] = name
    written = write_files(pathlib.Path(folder) / 'failures', {
        names[test.id]: text.whole(test)
        for test in run.failures}) if names else {}
    return {ident: written[name] for ident, name in names.items()}
