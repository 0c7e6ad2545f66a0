# SPDX-License-Identifier: Apache-2.0

"""The Magnum of this machine: for ``magnum-capi driver charts``.

Rows are read and written like in a conductor, with its configuration: Magnum's
REST API does not show what a cluster is made of, and has no request for moving
it.
"""

import collections.abc

from oslo_config import cfg

from magnum_capi.driver.helm import helm
from magnum_capi.driver.moving import site
from magnum_capi.driver import reconcile
from magnum_capi.driver import settings as settings_module
from magnum_capi.driver import store
from magnum_capi import errors
from magnum_capi.kube import shared


def runtime(files: collections.abc.Sequence[str]) -> reconcile.Runtime:
    """The driver's Runtime for a configuration of Magnum.

    :param files: paths; when empty, those that Magnum itself would read.
    :raises UsageError: a file cannot be read, or an option is wrong.
    """
    try:
        store.configure(files)
        settings = settings_module.Settings.of(store.CONF)
    except (cfg.Error, ValueError) as e:
        raise errors.UsageError(
            'The configuration of Magnum cannot be read',
            last_seen=' '.join(str(e).split())) from None
    kube = shared.kube(settings)
    return reconcile.Runtime(
        settings, kube, helm.Helm(settings, kube.kubeconfig), kube.now,
        shared.sightings)


def opened(files: collections.abc.Sequence[str]) -> site.Site:
    """The Site for a configuration of Magnum.

    :param files, raises: as :func:`runtime`.
    """
    made = runtime(files)
    return site.Site(made, store.clusters, lambda project_id:
                     store.of_magnum(made.settings, project_id))
