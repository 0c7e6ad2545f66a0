# SPDX-License-Identifier: Apache-2.0

"""Folders that are safe for secrets and locks: other users cannot touch them.

Other users can read and fill a folder that they own. They can replace a folder
whose parent they own, or whose parent is world-writable without the sticky
bit, and redirect a symbolic link that they own. OpenSSH has the same
requirements for files that it trusts (sshd_config(5), StrictModes), the kernel
for links in /tmp (fs.protected_symlinks).
"""

import contextlib
import dataclasses
import errno
import os
import pathlib
import pwd
import stat

from magnum_capi import errors

#: How many links Linux follows in one path.
_LINKS = 40


@dataclasses.dataclass(frozen=True)
class Step:
    """One component of the path to a folder.

    :param owner: number of the user.
    :param mode: from ``os.lstat``.
    """

    path: pathlib.Path
    owner: int
    mode: int


@dataclasses.dataclass(frozen=True)
class Way:
    """The path to a folder, with every link followed.

    :param steps: its components, from the root on.
    :param target: absolute, without links.
    :param exists: whether the last step is the target.
    """

    steps: tuple[Step, ...]
    target: pathlib.Path
    exists: bool


@dataclasses.dataclass(frozen=True)
class Users:
    """The users that a process trusts.

    :param own: owners that a folder may have.
    :param above: owners that its parents and links may have.
    """

    own: frozenset[int]
    above: frozenset[int]


def objection(way: Way, users: Users) -> str | None:
    """Why a folder is not safe, None when it is; pure."""
    for step in way.steps:
        last = way.exists and step is way.steps[-1]
        if step.owner not in (users.own if last else users.above):
            return f'{step.path} belongs to {_name(step.owner)}'
        if stat.S_ISDIR(step.mode) and step.mode & stat.S_IWOTH and (
                last or not step.mode & stat.S_ISVTX):
            return f'everybody may write to {step.path}'
    return None


def users(user: int, sudo: str | None, map_: str, unknown: int) -> Users:
    """The users that a process trusts; pure.

    :param user: number of its effective user.
    :param sudo: the value of SUDO_UID: the user who became root by sudo.
    :param map_: /proc/self/uid_map.
    :param unknown: the number of users that a user namespace does not map,
        such as the owners of a host's folders, seen from a container.
    """
    own = {user}
    if user == 0 and sudo and sudo.isdigit():
        own.add(int(sudo))
    above = own | {0}
    if map_.split() not in ([], ['0', '0', str(2**32 - 1)]):
        above.add(unknown)
    return Users(frozenset(own), frozenset(above))


def check(path: pathlib.Path) -> pathlib.Path:
    """The absolute path of a folder, without links; it need not exist.

    :raises UsageError: another user owns it, or can replace it.
    :raises EnvironmentProblem: it cannot be examined.
    """
    try:
        way = _walk(path)
    except OSError as e:
        raise _unusable(path, e) from None
    found = objection(way, users(
        os.geteuid(), os.environ.get('SUDO_UID'),
        _text('/proc/self/uid_map'),
        int(_text('/proc/sys/kernel/overflowuid') or 65534)))
    if found:
        raise errors.UsageError(
            'Other users can change this folder', where=path,
            last_seen=found, hint='Name a folder that only you can change')
    return way.target


def make(path: pathlib.Path) -> pathlib.Path:
    """Make a folder that only its owner can enter, unless it exists.

    :returns: see :func:`check`.
    :raises: see :func:`check`; EnvironmentProblem if it cannot be made.
    """
    target = check(path)
    try:
        private(target)
    except OSError as e:
        raise _unusable(path, e) from None
    # Another process may have created it first.
    return check(target)


def private(path: str | pathlib.Path) -> pathlib.Path:
    """Make a folder that only its owner can enter, and missing parents.

    An existing folder stays as it is, whoever owns it.

    :raises OSError: it cannot be made.
    """
    path = pathlib.Path(path)
    # One by one: mkdir does not apply its mode to parents.
    for folder in reversed((path, *path.parents)):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _walk(path: str | pathlib.Path) -> Way:
    waiting = [*reversed((pathlib.Path.cwd() / path).parts[1:])]
    here, links = pathlib.Path('/'), 0
    steps = [_step(here)]
    while waiting:
        name = waiting.pop()
        if name == '..':
            here = here.parent
            continue
        try:
            step = _step(here / name)
        except (FileNotFoundError, NotADirectoryError):
            target = here.joinpath(name, *reversed(waiting))
            return Way(tuple(steps), pathlib.Path(os.path.normpath(target)),
                       False)
        steps.append(step)
        if stat.S_ISLNK(step.mode):
            links += 1
            if links > _LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            to = pathlib.Path(os.readlink(step.path))
            if to.is_absolute():
                here = pathlib.Path('/')
            waiting += reversed(to.parts[to.is_absolute():])
        else:
            here = step.path
    return Way((*steps, _step(here)), here, True)


def _step(path: pathlib.Path) -> Step:
    found = os.lstat(path)
    return Step(path, found.st_uid, found.st_mode)


def _text(path: str) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(path).read_text()
    return ''


def _name(user: int) -> str:
    try:
        return f'the user {pwd.getpwuid(user).pw_name}'
    except KeyError:
        return f'the user {user}'


def _unusable(path: pathlib.Path, error: OSError
              ) -> errors.EnvironmentProblem:
    return errors.EnvironmentProblem(
        f'Cannot use this folder: {error.strerror}', where=path)
