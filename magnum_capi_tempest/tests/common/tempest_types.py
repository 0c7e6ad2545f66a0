# SPDX-License-Identifier: Apache-2.0

"""Names for the types of Tempest, which come without annotations."""

import collections.abc
import typing

#: The clients of one user, a tempest.clients.Manager.
Manager: typing.TypeAlias = typing.Any

#: Of one user, a tempest.lib.auth.Credentials.
Credentials: typing.TypeAlias = typing.Any

#: A client of one service of the cloud.
Client: typing.TypeAlias = typing.Any

#: Tempest's configuration, a tempest.config.TempestConfigProxy.
Conf: typing.TypeAlias = typing.Any

#: ``addCleanup`` of a test, or ``addClassResourceCleanup`` of a class: takes a
#: function and its arguments.
Cleanup: typing.TypeAlias = collections.abc.Callable[..., object]
