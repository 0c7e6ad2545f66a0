# SPDX-License-Identifier: Apache-2.0

"""The Magnum of this machine: for ``magnum-capi driver charts``.

Rows are read and written where a conductor does, with its configuration:
Magnum's REST API tells nobody what a cluster is made of, and has no request
by which an operator could move one.
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
    """What the driver works with, by a configuration of Magnum.

    :param files: paths; those that Magnum itself would read when empty.
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
    """What a configuration of Magnum tells of.

    :param files, raises: as :func:`runtime`.
    """
    made = runtime(files)
    return site.Site(made, store.clusters, lambda project_id:
                     store.of_magnum(made.settings, project_id))
