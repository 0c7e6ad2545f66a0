# SPDX-License-Identifier: Apache-2.0
"""supervisord's configuration files, and what they cannot express.

Its [include] is a pattern, it expands %(name)s, in some values twice, and it
cuts lines where a comment may begin. Values that it would misread are refused.
"""

import collections.abc
import configparser
import pathlib
import re
import shlex

from magnum_capi import errors
from magnum_capi_tempest import paths
from magnum_capi_tempest.supervision import model

_UNFIT = re.compile(r'[%*?\[\n]| [;#]')
_COMMENT = re.compile(r' [;#]|\n')


def check(directory: pathlib.Path, socket: pathlib.Path) -> None:
    """Check that supervisord can work in a folder.

    :raises UsageError: its path is too long or has an unsuitable character.
    """
    paths.check_socket(socket)
    if _UNFIT.search(str(directory)):
        raise errors.UsageError(
            'supervisord cannot use a folder whose path has one of % * ? [ " '
            ';" " #"', where=directory,
            hint='Choose another folder')


def write_daemon(path: pathlib.Path, directory: pathlib.Path,
                 socket: pathlib.Path) -> None:
    """Write the file of supervisord itself."""
    _write(path, {
        'unix_http_server': {'file': socket, 'chmod': '0600'},
        'supervisord': {
            'logfile': directory / 'log' / 'supervisord.log',
            'pidfile': directory / 'supervisord.pid',
            'childlogdir': directory / 'log',
            'directory': directory, 'umask': '077'},
        'rpcinterface:supervisor': {
            'supervisor.rpcinterface_factory':
            'supervisor.rpcinterface:make_main_rpcinterface'},
        # Relative, because the value is a list separated by spaces.
        'include': {'files': 'programs/*.conf'}})


def write_program(path: pathlib.Path, program: model.Program,
                  directory: pathlib.Path, log: pathlib.Path) -> None:
    """Write the file of one :class:`.model.Program`.

    :raises UsageError: supervisord would misread a value.
    """
    for key, value in program.env.items():
        if '"' in value or value != value.strip("'"):
            raise errors.UsageError(
                f'supervisord does not accept this value of {key}: {value}')
    _write(path, {
        f'program:{program.name}': {
            'command': shlex.join(map(str, program.argv)),
            'directory': program.cwd or directory,
            'environment': ','.join(
                f'{k}="{v}"' for k, v in program.env.items()),
            'autostart': 'false',
            'autorestart': 'true' if program.restart else 'false',
            'startsecs': '0', 'startretries': '0',
            'stopsignal': program.stop_signal, 'stopwaitsecs': '4',
            'stopasgroup': 'true', 'killasgroup': 'true',
            'redirect_stderr': 'true', 'stdout_logfile': log,
            'stdout_logfile_maxbytes': '50MB',
            'stdout_logfile_backups': '1'}})


def _write(
        path: pathlib.Path,
        sections: collections.abc.Mapping[
            str, collections.abc.Mapping[str, object]]) -> None:
    config = configparser.RawConfigParser()
    for name, given in sections.items():
        values = {k: str(v).replace('%', '%%') for k, v in given.items()}
        for key, value in values.items():
            if _COMMENT.search(value):
                raise errors.UsageError(
                    f'supervisord does not accept this value of {key}: '
                    f'{value}')
        config[name] = values
    temporary = path.with_suffix('.new')
    with open(temporary, 'w') as f:
        config.write(f)
    temporary.rename(path)
