# SPDX-License-Identifier: Apache-2.0


"""Saves what is available of a run whose aggregator is lost or stuck.

The log of the tests comes from the API, the JUnit file from inside the pod of
the tests. Such a run is never complete, and its result says so.
"""

import dataclasses
import json
import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.run import observe
from magnum_capi_tempest.conformance.run import pod_files
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.kubeclient import kube

LOG, JUNIT, PODS = pod_files.LOG, pod_files.JUNIT, 'pods.json'

#: The user's name for the pod that belongs to no plugin.
AGGREGATOR = 'aggregator'

#: Most bytes of one log.
_MOST = 256 << 20


@dataclasses.dataclass(frozen=True)
class Saved:
    """What was saved.

    :param notes: what was not saved, and why.
    """

    folder: pathlib.Path
    log: pathlib.Path | None = None
    junit: pathlib.Path | None = None
    notes: tuple[str, ...] = ()


def save(reader: kube.Client, namespace, folder: pathlib.Path) -> Saved:
    """Save logs and JUnit of a run's pods into a folder.

    Errors of the cluster are not raised: each becomes a note.

    :raises EnvironmentProblem: a file cannot be written.
    """
    notes = []
    try:
        found = reader.items(kube.pod_path(namespace))
    except kube.KubeError as e:
        return Saved(folder, notes=(str(e),))
    pods = [observe.pod(p) for p in found]
    # Not the objects themselves: environments contain secrets.
    outfile.write_private(folder / PODS, json.dumps(
        [dataclasses.asdict(p) for p in pods], indent=1).encode())
    log = junit = None
    for pod in pods:
        if pod.plugin not in ('', sonobuoy.PLUGIN):
            continue
        container = sonobuoy.PLUGIN if pod.plugin else 'kube-sonobuoy'
        try:
            text = (pod_files.longest_log if pod.plugin
                    else pod_files.shown_log)(
                reader, namespace, pod.name, container, _MOST)
        except kube.KubeError as e:
            notes.append(f'no log of {pod.name}: {e.what}')
            text = ''
        if text:
            file = folder / (LOG if pod.plugin else 'aggregator.log')
            outfile.write_private(file, text.encode())
            log = file if pod.plugin else log
        if pod.plugin:
            junit = _junit(reader, namespace, pod, folder, notes) or junit
    if not any(p.plugin for p in pods):
        notes.append('there is no pod of the tests')
    return Saved(folder, log, junit, tuple(notes))


def logs(reader: kube.Client, namespace, plugin=sonobuoy.PLUGIN):
    """Yield names of pods and their logs so far.

    :param plugin: of Sonobuoy; "" is its aggregator.
    :raises KubeError: a log cannot be read.
    :raises UsageError: the run has no such plugin.
    """
    for name, container in _containers(reader, namespace, plugin):
        read = (pod_files.longest_log if plugin == sonobuoy.PLUGIN
                else pod_files.shown_log)
        yield name, read(reader, namespace, name, container, _MOST)


def only_container(reader: kube.Client, namespace, plugin):
    """The only pod of a plugin, and its container.

    :raises UsageError: the run has no such plugin, or it has several pods.
    """
    found = _containers(reader, namespace, plugin)
    if len(found) > 1:
        raise errors.UsageError(
            f'{plugin} has {len(found)} pods, but only one can be followed',
            last_seen=', '.join(name for name, _ in found),
            hint=f'kubectl logs --follow --namespace {namespace} POD')
    return found[0]


def _containers(reader, namespace, plugin):
    found = [(observe.pod(obj), obj)
             for obj in reader.items(kube.pod_path(namespace))]
    wanted = [(pod.name, _container(obj)) for pod, obj in found
              if pod.plugin == plugin]
    if not wanted:
        there = sorted({pod.plugin or AGGREGATOR for pod, _ in found})
        raise errors.UsageError(
            f'There is no pod of {plugin or AGGREGATOR} in the namespace '
            f'{namespace}', last_seen=', '.join(there) or 'no pods at all',
            hint='Choose one with --plugin')
    return wanted


def _container(obj):
    """The one that does the work: Sonobuoy's own only hands over results."""
    names = [container['name'] for container in obj['spec']['containers']]
    return next((n for n in names if n != pod_files.WORKER), names[0])


def _junit(reader, namespace, pod, folder, notes):
    try:
        for name, content in pod_files.files(reader, namespace, pod.name):
            if name == JUNIT and content:
                outfile.write_private(folder / JUNIT, content)
                return folder / JUNIT
    except (kube.KubeError, damage.Damage) as e:
        why = ('it has handed its results to the aggregator, which gives them '
               'with its archive' if pod.phase == 'Succeeded' else e.what)
        notes.append(f'no JUnit of {pod.name}: {why}')
        return None
    notes.append(f'no JUnit of {pod.name}: the tests have not written it')
    return None
