# SPDX-License-Identifier: Apache-2.0

"""Finds the run in a cluster, whoever started it.

What "sonobuoy run" leaves there is enough to watch the run, to fetch its
results and to end it (pkg/client/gen.go of v0.57.5): the aggregator's pod has
a label, and the plugins and the configuration are in ConfigMaps beside it. A
run that this machine started is recognized by the mark or the UID of its
namespace.
"""

import dataclasses
import datetime
import os
import typing

import yaml

from magnum_capi import errors
from magnum_capi_tempest.conformance import documents
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import kubeconfigs
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import runner
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

#: Timeout of Sonobuoy's aggregator if its configuration has none.
_TIMEOUT = 21600

#: Seconds that the aggregator gets to end the run by itself.
_PATIENCE = 600


@dataclasses.dataclass(frozen=True)
class Where:
    """Where to look for a run.

    :param namespace: of the run; empty for any.
    """

    target: runs.Target
    namespace: str = ''


@dataclasses.dataclass(frozen=True)
class Seen:
    """A run as seen in its cluster: objects of Kubernetes, and its version.

    :param config: Sonobuoy's "config.json", parsed.
    :param plugins: definitions of the plugins, parsed.
    """

    space: dict[str, typing.Any]
    config: typing.Any = None
    plugins: tuple[typing.Any, ...] = ()
    version: str = ''

    @property
    def namespace(self) -> str:
        return self.space['metadata']['name']


def find(where: Where, runtime) -> runs.Run:
    """The record of the run in a cluster; a new one if there is none.

    Nothing is written.

    :param runtime: :class:`.lifecycle.Runtime`.
    :raises UsageError: there is no run, or more than one.
    :raises EnvironmentProblem: the cluster cannot be searched.
    """
    with kubeconfigs.access(where.target, runtime.connect) as access:
        target = dataclasses.replace(where.target, context=access.context)
        reader = kube.Client(access.kubeconfig)
        try:
            seen = _look(reader, where)
        except kube.KubeError as e:
            raise errors.EnvironmentProblem(
                f'The cluster cannot be searched for runs: {e.what}',
                where=e.where, last_seen=e.last_seen) from e
    known = _known(seen.space['metadata'], runtime.store)
    if known:
        return dataclasses.replace(known, target=target)
    record = record_of(seen, target)
    began = datetime.datetime.fromisoformat(record.started)
    return dataclasses.replace(record, about=dataclasses.replace(
        access.about, kubernetes=seen.version),
        name=runtime.store.new_name(target, began))


def record_of(seen: Seen, target: runs.Target) -> runs.Run:
    """What can be found out about a run, which has no name yet.

    Its results go to the current folder by default. After they are fetched,
    the run stays in the cluster: whoever started it may want them too.
    """
    timeout = documents.dig(seen.config, 'Server', 'timeoutseconds')
    timeout = timeout if isinstance(timeout, int) and timeout > 0 else _TIMEOUT
    metadata = seen.space['metadata']
    return runs.Run(
        '', target, dataclasses.replace(
            _plan(seen.plugins), namespace=seen.namespace,
            timeout=timeout + _PATIENCE),
        os.getcwd(), model.SONOBUOY, runs.STARTED,
        (documents.moment(metadata.get('creationTimestamp'))
         or datetime.datetime.now(datetime.timezone.utc)).isoformat(),
        keep=True, uid=metadata.get('uid') or '')


def _plan(plugins):
    """The plan of its tests; a plan without tests if it runs others."""
    for document in plugins:
        if documents.text(document, 'sonobuoy-config',
                          'plugin-name') != sonobuoy.PLUGIN:
            continue
        told = {documents.text(entry, 'name'):
                texts.line(entry['value'], runner.LONGEST)
                for entry in documents.entries(document, 'spec', 'env')
                if isinstance(entry.get('value'), str)}
        focus = told.get('E2E_FOCUS', '')
        mode = documents.mode_of(told)
        if mode in runner.FOCUS:
            return runner.Plan(mode)
        return runner.Plan(model.FOCUSED, expression=focus or '.',
                           skip=told.get('E2E_SKIP', ''))
    return runner.Plan(model.FOCUSED, expression='^$')


def _known(metadata, store):
    mark = (metadata.get('annotations') or {}).get(namespaces.MARK)
    return next((record for record in store.all()
                 if record.stage != runs.ENDED
                 and (record.mark and record.mark == mark
                      or record.uid and record.uid == metadata.get('uid'))),
                None)


def _look(reader, where):
    aggregators = reader.items(
        kube.pod_path(where.namespace) if where.namespace else '/api/v1/pods',
        labelSelector='sonobuoy-component=aggregator')
    names = sorted({pod['metadata']['namespace'] for pod in aggregators})
    if not names:
        raise errors.UsageError(
            'There is no run of Sonobuoy'
            + (f' in the namespace {where.namespace}' if where.namespace
               else ''), where=where.target,
            hint='Start one with "magnum-capi conformance run"; "status '
                 '--all" lists the runs of this machine')
    if len(names) > 1:
        raise errors.UsageError(
            'There are several runs', where=where.target,
            last_seen=', '.join(names), hint='Name one with --namespace')
    path = f'/api/v1/namespaces/{names[0]}'
    space = reader.get(path)
    if space is None:
        raise kube.KubeError('The namespace of the run has just gone',
                             where=where.target)
    plugins = _data(reader, f'{path}/configmaps/sonobuoy-plugins-cm')
    config = _data(reader, f'{path}/configmaps/sonobuoy-config-cm')
    return Seen(
        space, documents.parse(config.get('config.json', '').encode()),
        tuple(map(_yaml, plugins.values())),
        (reader.get('/version') or {}).get('gitVersion') or '')


def _data(reader, path):
    """The data of a ConfigMap; empty if it is missing or unreadable."""
    try:
        found = reader.get(path) or {}
    except kube.KubeError:
        return {}
    return {key: value for key, value in (found.get('data') or {}).items()
            if isinstance(value, str)}


def _yaml(text):
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
