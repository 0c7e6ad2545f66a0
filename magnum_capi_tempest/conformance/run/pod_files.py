# SPDX-License-Identifier: Apache-2.0

"""Reads the files of the tests inside their pod, during or after the run.

Neither container has a shell. Sonobuoy's worker, which waits to hand over the
results, contains the program that packs archives (``sonobuoy splat``): it
prints the files that the tests packed at their end. The image of the tests
contains kubectl (kubernetes, test/conformance/image/Dockerfile), which can
print a file as part of a ConfigMap: as "data", or, if it is not UTF-8, as
"binaryData".
"""

import io
import pathlib

from magnum_capi_tempest.conformance.results import archive
from magnum_capi_tempest.conformance.results import limits
from magnum_capi_tempest.kubeclient import kube

LOG, JUNIT = 'e2e.log', 'junit_01.xml'

#: pkg/plugin/driver/utils and pkg/plugin/driver/job of Sonobuoy v0.57.5.
WORKER, _RESULTS = 'sonobuoy-worker', '/tmp/sonobuoy/results'


def log(reader, namespace, pod, container):
    """The log so far, a str; empty if there is none.

    :param reader: :class:`..kubeclient.kube.Client`.
    :param pod: its name.
    :param container: that of the tests.
    :raises KubeError: the pod cannot be read.
    """
    return reader.execute(namespace, pod, container, [
        'kubectl', 'create', 'configmap', 'log', '--dry-run=client',
        f'--from-file=log={_RESULTS}/{LOG}',
        '--output=go-template={{with .data}}{{.log}}{{end}}'
        '{{with .binaryData}}{{base64decode .log}}{{end}}']).decode(
            errors='replace')


def longest_log(reader, namespace, pod, container, most):
    """The log of the tests, from the API or from the pod; a str.

    The output of parallel tests reaches the API late: see
    :class:`.observe.Observer`.

    :param most: bytes.
    :raises KubeError: neither has one.
    """
    try:
        inside = log(reader, namespace, pod, container)
    except kube.KubeError:
        inside = ''
    try:
        outside = shown_log(reader, namespace, pod, container, most)
    except kube.KubeError:
        if not inside:
            raise
        return inside
    return max(inside, outside, key=len)


def shown_log(reader, namespace, pod, container, most):
    """The log of a container in the API; a str.

    :param most: bytes.
    :raises KubeError: it has none.
    """
    return reader.text(kube.log_path(namespace, pod), container=container,
                       limitBytes=most)


def files(reader, namespace, pod):
    """Yield names and contents of the result files, at the end.

    :param reader: :class:`..kubeclient.kube.Client`.
    :param pod: its name.
    :raises KubeError: the pod cannot be read.
    :raises Damage: its answer is not an archive.
    """
    packed = reader.execute(namespace, pod, WORKER,
                            ['/sonobuoy', 'splat', _RESULTS])
    for name, content in _members(packed, pod):
        if name.endswith('.tar.gz'):
            for inner, text in _members(content, name):
                yield pathlib.PurePosixPath(inner).name, text


def _members(packed, where):
    """Names and contents of a small archive in memory."""
    bounds = limits.Limits()
    walk = archive.Walk(archive.Content(io.BytesIO(packed), where, bounds),
                        where, bounds)
    for member in walk:
        yield member.name, b''.join(walk.content())
