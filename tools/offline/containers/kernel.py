# SPDX-License-Identifier: Apache-2.0

"""Settings of the host's kernel that Kubernetes nodes change or need.

A kubelet sets some for its machine, which for a node in a container is this
one. Others limit the sum over all containers of a user, and are raised.
:mod:`.host_record` decides which command restores them, and when.
"""

import contextlib
import pathlib

#: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go of
#: kubernetes/kubernetes v1.34; none of them belongs to a namespace.
KEYS = ('vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic',
        'kernel/panic_on_oops', 'kernel/keys/root_maxkeys',
        'kernel/keys/root_maxbytes')

#: Minimum for several machines with systemd. With the kernel's 128 instances,
#: about the tenth machine fails to start: "Failed to create control group
#: inotify object: Too many open files". The values are those of kind's "Known
#: issues", with more instances.
NEEDED = {'fs/inotify/max_user_instances': 1024,
          'fs/inotify/max_user_watches': 524288}

#: Folder of the settings.
TOP = pathlib.Path('/proc/sys')


def read(top=None) -> dict[str, str]:
    """The current settings by key, without those that this kernel lacks.

    :param top: :data:`TOP` by default.
    """
    top = top or TOP
    found = {}
    for key in (*KEYS, *NEEDED):
        with contextlib.suppress(OSError):
            found[key] = (top / key).read_text().strip()
    return found


def lift(top=None) -> list[str]:
    """Raise the limits that are too low.

    :returns: "key is N, M are needed" for each that cannot be raised.
    """
    top = top or TOP
    now, refused = read(top), []
    for key, least in NEEDED.items():
        if key in now and int(now[key]) < least:
            try:
                (top / key).write_text(f'{least}\n')
            except OSError:
                name = key.replace('/', '.')
                refused.append(f'{name} is {now[key]}, {least} is needed')
    return refused


def put_back(values, top=None):
    """Restore settings that :func:`read` returned; keep all others."""
    top = top or TOP
    now = read(top)
    for key in (*KEYS, *NEEDED):
        if key in values and key in now and values[key] != now[key]:
            with contextlib.suppress(OSError):
                (top / key).write_text(f'{values[key]}\n')
