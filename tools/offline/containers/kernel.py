# SPDX-License-Identifier: Apache-2.0

"""Settings of the host's kernel that several Kubernetes nodes need."""

import pathlib

#: Minimum for several machines with systemd. With the kernel's 128 instances,
#: about the tenth machine fails to start: "Failed to create control group
#: inotify object: Too many open files". The values are those of kind's "Known
#: issues", with more instances.
NEEDED = {'fs/inotify/max_user_instances': 1024,
          'fs/inotify/max_user_watches': 524288}

#: Folder of the settings.
TOP = pathlib.Path('/proc/sys')


def lift(top=TOP) -> list[str]:
    """Raise the limits that are too low; they stay until a reboot.

    :returns: "key is N, M are needed" for each that cannot be raised.
    """
    refused = []
    for key, least in NEEDED.items():
        file = top / key
        if not file.exists():
            continue
        now = int(file.read_text())
        if now < least:
            try:
                file.write_text(f'{least}\n')
            except OSError:
                name = key.replace('/', '.')
                refused.append(f'{name} is {now}, {least} is needed')
    return refused
