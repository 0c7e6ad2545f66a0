# SPDX-License-Identifier: Apache-2.0

"""Collects and attaches the evidence of a failed test.

testtools carries details with the failure into subunit, HTML and the terminal.
A test that passes collects nothing. Every text passes through
:func:`magnum_capi_tempest.redact.redact`, including those of Tempest's own
fixtures (:func:`prepare`).
"""

import collections.abc
import dataclasses
import functools
import json
import typing

from testtools import content
from testtools import content_type

from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest.evidence import gather
from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest.evidence import logs
from magnum_capi_tempest.evidence import workload
from magnum_capi_tempest import json_types
from magnum_capi_tempest import redact
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import factories

#: Most characters of one detail. Its beginning is kept: a secret is only
#: recognized by the text in front of it.
MOST = 400_000

#: Type of texts that are in files, too: stestr prints all details of the type
#: text of a failed test, twice, and those of clusters have thousands of lines.
FILED = content_type.ContentType('application', 'x-text', {'charset': 'utf8'})

#: Bytes per packet of a subunit stream. A packet holds 4 MiB, and a longer one
#: ends the worker with all of its tests
#: (python-subunit 1.4, subunit/v2.py, _write_packet).
PIECE = 1 << 20

_Asked: typing.TypeAlias = dict[str, collections.abc.Callable[[], object]]

#: Most clusters of one test to collect evidence for, the latest.
CLUSTERS = 4


def shown(value: object) -> str:
    """Return a str, or anything JSON can write, as text without secrets."""
    if not isinstance(value, str):
        value = json.dumps(value, indent=1, sort_keys=True, default=str)
    if len(value) > MOST:
        value = (f'{value[:MOST]}\n... and {len(value) - MOST} more '
                 'characters')
    return redact.redact(value)


def text(value: object) -> content.Content:
    """Return testtools content of a str, or of anything JSON can write."""
    return content.text_content(shown(value))


def prepare(found: dict[str, content.Content],
            write: collections.abc.Callable[[str, str], object] | None = None,
            written: collections.abc.Container[str] = ()) -> None:
    """Redact the details of a test, and split them into pieces.

    Those of Tempest's own fixtures contain all requests, with the passwords of
    the users that it creates, and may be longer than any of ours, such as the
    log of a test that waited for twenty clusters.

    :param found: details by name, changed in place.
    :param write: function of a name and a text that writes a file. What is in
        a file becomes :data:`FILED`, except why the test failed. By default
        there are no files.
    :param written: names of details that are in files already.
    """
    for name, whole in found.items():
        kind = whole.content_type
        pieces = functools.partial(_pieces, whole)
        if write and kind.type == 'text':
            if name not in written:
                write(name, b''.join(pieces()).decode())
            if not name.startswith(('traceback', 'reason')):
                kind = FILED
        found[name] = content.Content(kind, pieces)


def _pieces(whole: content.Content) -> collections.abc.Iterator[bytes]:
    data = b''.join(whole.iter_bytes())
    if whole.content_type.type == 'text':
        data = redact.redact(data.decode('utf-8', 'replace')).encode()
    for start in range(0, len(data) or 1, PIECE):
        yield data[start:start + PIECE]


@dataclasses.dataclass(frozen=True)
class Sources:
    """Where evidence comes from.

    :param magnum: clients of the owner of the clusters.
    :param workload_api: whether the API of clusters can be reached.
    :param log_files: patterns of paths.
    :param log_command: see the option.
    :param users: ids and names of the test's users, to search the logs for.
    """

    magnum: factories.Magnum
    management: capi.ManagementCluster | None = None
    workload_api: bool = False
    log_files: tuple[str, ...] = ()
    log_command: str = ''
    users: tuple[str, ...] = ()


def collect(sources: Sources, cluster_ids: list[str], seconds: float,
            since: float = 0) -> dict[str, object]:
    """Collect all information about some clusters.

    There are two rounds of half the time each: what Magnum says about the
    clusters, then everything that this leads to, in parallel. It never raises.

    :param cluster_ids: uuids, the latest last.
    :param seconds: time limit for all of it.
    :param since: seconds since the epoch, when the test began.
    :returns: values for :func:`text`, by the names of details.
    """
    magnum = sources.magnum
    chosen = cluster_ids[-CLUSTERS:]
    found: dict[str, object] = dict(gather.run_in_parallel(
        {f'cluster of {uuid}': functools.partial(_cluster, magnum, uuid)
         for uuid in chosen}, seconds / 2))
    if len(chosen) < len(cluster_ids):
        found['clusters not asked for'] = '\n'.join(
            cluster_ids[:-CLUSTERS])
    asked: _Asked = {}
    names: list[str] = []
    for uuid in chosen:
        cluster = found[f'cluster of {uuid}']
        if not isinstance(cluster, dict):
            cluster = {}
        # A cluster that is gone from Magnum may still be in Cluster API.
        stack_id = (cluster.get('stack_id') or cluster.get('cluster_id')
                    or magnum.stacks.get(uuid))
        names += filter(None, (uuid, stack_id))
        asked.update((f'{name} of {uuid}', function) for name, function in
                     _of_cluster(sources, uuid, cluster, stack_id).items())
    requests = magnum.journal.select(chosen, since)
    found['requests'] = _lines(requests, 'none')
    words = [*(r.request_id for r in requests), *names, *sources.users]
    asked.update(_of_logs(sources, words, seconds / 2))
    return found | gather.run_in_parallel(asked, seconds / 2)


def _cluster(magnum: factories.Magnum, uuid: str) -> json_types.Object:
    return dict(magnum.clusters.show_cluster(uuid))


def _of_cluster(sources: Sources, uuid: str, cluster: json_types.Object,
                stack_id: str | None) -> _Asked:
    groups = sources.magnum.nodegroups
    management = sources.management
    asked: _Asked = {}
    if cluster:
        asked['node groups'] = lambda: [
            dict(groups.show_nodegroup(uuid, group['uuid']))
            for group in groups.list_nodegroups(uuid)['nodegroups']]
    if management and stack_id:
        asked['Cluster API conditions'] = lambda: _lines(
            management.conditions(stack_id), 'all as they should be')
        asked['Cluster API events'] = lambda: _lines(
            management.events(stack_id), 'none')
        asked['Helm history'] = lambda: _releases(
            management.releases(stack_id))
    if sources.workload_api and cluster.get('api_address'):
        asked['nodes and pods'] = lambda: _workload(sources.magnum, cluster)
    return asked


def _of_logs(sources: Sources, words: list[str], seconds: float) -> _Asked:
    asked: _Asked = {}
    if sources.log_files:
        asked['Magnum logs'] = lambda: logs.from_files(
            sources.log_files, words)
    if sources.log_command:
        asked['Magnum logs, by command'] = lambda: logs.from_command(
            sources.log_command, words, sources.magnum.journal.began,
            seconds)
    return asked


def _lines(values: collections.abc.Iterable[object], nothing: str) -> str:
    return '\n'.join(map(str, values)) or nothing


def _releases(history: dict[str, list[helm.Revision]]) -> str:
    return '\n'.join(
        line for name, revisions in sorted(history.items())
        for line in (f'{name}:', *(f'  {r}' for r in revisions))) or 'none'


def _workload(magnum: factories.Magnum, cluster: json_types.Object) -> str:
    with access.kubeconfig_of(magnum.certificates, cluster) as path:
        found = gather.run_in_parallel({
            'nodes': lambda: str(access.observe(path)),
            'pods': lambda: _lines(workload.pods(path), 'none'),
        }, 30)
    return f"nodes: {found['nodes']}\npods:\n{found['pods']}"
