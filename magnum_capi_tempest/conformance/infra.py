# SPDX-License-Identifier: Apache-2.0

"""Classifies failures of the harness by Sonobuoy's own words.

Sonobuoy writes ``error.json`` for a plugin that did not answer: an ``error``
and, for a pod, the whole pod, including its environment. Only the error and
the reasons of the pod's states are read (pkg/plugin/driver/utils and job.go of
vmware-tanzu/sonobuoy v0.57.5).
"""

import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import texts

TIMEOUT = 'timeout'
IMAGE_PULL = 'image-pull'
EVICTED = 'evicted'
CRASHED = 'crashed'
LOST = 'lost'
OTHER = 'other'

#: The first match decides the kind. The patterns are only compiled if there is
#: an error, as most records have none.
_KINDS = (
    (IMAGE_PULL, r'ImagePull|ErrImage|InvalidImageName|pull(ing)? image'),
    (EVICTED, r'evict|preempt|node was low on'),
    (LOST, r'could not find|not found|no pods? |node.?lost|NodeShutdown|'
           r'deleted|disappear'),
    (TIMEOUT, r'time(d)?.?out|deadline exceeded'),
    (CRASHED, r'crash|OOMKilled|terminated|exit(ed)? |ContainerCannotRun|'
              r'RunContainerError'),
)


def classify(message: str) -> str:
    """Kind of an infrastructure error, from its message."""
    for kind, pattern in _KINDS:
        if re.search(pattern, message, re.I):
            return kind
    return OTHER


def from_document(document, where: str) -> model.InfraError:
    """The error in an ``error.json``.

    :param document: content of the file, parsed; of any shape.
    :param where: plugin, and node if there is one.
    """
    # Imported only when needed: most records have no error.
    from magnum_capi_tempest import redact
    message, reasons = '', []
    if isinstance(document, dict):
        message = document.get('error', '')
        reasons = _reasons(document.get('pod'))
    if not isinstance(message, str) or not message.strip():
        message = 'an error without a message'
    for reason in reasons:
        if reason not in message:
            message += f'; {reason}'
    message = texts.line(redact.redact(message), 1000)
    return model.InfraError(classify(message), where, message)


def _reasons(pod):
    """Reasons in the status of a pod why it, or a container, stopped."""
    if not isinstance(pod, dict) or not isinstance(pod.get('status'), dict):
        return []
    status = pod['status']
    found = [status.get('reason')]
    for key in ('initContainerStatuses', 'containerStatuses'):
        containers = status.get(key)
        for container in containers if isinstance(containers, list) else ():
            state = (container.get('state')
                     if isinstance(container, dict) else None)
            for part in (state.values() if isinstance(state, dict) else ()):
                if isinstance(part, dict):
                    found.append(part.get('reason'))
    return [reason for reason in found
            if isinstance(reason, str) and reason not in ('', 'Completed')]
