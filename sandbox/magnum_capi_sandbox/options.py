# SPDX-License-Identifier: Apache-2.0
"""Additions to Magnum's configuration: the files of ``etc/magnum.d``.

Magnum reads them after magnum.conf, in the order of their names; later ones
win. What drivers need comes first, then the user's files, and the one that
``sandbox set`` writes last.
"""

import collections.abc
import configparser
import io
import pathlib
import re

from magnum_capi import errors
from magnum_capi import outfile

#: Name of the file with what the drivers need.
DRIVERS = '05-drivers.conf'

#: Name of the file of ``sandbox set``.
SET = '90-set.conf'

_FIRST, _LAST = 10, 89

_CHANGE = re.compile(
    r'([\w:.-]+)\.([\w-]+)=([^\x00-\x1f\x7f]*)', re.ASCII).fullmatch


def check(path: str | pathlib.Path) -> pathlib.Path:
    """The absolute path of a file that oslo.config can parse.

    :raises UsageError: it cannot.
    """
    # Imported here: it takes a while, and few need it.
    from oslo_config import cfg
    path = pathlib.Path(path).absolute()
    if not path.is_file():
        raise errors.UsageError('There is no such file', where=path)
    try:
        cfg.ConfigOpts()(['--config-file', str(path)], project='magnum',
                         default_config_files=[], default_config_dirs=[])
    except (cfg.Error, ValueError, OSError) as e:
        raise errors.UsageError(
            'The file is not an oslo.config configuration file', where=path,
            last_seen=' '.join(str(e).split())) from e
    return path


def copy(paths: collections.abc.Sequence[str], folder: pathlib.Path
         ) -> None:
    """Copy files into ``etc/magnum.d``, named in the order of ``paths``.

    :raises UsageError: there are too many, or one cannot be read.
    """
    if len(paths) > _LAST - _FIRST + 1:
        raise errors.UsageError('Too many configuration files')
    for number, path in enumerate(map(pathlib.Path, paths), _FIRST):
        stem = re.sub(r'[^\w-]', '_', path.stem, flags=re.ASCII)
        try:
            text = path.read_text()
        except (OSError, ValueError) as e:
            raise errors.UsageError('The file cannot be read', where=path,
                                    last_seen=e) from e
        outfile.write_private(folder / f'{number}-{stem}.conf', text)


def add(values: collections.abc.Mapping[tuple[str, str], str],
        folder: pathlib.Path) -> None:
    """Write the values that drivers need, if there are any.

    :param values: by (group, option).
    """
    if values:
        outfile.write_private(folder / DRIVERS, merged('', values))


def changes(
        words: collections.abc.Sequence[str]) -> dict[tuple[str, str], str]:
    """Parse words ``GROUP.OPTION=VALUE``; returns values by (group, option).

    :raises UsageError: a word has another form.
    """
    found = {}
    for word in words:
        match = _CHANGE(word)
        if match is None:
            raise errors.UsageError(
                f'{word!r} is not of the form GROUP.OPTION=VALUE',
                hint='For example drivers.default_driver=k8s_capi_helm_v1; '
                     'an empty VALUE removes it')
        group, option, value = match.groups()
        found[group, option] = value.strip()
    return found


def merged(text: str, changes_: collections.abc.Mapping[tuple[str, str], str]
           ) -> str:
    """Apply changes to the text of a file; an empty value removes an option.

    :param text: an earlier result of this function, or empty.
    :param changes_: result of :func:`changes`.
    :raises configparser.Error: the text cannot be parsed.
    """
    parser = configparser.RawConfigParser(default_section='')
    # As its documentation says, see also python/mypy#5062.
    parser.optionxform = str  # type: ignore[method-assign,assignment]
    parser.read_string(text)
    for (group, option), value in changes_.items():
        if not parser.has_section(group):
            parser.add_section(group)
        parser.remove_option(group, option)
        if value:
            parser.set(group, option, value)
    for group in parser.sections():
        if not parser.options(group):
            parser.remove_section(group)
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue()


def value(folder: pathlib.Path, group: str, option: str) -> str | None:
    """The value of an option according to the files of a folder."""
    # Imported here: it takes a while, and few need it.
    from oslo_config import cfg
    conf = cfg.ConfigOpts()
    conf.register_opt(cfg.StrOpt(option), group=group)
    conf([f'--config-dir={folder}'] if folder.is_dir() else [],
         project='magnum', default_config_files=[], default_config_dirs=[])
    found: str | None = conf[group][option]
    return found


def change(folder: pathlib.Path, words: collections.abc.Sequence[str]) -> None:
    """Change the file of ``sandbox set``, all or nothing.

    :raises UsageError: see :func:`changes`.
    """
    path = folder / SET
    wanted = changes(words)
    try:
        text = merged(path.read_text() if path.exists() else '', wanted)
    except (configparser.Error, ValueError) as e:
        raise errors.UsageError(
            'The file was edited and can no longer be parsed',
            where=path, last_seen=' '.join(str(e).split()),
            hint='Correct or remove it') from e
    outfile.write_private(path, text)
