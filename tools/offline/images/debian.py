# SPDX-License-Identifier: Apache-2.0

"""The Debian layer below the images' own files.

Made from Debian packages by mmdebstrap; apt checks their signatures.
"""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import tarfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest.toolchain import leftovers
from magnum_capi_tempest.toolchain import pins

#: Names a mirror to use instead of Debian's own mirror network.
MIRROR = 'MAGNUM_CAPI_DEBIAN_MIRROR'

_DEFAULT_MIRROR = 'http://deb.debian.org/debian'

#: Seconds.
_TIMEOUT = 1800

#: Prefix for mmdebstrap run by root: its mounts and processes end with it,
#: even if it is killed. Without root it takes care of that itself.
_ALONE = ('unshare', '--mount', '--propagation', 'private', '--pid',
          '--fork', '--kill-child=SIGKILL', '--mount-proc')

#: Left out of the layer: devices, which a runtime makes, and apt's caches.
_DROPPED = re.compile(
    r'(dev|proc|sys|run|tmp|var/cache|var/lib/apt/lists|var/log)/.+')

#: Never unpacked.
_EXCLUDED = ('/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*',
             '/usr/share/locale/*')


@dataclasses.dataclass(frozen=True)
class Debian:
    """A layer of Debian packages.

    :param suite: "bookworm".
    :param packages: in addition to the essential ones and apt.
    """

    suite: str
    packages: tuple[str, ...]

    def key(self) -> str:
        """Hex digest of everything that it is made from."""
        return hashlib.sha256(repr(
            (self, _EXCLUDED, pins.architecture())).encode()).hexdigest()


def make(wanted: Debian, out: pathlib.Path) -> None:
    """Make the layer.

    :param out: in its own folder, which the caller removes.
    :raises EnvironmentProblem: mmdebstrap is not installed.
    :raises CommandFailed: packages cannot be installed.
    """
    if not shutil.which('mmdebstrap'):
        raise errors.EnvironmentProblem(
            'The program mmdebstrap for images of Debian packages is missing',
            where='mmdebstrap', hint='Install the package mmdebstrap')
    raw, home = out.with_suffix('.raw'), out.with_suffix('.tmp')
    home.mkdir()
    # Without root, mmdebstrap works in this folder as another user.
    out.parent.chmod(0o755)
    processes.run(
        [*_ALONE] * (os.geteuid() == 0)
        + command(wanted, raw, os.environ.get(MIRROR, _DEFAULT_MIRROR)),
        timeout=_TIMEOUT,
        # mmdebstrap writes no time later than this, and works in TMPDIR.
        env=leftovers.marked(out.parent) | {
            'SOURCE_DATE_EPOCH': '0', 'TMPDIR': str(home)},
        hint=f'When the Debian mirror cannot be reached, set {MIRROR} to one '
             'that can')
    clean(raw, out)
    raw.unlink()


def command(wanted: Debian, out: pathlib.Path, mirror: str) -> list[str]:
    """The command line that makes the layer; pure."""
    return ['mmdebstrap', '--quiet', '--variant=minbase', '--format=tar',
            f'--architectures={pins.architecture()}',
            f'--include={",".join(wanted.packages)}',
            *(f'--dpkgopt=path-exclude={path}' for path in _EXCLUDED),
            '--aptopt=Acquire::Languages "none"',
            wanted.suite, str(out), mirror]


def clean(raw: pathlib.Path, out: pathlib.Path) -> None:
    """Copy a root file system's tar without unwanted files."""
    with tarfile.open(raw) as source, tarfile.open(
            out, 'w', format=tarfile.PAX_FORMAT) as target:
        for info in source:
            info.name = info.name.removeprefix('./')
            if info.name in ('', '.') or _DROPPED.match(info.name):
                continue
            info.mtime, info.uname, info.gname = 0, '', ''
            if info.islnk():
                info.linkname = info.linkname.removeprefix('./')
            target.addfile(
                info, source.extractfile(info) if info.isreg() else None)


def versions(status: str) -> dict[str, str]:
    """Package -> version from a dpkg status file; pure."""
    return dict(re.findall(
        r'(?ms)^Package: (\S+)$.*?^Version: (\S+)$', status))
