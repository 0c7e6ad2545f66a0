# SPDX-License-Identifier: Apache-2.0


"""Observes a run: Sonobuoy's status, the pods, the nodes, the tests' log.

A failed query becomes part of the observation and never raises: a watch
continues while the API server restarts.
"""

import dataclasses
import datetime
import time

from magnum_capi import errors
from magnum_capi_tempest.conformance.run import ginkgolog
from magnum_capi_tempest.conformance.run import namespaces
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import symptoms
from magnum_capi_tempest.conformance.run import watch
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest import texts

#: Most bytes of a log that are read to count in it; 388 specs wrote 93 KiB.
_LOG = 16 << 20

#: Seconds between two readings of that log, which is read from its beginning.
_LOG_PAUSE = 60

#: Seconds between two observations of everything else in the cluster.
_LOOK_PAUSE = 20

#: Most characters of a program's message that are shown.
_SAID = 300

#: What Sonobuoy says if namespace or aggregator do not exist, as opposed to
#: not answering: pkg/plugin/aggregation/status.go and update.go.
_GONE = ('not found', 'no pods found', 'no pod found')


class Observer:
    """Makes observations of one run.

    :param program: :class:`sonobuoy.Sonobuoy`.
    :param reader: :class:`kube.Client`.
    :param clock: for ``monotonic``.
    """

    def __init__(self, program, reader, clock=time):
        self._program = program
        self._reader = reader
        self._clock = clock
        self._namespace = program.commands.namespace
        self._looked = None
        self._log = None
        self._log_size = 0
        self._log_read = None

    def look(self) -> watch.Observation:
        """Observe once. Takes up to the timeouts of its calls."""
        status, said, error, gone = self._status()
        pods = nodes = None
        bad, wrong, tests = (), None, ()
        try:
            found = self._reader.items(kube.pod_path(self._namespace))
            pods = tuple(self._explained(found))
            there = self._reader.items('/api/v1/nodes')
            nodes = frozenset(n['metadata']['name'] for n in there)
            bad = tuple((n['metadata']['name'], why) for n in there
                        if (why := symptoms.not_ready(n)))
            wrong = self._signs(there)
            tests = namespaces.of_tests(
                _readable(self._reader, '/api/v1/namespaces'))
        except kube.KubeError as e:
            error = error or str(e)
        if status is not None and pods:
            self._read_log(status, pods)
        return watch.Observation(
            self._clock.monotonic(), status, said,
            # One of the two answered, so the cluster is there.
            '' if status is not None or gone else error,
            gone, pods, self._log, self._log_size, nodes, bad, wrong, tests)

    def _explained(self, found):
        """Pods; those that wait without a reason get one from their events."""
        events = None
        for obj in found:
            one = pod(obj)
            if one.phase == 'Pending' and one.node and not one.reason:
                if events is None:
                    events = _readable(
                        self._reader,
                        f'/api/v1/namespaces/{self._namespace}/events')
                reason, message = symptoms.cannot_start(obj, events)
                one = dataclasses.replace(one, reason=reason,
                                          message=message)
            yield one

    def _signs(self, nodes):
        now = self._clock.monotonic()
        if self._looked is not None and now - self._looked < _LOOK_PAUSE:
            return None
        self._looked = now
        return symptoms.signs(
            nodes, _readable(self._reader, '/api/v1/pods'),
            datetime.datetime.now(datetime.timezone.utc))

    def _status(self):
        try:
            text = self._program.status()
        except errors.CommandFailed as e:
            said = sonobuoy.failure_message(e.output) or str(e.what)
            gone = any(mark in e.output for mark in _GONE) \
                and self._really_gone()
            return None, '', said, gone
        status = sonobuoy.parse_status(text)
        return status, '' if status else texts.line(text, _SAID), '', False

    def _really_gone(self):
        """Sonobuoy's text may refer to anything; check the object itself."""
        try:
            found = self._reader.items(
                kube.pod_path(self._namespace),
                labelSelector='sonobuoy-component=aggregator')
        except kube.KubeError as e:
            return e.status == 404
        return not found

    def _read_log(self, status, pods):
        now = self._clock.monotonic()
        counted = any(p.completed or p.failed for p in status.plugins)
        if counted or self._log_read is not None \
                and now - self._log_read < _LOG_PAUSE:
            return
        for one in pods:
            if one.plugin != sonobuoy.PLUGIN or one.phase == 'Pending':
                continue
            self._log_read = now
            try:
                log = self._reader.text(
                    kube.log_path(self._namespace, one.name),
                    container=sonobuoy.PLUGIN, limitBytes=_LOG)
            except kube.KubeError:
                # It is only the fallback for a hint.
                return
            self._log_size = len(log)
            self._log = ginkgolog.count(log) or self._log


def _readable(reader, path, **query):
    """The objects of a list; none if they cannot be read."""
    try:
        return tuple(reader.items(path, **query))
    except kube.KubeError:
        return ()


def pod(obj) -> watch.Pod:
    """A pod of the run, from its object in the API."""
    metadata, status = obj['metadata'], obj.get('status') or {}
    reason, message = status.get('reason') or '', status.get('message') or ''
    for container in [*(status.get('initContainerStatuses') or ()),
                      *(status.get('containerStatuses') or ())]:
        waiting = (container.get('state') or {}).get('waiting') or {}
        # These two are the normal start of every container.
        if waiting.get('reason') not in (None, 'ContainerCreating',
                                         'PodInitializing'):
            reason = waiting['reason']
            message = waiting.get('message') or message
    for condition in status.get('conditions') or ():
        if condition.get('type') == 'PodScheduled' \
                and condition.get('status') == 'False':
            reason = condition.get('reason') or 'Unschedulable'
            message = condition.get('message') or message
    labels = metadata.get('labels') or {}
    aggregator = labels.get('sonobuoy-component') == 'aggregator'
    return watch.Pod(
        metadata['name'],
        '' if aggregator else labels.get('sonobuoy-plugin', '?'),
        status.get('phase') or '', reason, texts.line(message, _SAID),
        (obj.get('spec') or {}).get('nodeName') or '')
