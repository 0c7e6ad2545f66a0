# SPDX-License-Identifier: Apache-2.0
"""The application of cliff: finds the command and runs it."""

import importlib.metadata

from cliff import app
from cliff import commandmanager

_PACKAGE = 'magnum-capi'


class Commands(commandmanager.CommandManager):
    """Knows every command by name and loads the one that runs.

    cliff's own loads all of them to run one, and with them every library
    that any of them needs: most of a second and 40 MB.
    """

    def load_commands(self, namespace: str) -> None:
        """Find the commands of a group of entry points."""
        self.group_list.append(namespace)
        for entry in importlib.metadata.entry_points(group=namespace):
            self.commands[entry.name.replace('_', ' ')] = entry


class MagnumCapi(app.App):
    """The application; its commands are found by entry points."""

    NAME = 'magnum-capi'

    def __init__(self) -> None:
        super().__init__(
            description='Cluster API drivers for OpenStack Magnum: discover, '
                        'run and, with magnum-capi-tempest, test them.',
            version=importlib.metadata.version(_PACKAGE),
            command_manager=Commands('magnum_capi.cli'),
            deferred_help=True)
