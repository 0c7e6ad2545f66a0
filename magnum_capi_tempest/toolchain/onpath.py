# SPDX-License-Identifier: Apache-2.0

"""Is the pinned version on PATH already?

Only an exact match counts: a distribution's "1.36.3-gke.1" or a launcher
that calls itself "1.36.3-dispatcher" is another program.
"""

import os
import pathlib
import tempfile

from magnum_capi import errors
from magnum_capi import processes

#: Seconds for a version command; a working one takes less than 0.5.
TIMEOUT = 10

#: Disables side effects of version commands (clusterctl checks for updates:
#: cmd/clusterctl/cmd/root.go).
QUIET = {'CLUSTERCTL_DISABLE_VERSIONCHECK': 'true'}


def find(program, path=None) -> pathlib.Path | None:
    """First program on PATH whose version is exactly the pinned one.

    :param program: a :class:`pins.Program`.
    :param path: like the variable PATH, which is the default.
    """
    if program.version_command is None:
        return None
    if path is None:
        path = os.environ.get('PATH', os.defpath)
    seen = set()
    for folder in path.split(os.pathsep):
        # An empty or relative entry depends on the working folder.
        file = pathlib.Path(folder, program.name)
        if not folder.startswith('/') or not os.access(file, os.X_OK) \
                or not file.is_file() or file.resolve() in seen:
            continue
        seen.add(file.resolve())
        if version(program, file) == program.version:
            return file
    return None


def version(program, file) -> str | None:
    """The version that ``file`` reports, None if it reports none."""
    try:
        # minikube writes an audit log below the home folder and a log into
        # the folder for temporary files.
        with tempfile.TemporaryDirectory(prefix='magnum-capi-') as scratch:
            output = processes.run(
                [file, *program.version_command], timeout=TIMEOUT,
                env={**os.environ, **QUIET, 'MINIKUBE_HOME': scratch,
                     'TMPDIR': scratch})
    except (errors.CommandFailed, errors.EnvironmentProblem, OSError):
        return None
    return program.read_version(output)
