# SPDX-License-Identifier: Apache-2.0
"""Finds, adds and removes the filter in Magnum's api-paste.ini.

The file is the operator's: only the filter changes, comments and order stay,
and so do its owner and mode.
"""

import collections.abc
import configparser
import enum
import os
import pathlib
import re

from magnum_capi import errors
from magnum_capi import outfile

NAME = 'driver_discovery'
FACTORY = 'magnum_capi.discovery.filter:factory'


#: The name in Magnum's own file, and that of deployers whose file has nothing
#: but the API (OpenStack-Helm); the first that exists counts.
_PIPELINES = ('pipeline:api', 'pipeline:main')
_HEADER = re.compile(r'\[(?P<name>[^]]+)\]')
_VALUE = re.compile(r'pipeline\s*[=:]')


class _Parser(configparser.ConfigParser):
    """Reads names like paste.deploy: they are case-sensitive."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


class Position(enum.Enum):
    """Where the filter is in the pipeline of Magnum's API."""

    ABSENT = 'absent'
    #: The user is not known yet, so no image can be read.
    BEFORE_AUTHTOKEN = 'before authtoken'
    IN_PLACE = 'after authtoken'


def position(text: str) -> Position:
    """The position of the filter in a paste file.

    :raises UsageError: it is not a paste file with Magnum's API.
    """
    parser, pipeline = _read(text)
    ours = _named(parser, lambda factory: factory == FACTORY)
    places = [at for at, name in enumerate(pipeline) if name in ours]
    if not places:
        return Position.ABSENT
    if places[0] < _authtoken(parser, pipeline):
        return Position.BEFORE_AUTHTOKEN
    return Position.IN_PLACE


def with_filter(text: str) -> str:
    """Add the filter last, next to the API, so that nothing changes its input.

    A file with the filter behind authtoken is returned unchanged.

    :raises UsageError: it is not a paste file with Magnum's API behind
        authtoken, another filter has the name, or the pipeline is written in
        a way that cannot be changed.
    """
    where = position(text)
    if where is Position.IN_PLACE:
        return text
    parser, pipeline = _read(text)
    _authtoken(parser, pipeline)
    ours = _named(parser, lambda factory: factory == FACTORY)
    name = min(ours, default=NAME)
    before, value, after = _around(text, _section(parser))
    head, app, tail = _without(ours, value).rpartition(pipeline[-1])
    changed = f'{before}{head}{name} {app}{tail}{after}'
    if not ours:
        if f'filter:{NAME}' in parser:
            raise errors.UsageError(
                f'The paste file has another filter {NAME}',
                last_seen=parser[f'filter:{NAME}'].get(
                    'paste.filter_factory'))
        changed = changed.rstrip('\n') + (
            f'\n\n[filter:{NAME}]\npaste.filter_factory = {FACTORY}\n')
    *others, app = (other for other in pipeline if other not in ours)
    return _checked(changed, _section(parser), [*others, name, app])


def without_filter(text: str) -> str:
    """Remove the filter and its section; a file without it stays.

    :raises UsageError: it is not a paste file with Magnum's API, or the
        pipeline is written in a way that cannot be changed.
    """
    parser, pipeline = _read(text)
    ours = _named(parser, lambda factory: factory == FACTORY)
    if not ours:
        return text
    before, value, after = _around(text, _section(parser))
    text = before + _without(ours, value) + after
    for gone in ours:
        # Up to its last option: comments after that may be the next section's.
        text = re.sub(
            rf'\n?^\[filter:{re.escape(gone)}\]\n'
            r'(?:(?:(?!\[).*\n)*'
            r'(?![\[#;\s]).+(?:\n|\Z)(?:[ \t]+\S.*(?:\n|\Z))*)?',
            '', text, flags=re.MULTILINE)
    return _checked(text, _section(parser),
                    [name for name in pipeline if name not in ours])


def put(path: str | pathlib.Path, *, dry: bool = False,
        change: collections.abc.Callable[[str], str] = with_filter,
        ) -> bool:
    """Add the filter; returns whether the file had to be changed.

    :param path: of Magnum's api-paste.ini; links are followed.
    :param dry: do not write the file.
    :param change: of the file's text; :func:`without_filter` removes
        the filter.
    :raises UsageError: it does not exist, or is not a paste file of Magnum.
    :raises EnvironmentProblem: it cannot be read or written.
    """
    path = pathlib.Path(path).resolve()
    try:
        text = path.read_text(encoding='utf-8')
        known = path.stat()
    except (OSError, ValueError) as e:
        kind = (errors.UsageError if isinstance(e, FileNotFoundError)
                else errors.EnvironmentProblem)
        raise kind(
            'Cannot read the paste file', where=path, last_seen=e,
            hint='Name the api-paste.ini of Magnum\'s API') from e
    changed = change(text)
    if changed == text:
        return False
    if not dry:
        with outfile.whole(path, outfile.PRIVATE) as stream:
            stream.write(changed.encode())
            if os.geteuid() == 0:
                os.fchown(stream.fileno(), known.st_uid, known.st_gid)
            os.fchmod(stream.fileno(), known.st_mode & 0o7777)
    return True


def _checked(changed: str, section: str, pipeline: list[str]) -> str:
    """A changed text, after checking the names in its pipeline.

    configparser accepts more than what is changed here: indented lines, and
    values with comments or empty lines in them.
    """
    try:
        good = _read(changed)[1] == pipeline
    except errors.UsageError:
        good = False
    if not good:
        raise errors.UsageError(
            f'[{section}] of the paste file is written in a way that cannot '
            'be changed', hint='Begin its line "pipeline =" at the margin, '
            'with no comment and no empty line among the names')
    return changed


def _section(parser: _Parser) -> str:
    return next((name for name in _PIPELINES if name in parser),
                _PIPELINES[0])


def _read(text: str) -> tuple[_Parser, list[str]]:
    """The file, and the names in the pipeline of the API."""
    parser = _Parser(interpolation=None)
    try:
        parser.read_string(text)
        return parser, parser[_section(parser)]['pipeline'].split()
    except (configparser.Error, KeyError) as e:
        raise errors.UsageError(
            f'This is not a paste file of Magnum with a section '
            f'[{"] or [".join(_PIPELINES)}]',
            last_seen=str(e).splitlines()[0] if str(e) else None) from e


def _named(parser: _Parser,
           chosen: collections.abc.Callable[[str], bool]) -> set[str]:
    """Names of the filters whose factory matches."""
    return {section.removeprefix('filter:') for section in parser.sections()
            if section.startswith('filter:') and chosen(
                parser[section].get('paste.filter_factory', '').strip())}


def _authtoken(parser: _Parser, pipeline: list[str]) -> int:
    """Index of the last filter that authenticates users."""
    known = _named(parser, lambda factory: 'auth_token' in factory)
    places = [at for at, name in enumerate(pipeline)
              if name in known or name == 'authtoken']
    if not places or places[-1] == len(pipeline) - 1:
        raise errors.UsageError(
            f'[{_section(parser)}] of the paste file has no authtoken before '
            'the API', last_seen=' '.join(pipeline) or 'an empty pipeline')
    return places[-1]


def _without(names: set[str], value: str) -> str:
    """The value of a pipeline without some names."""
    for name in names:
        value = re.sub(rf'(?<=[\s=:]){re.escape(name)}(?=\s)[ \t]*', '', value)
    return value


def _around(text: str, pipeline: str) -> tuple[str, str, str]:
    """The text before a pipeline's value, the value, and the rest."""
    lines = text.splitlines(keepends=True)
    span = _span(lines, pipeline)
    return (''.join(lines[:span.start]), ''.join(lines[span.start:span.stop]),
            ''.join(lines[span.stop:]))


def _span(lines: list[str], pipeline: str) -> range:
    """Lines of the pipeline's value, including continuation lines."""
    section: str | None = None
    start: int | None = None
    for at, line in enumerate(lines):
        header = _HEADER.match(line)
        if header:
            section = header['name']
        if start is not None and (header or not line[:1].isspace()
                                  or not line.strip()):
            return range(start, at)
        if section == pipeline and _VALUE.match(line):
            start = at
    return range(0) if start is None else range(start, len(lines))
