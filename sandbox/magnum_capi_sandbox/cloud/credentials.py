# SPDX-License-Identifier: Apache-2.0
"""The secrets of one cloud. Each cloud has its own; snapshots have none.

The services that fill a snapshot had secrets, too, but those are thrown away:
every sandbox that starts from the snapshot, even the one that made it, gets
new ones.
"""

import base64
import json
import pathlib
import secrets

from magnum_capi import outfile
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import infrastructure

#: Folders of Keystone's keys, below the sandbox's folder.
REPOSITORIES = ('keystone/fernet-keys', 'keystone/credential-keys')

_PASSWORDS = 'secrets.json'


def make(directory: pathlib.Path) -> dict[str, str]:
    """Make new secrets for a cloud that does not run.

    Keystone's database must be updated: see :func:`.seed.relocate`.

    :returns: passwords of the users admin and demo, of the services, and of
        the broker.
    """
    passwords = {user: secrets.token_urlsafe(18)
                 for user in ('admin', 'demo', 'service', 'broker')}
    outfile.write_private(directory / _PASSWORDS, json.dumps(passwords))
    for name in REPOSITORIES:
        for folder in (directory / name).parent, directory / name:
            folder.mkdir(mode=0o700, exist_ok=True)
        # The primary and the staged key, as after "keystone-manage
        # fernet_setup": keystone/common/fernet_utils.py.
        for number in ('0', '1'):
            outfile.write_private(
                directory / name / number,
                base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
    return passwords


def passwords(directory: pathlib.Path) -> dict[str, str]:
    """What :func:`make` returned for a sandbox."""
    found: dict[str, str] = json.loads((directory / _PASSWORDS).read_text())
    return found


def of_users(known: dict[str, str], kind: str = infrastructure.MEMORY
             ) -> dict[str, str]:
    """The passwords of all users of Keystone, by name.

    :param known: what :func:`make` returned.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    services = {service.name for service in catalog.services(kind)}
    return {'admin': known['admin'], 'demo': known['demo']} | dict.fromkeys(
        services - {'keystone'}, known['service'])
