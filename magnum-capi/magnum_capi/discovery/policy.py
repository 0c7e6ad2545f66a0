# SPDX-License-Identifier: Apache-2.0
"""What magnum.conf says about drivers, always up to date.

Magnum reads its configuration once. An operator who disables a driver does not
expect users to be able to choose it until the next restart, so the files are
checked before each decision, at the cost of one ``stat`` per file.
"""

import collections.abc
import glob
import logging
import os
import threading
import time
import typing

from oslo_config import cfg
from oslo_config import iniparser

from magnum_capi.discovery import model
from magnum_capi import errors
from magnum_capi import waiting

LOG = logging.getLogger(__name__)

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
#: A second change of a file may have the same time as the first, if it comes
#: before the clock of the file system ticks (at most 10 ms in Linux).
_YOUNG_NS = 50_000_000
#: Seconds for which a young file must stay unchanged before it is used: its
#: writer may not have finished.
_SETTLE = waiting.Pace(0.05, 1.0, 0.05)
#: Seconds to wait for that.
_PATIENCE = 1.0

#: Result of :func:`_stamp`: two times in ns, bytes, and the inode.
_Stamp = tuple[tuple[int, int, int, int] | None, ...]


class _Look(typing.NamedTuple):
    """The files at one moment.

    :param young: one of them has just changed.
    :param found: the policy, or the error.
    """

    stamp: _Stamp
    young: bool
    found: model.Policy | errors.UsageError


class Source:
    """The policy in configuration files, read again when one changes.

    :param files: as with ``--config-file`` of oslo.config: later ones win.
    :param folders: as with ``--config-dir``: their ``*.conf``, sorted, win
        over ``files``.
    :param search: search like Magnum's API for what is not given:
        ``magnum.conf``, ``magnum-api.conf`` and the folders of these names
        with ``.d``, in ``~/.magnum``, ``~``, ``/etc/magnum`` and ``/etc``.

    The environment (``OS_DRIVERS__DEFAULT_DRIVER``) overrides all of them,
    as always with oslo.config. Threads may share an object.
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
        self._lock = threading.Lock()
        self._policy: model.Policy | None = None
        self._watched: tuple[str, ...] = ()
        self._stamp: _Stamp | None = None
        self._complaint: str | None = None

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> 'Source':
        """The files that a configuration, such as Magnum's, was read from.

        :param conf: has been called. It does not record the order of files
            and folders; folders are assumed to come last.
        """
        folders = conf.config_dirs or conf.config_dir
        return cls(conf.config_file, folders, search=False)

    def current(self) -> model.Policy:
        """The current policy; the same object as long as it is equal.

        A version that cannot be read or parsed is logged once, and the
        previous one stays in force.

        :raises UsageError: there was no valid version yet; names the file.
        """
        if self._policy is None:
            with self._lock:
                return self._renewed()
        # While another thread reads it, the previous one is in force.
        if self._changed() and self._lock.acquire(blocking=False):
            try:
                return self._renewed()
            finally:
                self._lock.release()
        return self._policy

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

    def _changed(self) -> bool:
        return self._stamp != _stamp(self._watched)

    def _renewed(self) -> model.Policy:
        """Needs the lock."""
        if self._policy is None or self._changed():
            return self._refreshed()
        return self._policy

    def _refreshed(self) -> model.Policy:
        try:
            look = self._settled()
        except errors.WaitTimeout as e:
            if self._policy is not None:
                LOG.warning('%s. The previous policy stays in force', e)
                self._stamp = None
                return self._policy
            look = e.state
        self._stamp = None if look.young else look.stamp
        found = look.found
        if isinstance(found, model.Policy):
            self._complaint = None
            if self._policy is None or found != self._policy:
                LOG.debug('%s', found)
                self._policy = found
            return self._policy
        if self._policy is None:
            raise found
        if str(found) != self._complaint:
            LOG.error('%s. The previous policy stays in force', found)
        self._complaint = str(found)
        return self._policy

    def _settled(self) -> _Look:
        """Read the files when nothing is writing them.

        :raises WaitTimeout: they keep changing.
        """
        stamps: list[_Stamp] = []

        def same(look: _Look) -> bool:
            stamps.append(look.stamp)
            return not look.young or stamps[-1] in stamps[-2:-1]

        return waiting.wait_for(
            self._look, done=same, timeout=_PATIENCE, pace=_SETTLE,
            what="Magnum's configuration to stay the same",
            describe=lambda look: ', '.join(self.files + self.folders))

    def _look(self) -> _Look:
        # A file that changes during reading must look changed later on:
        # therefore stat folders, then list them, then stat and read files.
        begin = time.time_ns()
        folders = _stamp(self.folders)
        self._watched = watched = self.folders + self.files + tuple(
            path for folder in self.folders for path in _listed(folder))
        stamp = folders + _stamp(watched[len(self.folders):])
        young = any(one and abs(begin - one[0]) < _YOUNG_NS for one in stamp)
        try:
            return _Look(stamp, young, self._read())
        except errors.UsageError as error:
            return _Look(stamp, young, error)

    def _read(self) -> model.Policy:
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


def _stamp(paths: collections.abc.Iterable[str]) -> _Stamp:
    """For each file, a value that changes with it; None: it does not exist.

    It includes the time of the last change of the inode, because a file can
    become readable without any other change.
    """
    stamp: list[tuple[int, int, int, int] | None] = []
    for path in paths:
        try:
            s = os.stat(path)
        except OSError:
            stamp.append(None)
        else:
            stamp.append((s.st_ctime_ns, s.st_mtime_ns, s.st_size, s.st_ino))
    return tuple(stamp)


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
