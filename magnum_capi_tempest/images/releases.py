# SPDX-License-Identifier: Apache-2.0

"""The releases of Kubernetes to make: ``1.36``, or exactly ``1.36.4``.

A folder has one release of each minor. Without a patch number it is the
pinned one; for any other the toolchain makes a Go module, and the image tags
that its kubeadm requires are read from its sources.
"""

import re

from magnum_capi import errors
from magnum_capi_tempest.images import recipes
from magnum_capi_tempest import toolchain
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import kubernetes

_CONSTANTS = 'cmd/kubeadm/app/constants/constants.go'
_TAGS = {'etcd': re.compile(r'DefaultEtcdVersion = "([^"]+)"'),
         'coredns': re.compile(r'CoreDNSVersion = "v([^"]+)"'),
         'pause': re.compile(r'PauseVersion = "([^"]+)"')}
_ASKED = re.compile(r'v?(1\.\d{1,3})(?:\.(\d{1,3}))?')


def asked(texts) -> dict[str, str | None]:
    """The requested minors, each with the requested release, if any.

    :param texts: ``1.36``, ``1.36.4`` or ``v1.36.4``.
    :returns: minor -> release, None for the default one.
    :raises UsageError: a text is not a version, or two releases of one minor
        are named.
    """
    found = {}
    for text in texts:
        match = _ASKED.fullmatch(text)
        if not match:
            raise errors.UsageError(f'{text!r} is not a Kubernetes version',
                                    hint='For example 1.36 or 1.36.5')
        minor = match[1]
        release = match[2] and f'{minor}.{match[2]}'
        if found.setdefault(minor, release) != release:
            raise errors.UsageError(
                f'Two releases of Kubernetes {minor}',
                last_seen=', '.join(texts),
                hint='A folder can only have one; use several --directory')
    return found


def chosen(wanted: dict[str, str | None], progress=None) -> tuple:
    """The argument of :func:`.recipes.load` for releases.

    :param wanted: result of :func:`asked`.
    :raises UsageError: no nodes of a release can be made, or the module proxy
        does not serve it.
    """
    default = recipes.defaults()
    for minor, release in wanted.items():
        if release and minor not in default:
            raise errors.UsageError(
                f'No images of Kubernetes {release} can be made',
                hint=f'There are recipes for {", ".join(default)}, minors '
                     'that the pinned Cluster API supports')
    return tuple((minor, _differing(release, progress))
                 for minor, release in wanted.items()
                 if release and release != default[minor])


def tags(constants: str) -> dict[str, str]:
    """Image tags that kubeadm requires, from its constants.go; pure."""
    return {name: match[1] for name, pattern in _TAGS.items()
            if (match := pattern.search(constants))}


def _differing(release, progress):
    known = toolchain.known([f'kubelet-{release}'], progress)
    source = go.family_module(known.programs[f'kubelet-{release}']
                              .build.family, kubernetes.MODULE, progress)
    return tuple({'kubernetes': release, 'release': release, **tags(
        (source / _CONSTANTS).read_text())}.items())
