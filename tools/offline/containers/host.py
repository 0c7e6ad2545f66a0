# SPDX-License-Identifier: Apache-2.0

"""Whether containers can run here, and if not, why.

Decisions are pure functions of :class:`Facts`, which :func:`inspect` gathers.
Obstacles that no file shows (a filter on system calls, a kernel without a
module) are found by a trial in temporary namespaces.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import sys
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from tools.offline.containers import settings

#: Program -> Debian package that has it.
PROGRAMS = {
    'dockerd': 'docker.io', 'containerd': 'containerd', 'runc': 'runc',
    'tini': 'tini', 'iptables': 'iptables', 'ip': 'iproute2',
    'flock': 'util-linux', 'unshare': 'util-linux',
    'nsenter': 'util-linux', 'mount': 'mount'}

#: Controllers of control groups that containers with Kubernetes need.
CONTROLLERS = ('cpu', 'cpuset', 'memory', 'pids')

#: Without these, root cannot make namespaces, mounts and interfaces.
CAPABILITIES = {'CAP_NET_ADMIN': 12, 'CAP_SYS_ADMIN': 21}

#: runc gives it to every privileged container, but not every root has it.
_SYS_RESOURCE = 24

#: Seconds for one try.
_TRY = 20

# Tries everything that may be missing: namespaces, a pair of interfaces, a
# bridge, an overlay. $1 is an empty folder in the store of images.
_TRIAL = '''
set -e
ip link add trial0 type veth peer name trial1
ip link add trial2 type bridge
mount -t tmpfs none /run
cd "$1"
mkdir lower upper work merged
mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work none merged
'''


@dataclasses.dataclass(frozen=True)
class Facts:
    """Facts about a host.

    :param capabilities: CapEff and CapBnd of proc_pid_status(5), both.
    :param programs: path of each of :data:`PROGRAMS`, None when missing.
    :param controllers: names of the enabled ones.
    :param writable: whether control groups can be made.
    :param trial: error of the trial; None if it succeeded or was not made.
    """

    platform: str
    user: int
    capabilities: int
    programs: dict[str, str | None]
    controllers: frozenset[str]
    writable: bool
    trial: str | None = None


def problem(store=None) -> str | None:
    """Why containers cannot run here, in one line; None if they can.

    :param store: folder where images would be kept.
    """
    facts = inspect()
    found = verdict(facts)
    if found is None:
        found = verdict(dataclasses.replace(
            facts, trial=_try(facts.programs['unshare'], store)))
    return found


def verdict(facts) -> str | None:
    """The first obstacle to containers; pure."""
    if facts.platform != 'linux':
        return f'containers need Linux, and this is {facts.platform}'
    missing = sorted(n for n, p in facts.programs.items() if p is None)
    if missing:
        packages = ' '.join(sorted({PROGRAMS[n] for n in missing}))
        return (f'{", ".join(missing)} cannot be found; on Debian install '
                f'{packages}')
    if facts.user != 0:
        return 'containers need root, and this is another user'
    lacking = sorted(n for n, bit in CAPABILITIES.items()
                     if not facts.capabilities >> bit & 1)
    if lacking:
        return f'root lacks {" and ".join(lacking)} here'
    absent = sorted(set(CONTROLLERS) - facts.controllers)
    if absent:
        return ('there are no control groups for '
                f'{", ".join(absent)} below /sys/fs/cgroup')
    if not facts.writable:
        return 'control groups cannot be made here: /sys/fs/cgroup is ' \
               'read-only'
    if facts.trial is not None:
        return ('namespaces, interfaces or overlay mounts are refused here: '
                f'{facts.trial}')
    return None


def inspect() -> Facts:
    """Gather the facts of this host, without the trial."""
    return Facts(
        platform=sys.platform, user=os.geteuid(),
        capabilities=_capabilities(), programs=programs(),
        controllers=controllers(_read('/proc/mounts'), _read),
        writable=writable(_read('/proc/mounts')))


def programs() -> dict[str, str | None]:
    """Path of each of :data:`PROGRAMS`, where dockerd would find it."""
    path = settings.environment()['PATH']
    return {name: shutil.which(name, path=path) for name in PROGRAMS}


def lacks_resource() -> bool:
    """Whether root lacks CAP_SYS_RESOURCE, so that plain runc fails."""
    return not _capabilities() >> _SYS_RESOURCE & 1


def mounts(text) -> list[tuple[str, str, frozenset]]:
    """Mounts of control groups: (folder, type, options); pure.

    :param text: of ``/proc/mounts``.
    """
    found = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) > 3 and fields[2] in ('cgroup', 'cgroup2'):
            found.append((fields[1], fields[2],
                          frozenset(fields[3].split(','))))
    return found


def controllers(text, read) -> frozenset[str]:
    """The enabled controllers of either version of control groups.

    :param text: of ``/proc/mounts``.
    :param read: function of a path, the text of that file.
    """
    found = set()
    for folder, kind, options in mounts(text):
        found |= options if kind == 'cgroup' else set(
            read(f'{folder}/cgroup.controllers').split())
    return frozenset(found)


def writable(text) -> bool:
    """Whether all mounts of control groups can be written to; pure."""
    found = mounts(text)
    return bool(found) and all('ro' not in options
                               for _, _, options in found)


def _try(unshare, store) -> str | None:
    folder = pathlib.Path(store or tempfile.gettempdir())
    while not folder.exists():
        folder = folder.parent
    scratch = pathlib.Path(tempfile.mkdtemp(
        prefix='.magnum-capi-', dir=folder))
    try:
        processes.run(
            [unshare, '--net', '--mount', '--propagation', 'private',
             '--pid', '--fork', '--mount-proc', 'sh', '-c', _TRIAL, 'sh',
             scratch], timeout=_TRY, env=settings.environment())
    except errors.CommandFailed as e:
        return (e.output.strip().splitlines() or ['no reason given'])[-1]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return None


def _capabilities() -> int:
    """Capabilities that this process has and may pass on, as bits."""
    masks = [int(line.split()[1], 16)
             for line in _read('/proc/self/status').splitlines()
             if line.startswith(('CapEff:', 'CapBnd:'))]
    return masks[0] & masks[1] if len(masks) == 2 else 0


def _read(path) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(path).read_text()
    return ''
