# SPDX-License-Identifier: Apache-2.0

"""Which images does a run need, and what are they called in a mirror? Pure.

A mirror has the paths of upstream's registries without their hosts, so that
one file (KUBE_TEST_REPO_LIST) tells the tests where all of them are.
"""

import dataclasses
import shlex

import yaml

from magnum_capi_tempest.conformance.mirroring import suite as suite_
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.run import hydrophone
from magnum_capi_tempest.conformance.run import preflight
from magnum_capi_tempest.conformance.run import sonobuoy

#: Of Sonobuoy's plugin systemd-logs (pkg/config/config.go of v0.57.5).
SYSTEMD_LOGS = 'sonobuoy/systemd-logs:v0.4'

#: Program -> how it copies an image with all its architectures, and without
#: a daemon. Each has its credentials from a file of the user's.
TOOLS = {
    'skopeo': ('skopeo', 'copy', '--all', 'docker://{}', 'docker://{}'),
    'crane': ('crane', 'copy', '{}', '{}'),
    'oras': ('oras', 'copy', '{}', '{}'),
}


@dataclasses.dataclass(frozen=True)
class Needed:
    """The images of a run, by full names, and by who asks for them.

    :param tools: of the program that runs the tests: its own, and the one of
        the tests.
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
    """Name of an image, or of a registry of upstream's, in a mirror."""
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

    :param file: what :func:`repo_list` gives.
    """
    argv = ['magnum-capi', 'conformance', 'run']
    for name, image in wanted.tools.items():
        # systemd-logs is no plugin of the runs that are begun here.
        if name != 'systemd-logs':
            argv += [f'--{name}-image', mirrored(image, registry)]
    if 'busybox' in wanted.tools:
        argv += ['--backend', model.HYDROPHONE]
    return shlex.join([*argv, '--registry-mirrors', str(file)])
