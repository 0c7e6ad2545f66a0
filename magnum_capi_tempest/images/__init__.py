# SPDX-License-Identifier: Apache-2.0

"""Image archives for nodes and pods, made without a registry.

The entry point of this room. An archive is a file that both ``docker load``
and ``ctr images import`` accept; a folder of archives has an inventory.
"""

import shlex

from magnum_capi import errors
from magnum_capi_tempest.images import inventory
from magnum_capi_tempest.images import plan
from magnum_capi_tempest.images import recipes

#: Makes archives, relative to the source tree.
COMMAND = 'tools/offline/images.sh'

#: See :func:`.plan.missing`.
NODES, MINIKUBE = 'nodes', 'minikube'


def provide(minors, purpose, progress):
    """Make the archives for a purpose that the default folder lacks.

    :param minors: of Kubernetes, "1.34".
    :param purpose: :data:`NODES` or :data:`MINIKUBE`.
    :raises MagnumCapiError: as :func:`.build.build`.
    """
    lacking = _lacking(inventory.read(), minors, purpose)
    if lacking:
        # Imported here: who has archives does not need it.
        from magnum_capi_tempest.images import build
        build.build(None, lacking, minors, progress)


def require(directory, minors, purpose) -> inventory.Inventory:
    """The inventory of a folder that has everything for a purpose.

    :param directory: None: the default one.
    :param minors: of Kubernetes, "1.34".
    :param purpose: :data:`NODES` or :data:`MINIKUBE`.
    :raises EnvironmentProblem: an archive is missing or truncated; names the
        command that makes it.
    :raises UsageError: there are no recipes for a minor; names the minors
        that have recipes.
    """
    found = inventory.read(directory)
    lacking = _lacking(found, minors, purpose)
    if lacking:
        words = [COMMAND, 'build', '--directory', str(found.directory)]
        for minor in minors:
            words += ['--kubernetes', minor]
        raise errors.EnvironmentProblem(
            f'Image archives for {purpose} are missing',
            where=found.directory, last_seen='missing: ' + ', '.join(lacking),
            hint=f'In the source tree run: {shlex.join(words)}')
    return found


def _lacking(found, minors, purpose):
    whole = {name for name, archive in found.archives.items()
             if inventory.quick_fault(archive) is None}
    return plan.missing(recipes.load(), minors, purpose, whole)
