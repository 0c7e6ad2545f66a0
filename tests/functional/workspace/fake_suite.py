# SPDX-License-Identifier: Apache-2.0
"""A workspace whose tests are one file of this folder; no cloud is needed."""

import pathlib
import shutil
import sys

from magnum_capi_tempest.workspace import folder

_CONF = '''[DEFAULT]
log_file = tempest.log
debug = true
[oslo_concurrency]
lock_path = lock
'''


def lay_out(base: pathlib.Path, suite: str) -> pathlib.Path:
    """Make a workspace below a folder; returns its path.

    :param suite: name of a module of this folder.
    """
    workspace, tests = base / 'workspace', base / 'tests'
    folder.lay_out(workspace, _CONF)
    tests.mkdir()
    shutil.copy(pathlib.Path(__file__).with_name(f'{suite}.py'),
                tests / f'test_{suite}.py')
    (workspace / '.stestr.conf').write_text(
        f'[DEFAULT]\ntest_path={tests}\ntop_dir={tests}\n')
    return workspace


def command(workspace: pathlib.Path, *options) -> list:
    """The command line that runs all of its tests."""
    return [sys.executable, '-m', 'magnum_capi.cli.main', 'tempest', 'run',
            workspace, '--regex', '.', *options]
