# SPDX-License-Identifier: Apache-2.0

"""Which images do the tests of a Kubernetes version use? Pure.

Read from test/utils/image/manifest.go of the module k8s.io/kubernetes, the
table that "e2e.test --list-images" prints. That command also prints the images
of CSI drivers, which no required test starts.
"""

import dataclasses
import re

from magnum_capi import errors

SOURCE = 'test/utils/image/manifest.go'

_KEYS = re.compile(r'^\s*(\w+)\s+string\s+`yaml:"(\w+)"`', re.MULTILINE)
_REGISTRIES = re.compile(r'initRegistry = RegistryList\{(.*?)\n\t\}',
                         re.DOTALL)
_REGISTRY = re.compile(r'^\s*(\w+):\s*"([^"]+)"', re.MULTILINE)
_IMAGE = re.compile(r'configs\[(\w+)\] = Config\{list\.(\w+), '
                    r'"([^"]+)", "([^"]+)"\}')
#: Images that are never mapped to another registry: they must not be pulled,
#: or only with credentials that the tests provide.
_SPECIAL = re.compile(r'case ([\w,\s]+):\s*// These images are special')


@dataclasses.dataclass(frozen=True)
class Suite:
    """The images of the tests.

    :param images: full names.
    :param registries: key of the file KUBE_TEST_REPO_LIST -> upstream
        registry, for those that can be mirrored.
    :param special: images that tests expect to be denied, or to come from
        elsewhere: no mirror has them.
    """

    images: tuple[str, ...]
    registries: dict[str, str]
    special: tuple[str, ...] = ()


def parse(text: str, where) -> Suite:
    """Read the table of a version.

    :param where: its file, for messages.
    :raises EnvironmentProblem: its format is not known.
    """
    keys, block = dict(_KEYS.findall(text)), _REGISTRIES.search(text)
    registries = dict(_REGISTRY.findall(block[1])) if block else {}
    special = {name.strip() for found in _SPECIAL.findall(text)
               for name in found.split(',')}
    images = _IMAGE.findall(text)
    if not images or not special or any(
            registry not in registries or registry not in keys
            for _, registry, _, _ in images):
        raise errors.EnvironmentProblem(
            'The list of the images of the tests has an unknown format',
            where=where, hint='To print them, run "e2e.test --list-images" in '
            'the image of the tests')
    apart = {registry for name, registry, _, _ in images if name in special}

    def names(wanted):
        return tuple(sorted({
            f'{registries[registry]}/{image}:{tag}'
            for name, registry, image, tag in images
            if (name in special) == wanted}))

    return Suite(
        names(False), {keys[registry]: registries[registry]
                       for registry in sorted(registries)
                       if registry in keys and registry not in apart},
        names(True))
