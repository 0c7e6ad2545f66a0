# SPDX-License-Identifier: Apache-2.0

"""Settings of the host's kernel that Kubernetes nodes change or need.

A kubelet sets some for its machine, which for a node in a container is this
one. Others limit what all containers of a user have together, and are raised.
:mod:`.host_record` decides when they are put back, and by whom.
"""

import contextlib
import pathlib

#: setupKernelTunables in pkg/kubelet/cm/container_manager_linux.go of
#: kubernetes/kubernetes v1.34; none of them belongs to a namespace.
KEYS = ('vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic',
        'kernel/panic_on_oops', 'kernel/keys/root_maxkeys',
        'kernel/keys/root_maxbytes')

#: The least that several machines with systemd need. With the kernel's 128
#: instances, the tenth or so ends at its start: "Failed to create control
#: group inotify object: Too many open files". The values are those that kind
#: names under "Known issues", with more instances.
NEEDED = {'fs/inotify/max_user_instances': 1024,
          'fs/inotify/max_user_watches': 524288}

#: Where the kernel shows them.
TOP = pathlib.Path('/proc/sys')


def read(top=None) -> dict[str, str]:
    """What is set now, by key; without those that this kernel lacks.

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
    """Set what :func:`read` returned once; other keys are left alone."""
    top = top or TOP
    now = read(top)
    for key in (*KEYS, *NEEDED):
        if key in values and key in now and values[key] != now[key]:
            with contextlib.suppress(OSError):
                (top / key).write_text(f'{values[key]}\n')
