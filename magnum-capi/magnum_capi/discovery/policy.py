# SPDX-License-Identifier: Apache-2.0
"""What magnum.conf says about drivers."""

import collections.abc
import glob
import os

from oslo_config import cfg
from oslo_config import iniparser

from magnum_capi.discovery import model
from magnum_capi import errors

#: Those of magnum/conf/drivers.py of Magnum 23, and the filter's own.
_OPTIONS: dict[str | None, tuple[cfg.Opt, ...]] = {
    'drivers': (
        cfg.StrOpt('default_driver'),
        cfg.ListOpt('disabled_drivers', default=()),
        cfg.ListOpt('enabled_beta_drivers', default=())),
    'k8s_discovery': (
        cfg.StrOpt('mode', default=model.Mode.STRICT.value,
                   choices=[mode.value for mode in model.Mode]),),
}


class Source:
    """Configuration files of Magnum, which have the policy.

    :param files: as with ``--config-file`` of oslo.config: later ones win.
    :param folders: as with ``--config-dir``: their ``*.conf``, sorted, win
        over ``files``.
    :param search: search like Magnum's API for what is not given:
        ``magnum.conf``, ``magnum-api.conf`` and the folders of these names
        with ``.d``, in ``~/.magnum``, ``~``, ``/etc/magnum`` and ``/etc``.

    The environment (``OS_DRIVERS__DEFAULT_DRIVER``) overrides all of them,
    as always with oslo.config.
    """

    def __init__(self, files: collections.abc.Iterable[str] | None = None,
                 folders: collections.abc.Iterable[str] | None = None, *,
                 search: bool = True) -> None:
        if search:
            names = {'project': 'magnum', 'prog': 'magnum-api'}
            files = files or cfg.find_config_files(**names)
            folders = folders or cfg.find_config_dirs(**names)
        self.files = tuple(map(_absolute, files or ()))
        self.folders = tuple(map(_absolute, folders or ()))

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> 'Source':
        """The files that a configuration, such as Magnum's, was read from.

        :param conf: has been called. It does not record the order of files
            and folders; folders are assumed to come last.
        """
        folders = conf.config_dirs or conf.config_dir
        return cls(conf.config_file, folders, search=False)

    def policy(self) -> model.Policy:
        """Read the files.

        :raises UsageError: one cannot be read or parsed; names the file.
        """
        try:
            conf = self.parsed(_OPTIONS)
            default = conf.drivers.default_driver
            return model.Policy(
                (default or '').strip() or None,
                _names(conf.drivers.disabled_drivers),
                _names(conf.drivers.enabled_beta_drivers),
                model.Mode(conf.k8s_discovery.mode))
        # oslo.config exits the program for some values.
        except (cfg.Error, OSError, ValueError, SystemExit) as error:
            raise errors.UsageError(
                "Magnum's configuration cannot be read",
                where=self._culprit(error),
                last_seen=_said(error)
            ) from error

    def parsed(self, options: collections.abc.Mapping[
            str | None, collections.abc.Iterable[cfg.Opt]]) -> cfg.ConfigOpts:
        """The files as oslo.config reads them, in a ConfigOpts of their own.

        :param options: options to read, by group; None: [DEFAULT].
        :raises cfg.Error: a file cannot be read or parsed.
        """
        conf = cfg.ConfigOpts()
        for group, wanted in options.items():
            conf.register_opts(wanted, group=group)
        conf([f'--config-file={path}' for path in self.files]
             + [f'--config-dir={path}' for path in self.folders],
             project='magnum', default_config_files=[],
             default_config_dirs=[])
        return conf

    def _culprit(self, error: BaseException) -> str:
        """The file that an error is about, if known."""
        for attribute in ('config_file', 'config_dir', 'filename'):
            found = getattr(error, attribute, None)
            if found:
                return str(found)
        found = getattr(error, 'config_files', None)
        if not found:
            found = [path for path in self.files + tuple(
                path for folder in self.folders for path in _listed(folder))
                if not _is_text(path)] or self.files + self.folders
        return ', '.join(found) or 'environment'


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def _listed(folder: str) -> list[str]:
    # The names that oslo.config reads, in its order.
    return sorted(glob.glob(os.path.join(folder, '*.conf')))


def _names(values: collections.abc.Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in map(str.strip, values) if name)


def _said(error: BaseException) -> str:
    """An error's text without the line of the file, which may be secret."""
    parsing = error.__context__
    if isinstance(parsing, iniparser.ParseError):
        return f'line {parsing.lineno}: {model.plain(parsing.msg)}'
    return f'{type(error).__name__}: {model.plain(error)}'


def _is_text(path: str) -> bool:
    try:
        with open(path) as file:
            file.read()
    except (OSError, ValueError):
        return False
    return True
