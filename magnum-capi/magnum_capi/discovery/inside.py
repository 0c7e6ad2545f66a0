# SPDX-License-Identifier: Apache-2.0
"""Calls of the filter into Magnum's own code, in Magnum's process."""

import collections.abc
import typing

from magnum_capi.discovery import authorization
from magnum_capi.discovery import guarded
from magnum_capi.discovery import served_cluster
from magnum_capi.discovery import stored_template

#: A template or cluster as Magnum shows it.
Stored = collections.abc.Mapping[str, typing.Any]


class Inside:
    """All such calls; tests replace this class."""

    def authorize(self, route: guarded.Route,
                  environ: guarded.Environ) -> None:
        """See :func:`.authorization.check`."""
        authorization.check(route, environ)

    def served_cluster(self, ident: str,
                       environ: guarded.Environ) -> tuple[str, Stored]:
        """See :func:`.served_cluster.read`."""
        return served_cluster.read(ident, environ)

    def set_decided(self, uuid: str, driver: str, distro: str) -> None:
        """See :func:`.stored_template.set_decided`."""
        stored_template.set_decided(uuid, driver, distro)

    def delete_template(self, uuid: str) -> None:
        """See :func:`.stored_template.delete`."""
        stored_template.delete(uuid)
