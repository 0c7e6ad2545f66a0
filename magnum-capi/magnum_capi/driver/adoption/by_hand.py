# SPDX-License-Identifier: Apache-2.0

"""The Magnum of this machine: for ``magnum-capi driver adopt``."""

import collections.abc
import typing

from magnum.db.sqlalchemy import api
from magnum.db.sqlalchemy import models
from oslo_config import cfg

from magnum_capi.driver.adoption import adopt
from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.helm import helm
from magnum_capi.driver import scope
from magnum_capi.driver import store
from magnum_capi import errors
from magnum_capi.kube import rest
from magnum_capi.kube import shared


def opened(files: collections.abc.Sequence[str],
           folders: collections.abc.Sequence[str] = ()) -> adopt.Adoption:
    """The Adoption for a configuration of Magnum.

    :param files: paths, and
    :param folders: with more; without any, those that Magnum itself would
        read.
    :raises UsageError: a file cannot be read, an option is wrong, or none
        names the database: Magnum would make an empty one beside its modules.
    """
    try:
        store.configure(files, folders)
        options = config.Options.read(store.CONF)
    except (cfg.Error, ValueError) as e:
        raise errors.UsageError(
            'The configuration of Magnum cannot be read',
            last_seen=' '.join(str(e).split())) from None
    if not store.CONF.get_location(
            'connection', 'database').location.is_user_controlled:
        raise errors.UsageError(
            "Magnum's configuration names no database",
            where=', '.join((*store.CONF.config_file, *folders))
            or 'there is none in /etc/magnum',
            hint='Run this where magnum-conductor runs, or name its '
            'configuration with --config-file or --config-dir')
    kube = shared.clients(options.kubeconfig_file, rest.Limits(
        options.connect_timeout, options.read_timeout, options.retry_time),
        names.CLUSTER_UUID).kube
    return adopt.Adoption(
        scope.Runtime(
            options, kube, helm.Helm(options, kube.kubeconfig), kube.now,
            shared.sightings),
        _clusters,
        lambda project_id: store.of_magnum(options, project_id),
        name_driver)


def _clusters() -> collections.abc.Iterator[typing.Any]:
    """The clusters of all drivers and projects.

    :raises EnvironmentProblem: the database cannot be read.
    """
    try:
        yield from store.all_clusters()
    # The same in magnum 20 to 23: oslo_db.exception.
    except api.db_exc.DBError as e:
        raise errors.EnvironmentProblem(
            "Magnum's database cannot be read",
            # The statement and a link follow.
            last_seen=str(e).partition('\n')[0],
            hint='Check [database]connection of the configuration') from None


def name_driver(template: str, before: str | None,
                after: str | None) -> bool:
    """Write the driver of a cluster template that is in use.

    Magnum's own method refuses that (magnum 23.0.0, magnum/db/sqlalchemy/
    api.py, _do_update_cluster_template), and so does its API, because what
    clusters were made of must not change. That does not include their driver.

    :param template: its uuid.
    :param before: the driver that it names now.
    :returns: whether it was changed.
    """
    # The same in magnum 20 to 23.
    with api._session_for_write() as session:
        return bool(session.query(models.ClusterTemplate).filter_by(
            uuid=template, driver=before).update({'driver': after}))
