# SPDX-License-Identifier: Apache-2.0

"""Asserts that Magnum shows no version before all nodes have it."""

import collections.abc

from tempest.lib import exceptions as lib_exc

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common.management import upgrade_order
from magnum_capi_tempest.tests.common import observations

#: The promise without which a version may come too early during an operation.
PROMISE = 'upgrade.cluster.version-not-early'


class ShownTooEarly(errors.MagnumCapiError):
    """Magnum shows a version that a node does not have yet."""


class Watch:
    """Compares each new version of a cluster with its nodes.

    Nodes only become newer: one that is older after Magnum has answered was
    older before.

    :param read_nodes: function of the body of a cluster that returns an
        access.Nodes.
    :param always: compare during operations, too, and not only what Magnum
        shows when it calls a cluster complete.
    """

    def __init__(self, read_nodes: collections.abc.Callable[
            [json_types.Object], access.Nodes], always: bool = True) -> None:
        self._read_nodes = read_nodes
        self._always = always
        self._shown: dict[str, str] = {}
        self._ignored: set[str] = set()

    def ignore(self, cluster_id: str) -> None:
        """Compare no version of a cluster from now on."""
        self._ignored.add(cluster_id)

    def see(self, cluster: json_types.Object) -> None:
        """Compare what Magnum shows of a cluster.

        The first version that it shows is that of its creation. While the
        nodes cannot be listed, the next call compares.

        :param cluster: its body.
        :raises ShownTooEarly: a node is older.
        """
        ident, version = cluster['uuid'], cluster.get('coe_version')
        shown = self._shown.get(ident)
        if not version or version == shown or ident in self._ignored:
            return
        if shown:
            complete = observations.is_complete(cluster.get('status'))
            if not (complete or self._always):
                return
            try:
                state = self._read_nodes(cluster)
            except (errors.MagnumCapiError, lib_exc.TempestException):
                return
            if state.error or not state.nodes:
                return
            new = upgrade_order.numbers(version)
            old = [node for node in state.nodes
                   if upgrade_order.numbers(node.version) < new]
            if old:
                raise ShownTooEarly(
                    f'Magnum shows {version} for cluster {ident}, which is '
                    f'{cluster.get("status")}, although nodes are older',
                    last_seen=', '.join(f'{node.name} {node.version}'
                                        for node in old),
                    hint=None if complete else
                    f'Drivers promise it not to: {PROMISE}')
        self._shown[ident] = version
