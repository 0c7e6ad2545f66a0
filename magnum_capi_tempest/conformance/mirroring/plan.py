# SPDX-License-Identifier: Apache-2.0

"""Which images does a run need, and what are their names in a mirror? Pure.

A mirror has the same paths as upstream's registries, without their hosts, so
that a single file (KUBE_TEST_REPO_LIST) leads the tests to all images.
"""

import dataclasses
import shlex

import yaml

from magnum_capi_tempest.conformance.mirroring import suite as suite_
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import sonobuoy

#: For Sonobuoy's plugin systemd-logs (pkg/config/config.go of v0.57.5).
SYSTEMD_LOGS = 'sonobuoy/systemd-logs:v0.4'

#: Program -> how it copies an image with all its architectures, without a
#: daemon. Each reads credentials from the user's own file.
TOOLS = {
    'skopeo': ('skopeo', 'copy', '--all', 'docker://{}', 'docker://{}'),
    'crane': ('crane', 'copy', '{}', '{}'),
    'oras': ('oras', 'copy', '{}', '{}'),
}


@dataclasses.dataclass(frozen=True)
class Needed:
    """The full names of a run's images, by what needs them.

    :param tools: for the program that runs the tests: its own image, and the
        one with the tests.
    :param suite: those that the tests start.
    """

    tools: dict[str, str]
    suite: suite_.Suite

    @property
    def images(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.tools.values(),
                                    *self.suite.images)))


def needed(version, suite: suite_.Suite, backend=model.SONOBUOY,
           systemd_logs=False) -> Needed:
    """The images of a run of a version of Kubernetes."""
    tests = f'{hydrophone.IMAGE}:{version}'
    if backend == model.HYDROPHONE:
        tools = {'conformance': tests, 'busybox': hydrophone.BUSYBOX}
    else:
        tools = {'sonobuoy': sonobuoy.default_image(), 'conformance': tests}
        if systemd_logs:
            tools['systemd-logs'] = SYSTEMD_LOGS
    return Needed({name: preflight.full_name(image)
                   for name, image in tools.items()}, suite)


def mirrored(image: str, registry: str) -> str:
    """The name of an image, or an upstream registry, in a mirror."""
    _, _, path = image.partition('/')
    return f'{registry.rstrip("/")}/{path}'.rstrip('/')


def repo_list(suite: suite_.Suite, registry: str) -> str:
    """The file KUBE_TEST_REPO_LIST, which --registry-mirrors takes."""
    return yaml.safe_dump({key: mirrored(upstream, registry)
                           for key, upstream in suite.registries.items()})


def copies(wanted: Needed, registry: str, tool='skopeo') -> tuple[str, ...]:
    """A command line for each image."""
    *start, source, target = TOOLS[tool]
    return tuple(shlex.join([*start, source.format(image),
                             target.format(mirrored(image, registry))])
                 for image in wanted.images)


def run(wanted: Needed, registry: str, file) -> str:
    """The command that runs the tests with the images of a mirror.

    :param file: output of :func:`repo_list`.
    """
    argv = ['magnum-capi', 'conformance', 'run']
    for name, image in wanted.tools.items():
        # Runs that are started here do not use the plugin systemd-logs.
        if name != 'systemd-logs':
            argv += [f'--{name}-image', mirrored(image, registry)]
    if 'busybox' in wanted.tools:
        argv += ['--backend', model.HYDROPHONE]
    return shlex.join([*argv, '--registry-mirrors', str(file)])
