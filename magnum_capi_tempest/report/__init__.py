# SPDX-License-Identifier: Apache-2.0

"""One look for every result: read it once, show it the same way everywhere.

:mod:`subunit` turns a stream into the :class:`~.model.Run` of
:mod:`model`; each other module shows a Run in one form and knows nothing of
the rest. Conformance results become a Run as well, so that a person learns
to read one report.
"""

import dataclasses
import pathlib

from magnum_capi import outfile
from magnum_capi_tempest.report import html
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import junit
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.report import terminal

#: File name of each form, and the function that makes its text.
FORMS = {
    'report.html': html.render,
    'junit.xml': junit.render,
    'report.json': json_.render,
    'report.md': markdown.render,
}


def summarise(stream_path, folder, title, facts=None, console=None,
              outcome=''):
    """Read a stream, write every form of it, print the terminal's.

    :param stream_path: file with a subunit version 2 stream.
    :param folder: where to write, made when it is missing.
    :param title: first line of every form.
    :param facts: what a reader wants to know of the run: versions, profile,
        paths. Shown in the order given; must not carry secrets.
    :param console: ``rich.console.Console``, standard output by default.
    :param outcome: see :class:`~.model.Run`.
    :returns: the :class:`~.model.Run`; ``run.ok`` is the verdict.
    :raises UsageError: there is no such file, or it is no subunit stream.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    run = dataclasses.replace(
        subunit.read(stream_path, title=title, facts=facts), outcome=outcome)
    written = write(run, folder)
    terminal.show(run, report=written['report.html'], console=console)
    return run


def write(run, folder):
    """Write every form of a run into a folder.

    :returns: dict of file name to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    folder = pathlib.Path(folder)
    written = {}
    for name, render in FORMS.items():
        written[name] = write_file(folder / name, render(run))
    return written


def write_file(path, content):
    """Write a file of text or bytes, whole or not at all, for its owner.

    Whoever publishes it decides so.

    :raises EnvironmentProblem: it cannot be written.
    """
    path = pathlib.Path(path).absolute()
    outfile.write_private(path, content)
    return path
