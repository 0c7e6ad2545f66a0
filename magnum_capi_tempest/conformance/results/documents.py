# SPDX-License-Identifier: Apache-2.0

"""What an archive says besides results: documents of its ``meta`` folder, of
the API server, of plugins and of nodes.

Everything here takes a parsed document of any shape and keeps what is needed
of it: a megabyte of JSON can be twenty times that when it is parsed, so the
document itself must not stay. Nothing decides whether a run passed.
"""

import collections
import dataclasses
import json
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import texts

#: ``focus`` -> ``skip`` -> mode (cmd/sonobuoy/app/modes.go, v0.57.5, and
#: "--conformance" of Hydrophone v0.8.0).
_MODES = {
    ('\\[Conformance\\]', ''): model.CERTIFIED,
    ('\\[Conformance\\]', '\\[Disruptive\\]|NoExecuteTaintManager'):
        model.NON_DISRUPTIVE,
    ('Pods should be submitted and removed', ''): model.QUICK,
}
#: How the skip of Sonobuoy's conformance-lite begins: its names may change.
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
#: Plugins that are told apart.
_PLUGINS = 100


def parse(data: bytes):
    """A JSON document, None when it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def dig(document, *path):
    """What lies at a path of keys, None when it is not there."""
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def text(document, *path) -> str:
    """A line of text at a path of keys, empty when there is none."""
    found = dig(document, *path)
    return texts.line(found, _LINE) if isinstance(found, str) else ''


def entries(document, *path):
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
    def of(cls, document):
        nodes = [(name, entry.get('healthy'))
                 for entry in entries(document, 'node_health', 'details')
                 if (name := text(entry, 'name'))]
        return cls(tuple(sorted(name for name, _ in nodes)),
                   tuple(sorted(name for name, well in nodes
                                if well is False)))


@dataclasses.dataclass(frozen=True)
class Server:
    """``serverversion.json`` of the API server.

    :param unbuilt: it was built from no commit, as stand-ins are.
        Kubernetes' build stamps the commit into ``gitCommit``; who builds it
        from the Go module alone has none to stamp.
    """

    version: str = ''
    platform: str = ''
    unbuilt: bool = False

    @classmethod
    def of(cls, document):
        commit = text(document, 'gitCommit')
        return cls(text(document, 'gitVersion'), text(document, 'platform'),
                   bool(commit) and not commit.strip('0'))


@dataclasses.dataclass(frozen=True)
class Definition:
    """``definition.json`` of a plugin: its image and its environment."""

    image: str = ''
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, document):
        path = 'Definition', 'spec'
        return cls(text(document, *path, 'image'),
                   {text(entry, 'name'): entry['value']
                    for entry in entries(document, *path, 'env')
                    if isinstance(entry.get('value'), str)})


def version(document) -> str:
    """Sonobuoy's own version, in ``meta/config.json``."""
    return text(document, 'Version')


def plugins(document) -> tuple[str, ...]:
    """Names of the plugins that ran, in ``meta/info.json``."""
    named = dig(document, 'plugins')
    return tuple(texts.line(name, 100) for name in named[:_PLUGINS]
                 if isinstance(name, str)) if isinstance(named, list) else ()


def version_in(text_: str) -> str:
    """The Kubernetes version in a line, ``v1.34.9``; empty without one."""
    match = _VERSION.search(text_)
    return match.group() if match else ''


def minor(version: str) -> str:
    """``v1.34`` of ``v1.34.9``."""
    return '.'.join(version.split('.')[:2])


def mode(focus: str | None, skip: str | None, processes: str) -> str:
    """What was asked for, from what Ginkgo was told.

    A run on several processes is no certified run: tests that expect the
    cluster for themselves meet each other in it.
    """
    if focus is None:
        return model.UNKNOWN
    focus, skip = focus.strip(), (skip or '').strip()
    if focus == '\\[Conformance\\]' and skip.startswith(_LITE):
        return model.LITE
    found = _MODES.get((focus, skip), model.FOCUSED)
    if found == model.CERTIFIED and processes not in ('', '0', '1'):
        return model.FOCUSED
    return found


def mode_of(variables: dict[str, str]) -> str:
    """What was asked for, from the variables of Sonobuoy's e2e plugin."""
    parallel = variables.get('E2E_PARALLEL', '')
    return mode(variables.get('E2E_FOCUS'), variables.get('E2E_SKIP'),
                '' if parallel in ('', 'false') else 'several')


def network(daemon_sets) -> str:
    """Name of the network plugin, by the daemon sets of a namespace."""
    for entry in entries(daemon_sets, 'items'):
        name = text(entry, 'metadata', 'name')
        if name in _NETWORKS:
            return _NETWORKS[name]
    return ''


def systems(nodes) -> dict[str, str]:
    """Facts of the nodes: what differs is named once each, with counts."""
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
