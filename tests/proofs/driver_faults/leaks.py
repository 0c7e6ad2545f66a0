# SPDX-License-Identifier: Apache-2.0

"""Leftovers of deleted clusters, wherever they may be.

The management cluster, Keystone, Magnum's database, the folder of temporary
files and the processes are checked directly, not through the driver.
"""

import dataclasses

from magnum_capi.driver.desired import names
from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import backends
from magnum_capi_tempest.evidence import capi
from tests.proofs.driver_faults import box as box_module

#: Seconds until the garbage collector has removed a cluster's objects.
COLLECTED = 45

#: Rows of Magnum by the cluster's uuid.
_ROWS = {'cluster': 'uuid', 'nodegroup': 'cluster_id'}


@dataclasses.dataclass(frozen=True)
class Before:
    """The state before clusters are created.

    :param certificates: number of them in Magnum's database.
    :param trusts: ids.
    :param files: names of temporary files.
    """

    certificates: int
    trusts: frozenset
    files: frozenset


class Search:
    """Searches leftovers in one sandbox.

    :param box: box.Box.
    :param cloud: cloud.Cloud, the user's.
    """

    def __init__(self, box, cloud):
        self._box = box
        self._cloud = cloud
        self._evidence = capi.ManagementCluster(box.layout.kubeconfig)
        self._admin = box.connect()
        self.before = self.now()

    def now(self) -> Before:
        """Current things that cannot be identified by a cluster's uuid."""
        (certificates,), = self._select('SELECT COUNT(*) FROM x509keypair')
        temporary = self._box.layout.directory / 'tmp'
        return Before(
            int(certificates),
            frozenset(trust.id for trust in self._admin.identity.trusts()),
            frozenset(p.name for p in temporary.iterdir()))

    def of(self, uuid) -> list[str]:
        """Leftovers of a cluster, sorted texts."""
        release = names.cluster(uuid)
        found = {str(o) for o in self._evidence.objects_of(release, uuid)}
        found |= {
            f'Lease {lease["metadata"]["namespace"]}/{release}'
            for lease in self._box.api.get(box_module.LEASES)['items']
            if lease['metadata']['name'] == release}
        found |= {
            f'application credential {credential["name"]}'
            for credential in self._cloud.application_credentials()
            if credential['name'].startswith(f'magnum-{uuid}')}
        for table, column in _ROWS.items():
            (number,), = self._select(
                f'SELECT COUNT(*) FROM {table} WHERE {column} = \'{uuid}\'')
            if int(number):
                found.add(f'{number} rows of Magnum: {table}')
        found |= {f'process {p.pid}: helm'
                  for p in self._box.helms(release)}
        return sorted(found)

    def others(self) -> list[str]:
        """Leftovers since ``before`` that cannot be identified by a uuid."""
        now = self.now()
        found = [f'temporary file {name}'
                 for name in sorted(now.files - self.before.files)]
        if now.trusts - self.before.trusts:
            found.append('trusts at Keystone')
        more = now.certificates - self.before.certificates
        if more:
            found.append(f'{more} certificates in Magnum')
        return found

    def wait_gone(self, uuid) -> list[str]:
        """Leftovers of a cluster that remain after a while."""
        return _while(lambda: self.of(uuid))

    def wait_no_others(self) -> list[str]:
        """As :meth:`wait_gone`, for :meth:`others`."""
        return _while(self.others)

    def _select(self, sql):
        socket = backends.MariaDB(self._box.layout.directory).socket
        said = processes.run(
            ['mariadb', '--no-defaults', f'--socket={socket}',
             '--user=root', '--batch', '--skip-column-names', 'magnum'],
            stdin=sql, timeout=60)
        return [line.split('\t') for line in said.splitlines()]


def _while(read):
    try:
        return waiting.wait_for(
            read, done=lambda left: not left, timeout=COLLECTED,
            what='everything of the cluster to be gone')
    except errors.WaitTimeout as e:
        return e.state
