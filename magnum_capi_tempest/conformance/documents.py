# SPDX-License-Identifier: Apache-2.0

"""The documents of an archive besides results: of its ``meta`` folder, of
the API server, of plugins and their errors, and of nodes.

Each function takes a parsed document of any shape and keeps only what is
needed: a megabyte of JSON can take twenty times that when parsed, so the
document itself must not be kept. None of this decides whether a run passed.
"""

import collections
import dataclasses
import json
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import json_types
from magnum_capi_tempest import texts

#: ``focus`` -> ``skip`` -> mode (cmd/sonobuoy/app/modes.go, v0.57.5, and
#: "--conformance" of Hydrophone v0.8.0).
_MODES = {
    ('\\[Conformance\\]', ''): model.CERTIFIED,
    ('\\[Conformance\\]', '\\[Disruptive\\]|NoExecuteTaintManager'):
        model.NON_DISRUPTIVE,
    ('Pods should be submitted and removed', ''): model.QUICK,
}
#: Start of the skip of Sonobuoy's conformance-lite: its names may change.
_LITE = 'Serial|Slow|Disruptive|'
#: Daemon set -> network plugin that it belongs to.
_NETWORKS = {
    'antrea-agent': 'antrea', 'calico-node': 'calico', 'canal': 'canal',
    'cilium': 'cilium', 'flannel': 'flannel', 'kindnet': 'kindnet',
    'kube-flannel': 'flannel',
    'kube-flannel-ds': 'flannel', 'kube-router': 'kube-router',
    'ovnkube-node': 'ovn-kubernetes', 'weave-net': 'weave'}
_VERSION = re.compile(r'v\d+\.\d+\.\d+[\w.+-]*')
_LINE = 300
#: Most plugins that are listed.
_PLUGINS = 100


def parse(data: bytes) -> object:
    """A JSON document, None if invalid."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def dig(document: object, *path: str) -> object:
    """The value at a path of keys, None if missing."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def text(document: object, *path: str) -> str:
    """A line of text at a path of keys, empty if missing."""
    found = dig(document, *path)
    return texts.line(found, _LINE) if isinstance(found, str) else ''


def entries(document: object, *path: str) -> list[json_types.Object]:
    """The members of a list of mappings at a path of keys."""
    found = dig(document, *path) if path else document
    return [entry for entry in found if isinstance(entry, dict)
            ] if isinstance(found, list) else []


@dataclasses.dataclass(frozen=True)
class Health:
    """``meta/clusterhealth.json``: names of nodes, sorted.

    :param unhealthy: those that were not healthy when the results were
        collected.
    """

    nodes: tuple[str, ...] = ()
    unhealthy: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: object) -> 'Health':
        nodes = [(name, entry.get('healthy'))
                 for entry in entries(document, 'node_health', 'details')
                 if (name := text(entry, 'name'))]
        return cls(tuple(sorted(name for name, _ in nodes)),
                   tuple(sorted(name for name, well in nodes
                                if well is False)))


@dataclasses.dataclass(frozen=True)
class Server:
    """``serverversion.json`` of the API server.

    :param unbuilt: it was not built from a commit, like stand-ins.
        Kubernetes' build stores the commit in ``gitCommit``; a build from the
        Go module alone has none.
    """

    version: str = ''
    platform: str = ''
    unbuilt: bool = False

    @classmethod
    def of(cls, document: object) -> 'Server':
        commit = text(document, 'gitCommit')
        return cls(text(document, 'gitVersion'), text(document, 'platform'),
                   bool(commit) and not commit.strip('0'))


@dataclasses.dataclass(frozen=True)
class Definition:
    """``definition.json`` of a plugin: its image and its environment."""

    image: str = ''
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, document: object) -> 'Definition':
        path = 'Definition', 'spec'
        return cls(text(document, *path, 'image'),
                   {text(entry, 'name'): entry['value']
                    for entry in entries(document, *path, 'env')
                    if isinstance(entry.get('value'), str)})


def version(document: object) -> str:
    """Sonobuoy's own version, in ``meta/config.json``."""
    return text(document, 'Version')


def plugins(document: object) -> tuple[str, ...]:
    """Names of the plugins that ran, in ``meta/info.json``."""
    named = dig(document, 'plugins')
    return tuple(texts.line(name, 100) for name in named[:_PLUGINS]
                 if isinstance(name, str)) if isinstance(named, list) else ()


def error(document: object, where: str) -> model.InfraError:
    """The error in an ``error.json``, for a plugin that did not answer.

    It has an ``error`` and, for a pod, the whole pod, including its
    environment. Only the error and the reasons of the pod's states are read
    (pkg/plugin/driver/utils and job.go of vmware-tanzu/sonobuoy v0.57.5).

    :param where: plugin, and node if there is one.
    """
    # Imported only when needed: most records have no error.
    from magnum_capi_tempest import redact
    message = dig(document, 'error')
    if not isinstance(message, str) or not message.strip():
        message = 'an error without a message'
    for reason in _reasons(dig(document, 'pod', 'status')):
        if reason not in message:
            message += f'; {reason}'
    return model.InfraError(where, texts.line(redact.redact(message), 1000))


def _reasons(status: object) -> list[str]:
    """Why a pod, or a container of it, waits or has stopped."""
    found = [text(status, 'reason')]
    for key in ('initContainerStatuses', 'containerStatuses'):
        for container in entries(status, key):
            found += [text(container, 'state', word, 'reason')
                      for word in ('waiting', 'running', 'terminated')]
    return [reason for reason in found if reason not in ('', 'Completed')]


def version_in(text_: str) -> str:
    """The Kubernetes version in a line, ``v1.34.9``; empty without one."""
    match = _VERSION.search(text_)
    return match.group() if match else ''


def mode(focus: str | None, skip: str | None) -> str:
    """The requested mode, from Ginkgo's options.

    The number of processes does not matter: Ginkgo runs [Serial] specs one by
    one, and CNCF certifies such runs (cncf/k8s-conformance pull request 4394).
    """
    if focus is None:
        return model.UNKNOWN
    focus, skip = focus.strip(), (skip or '').strip()
    if focus == '\\[Conformance\\]' and skip.startswith(_LITE):
        return model.LITE
    return _MODES.get((focus, skip), model.FOCUSED)


def mode_of(variables: dict[str, str]) -> str:
    """The requested mode, from the variables of Sonobuoy's e2e plugin."""
    skip = variables.get('E2E_SKIP')
    if not skip and variables.get('E2E_PARALLEL') in ('y', 'Y', 'true'):
        # kubernetes/kubernetes, test/conformance/image/go-runner/cmd.go.
        skip = r'\[Serial\]'
    return mode(variables.get('E2E_FOCUS'), skip)


def network(daemon_sets: object) -> str:
    """Name of the network plugin, by the daemon sets of a namespace."""
    for entry in entries(daemon_sets, 'items'):
        name = text(entry, 'metadata', 'name')
        if name in _NETWORKS:
            return _NETWORKS[name]
    return ''


def systems(nodes: object) -> dict[str, str]:
    """Facts about the nodes: each distinct value once, with its count."""
    found = {'node system': ('osImage',), 'kernel': ('kernelVersion',),
             'container runtime': ('containerRuntimeVersion',),
             'kubelet': ('kubeletVersion',)}
    facts = {}
    for fact, (key,) in found.items():
        counts = collections.Counter(
            text(entry, 'status', 'nodeInfo', key)
            for entry in entries(nodes, 'items'))
        counts.pop('', None)
        if counts:
            facts[fact] = ', '.join(
                value if len(counts) == 1 else f'{value} ({number})'
                for value, number in sorted(counts.items())[:10])
    return facts
