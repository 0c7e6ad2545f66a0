# SPDX-License-Identifier: Apache-2.0

"""Renders a cluster outside of Magnum: for ``magnum-capi driver render``.

The cloud and Magnum are accessed with openstacksdk, like by any client.
"""

import typing

from keystoneauth1 import exceptions as keystone_exceptions
import openstack as openstacksdk
from openstack import connection as sdk_connection
from openstack import exceptions as sdk_exceptions
from oslo_config import cfg

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.cloud import services
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec
from magnum_capi.driver import gather
from magnum_capi.driver.gitops import described_cloud
from magnum_capi.driver.gitops import description
from magnum_capi.driver.gitops import rendering
from magnum_capi.driver.helm import helm as helm_module
from magnum_capi.driver import settings as settings_module
from magnum_capi import errors

#: Magnum's own options (magnum/conf/cinder.py).
_BOOT = (cfg.IntOpt('default_boot_volume_size', default=0),
         cfg.StrOpt('default_boot_volume_type'))

#: Node labels and taints came with 1.14.
_HEADERS = {'OpenStack-API-Version': 'container-infra latest'}


def configuration(files: list[str]
                  ) -> tuple[settings_module.Settings, gather.Defaults]:
    """Options of the driver, and those of Magnum's own that are needed.

    :param files: paths; when empty, those that Magnum itself would read.
    :raises UsageError: a file cannot be read, or an option is wrong.
    """
    conf = cfg.ConfigOpts()
    conf.register_opts(_BOOT, group='cinder')
    try:
        conf([], project='magnum', default_config_files=files or None)
        settings = settings_module.Settings.of(conf)
        return settings, gather.Defaults(
            conf.cinder.default_boot_volume_size or 0,
            conf.cinder.default_boot_volume_type or None)
    except (cfg.Error, ValueError) as e:
        raise errors.UsageError(
            'The configuration of Magnum cannot be read',
            last_seen=' '.join(str(e).split())) from None


def of_description(described: typing.Any, cloud_name: str | None,
                   settings: settings_module.Settings,
                   defaults: gather.Defaults) -> rendering.Rendered:
    """Render what a file describes.

    :param described: see description.read.
    :param cloud_name: in clouds.yaml, for a description without a section
        ``cloud``; None: from the environment.
    :raises UsageError: the described cluster is impossible.
    :raises services.CloudError: the cloud did not answer.
    """
    template, cluster, groups = description.read(described)
    cloud = (
        _cloud(_connection(cloud_name), settings)
        if described.get('cloud') is None
        else described_cloud.DescribedCloud(described['cloud']))
    return _rendered(template, cluster, groups, cloud, settings,
                     defaults=defaults)


def of_magnum(uuid: str, cloud_name: str | None,
              settings: settings_module.Settings,
              defaults: gather.Defaults) -> rendering.Rendered:
    """Render a cluster that Magnum has.

    :param uuid: or name.
    :raises: as :func:`of_description`.
    """
    connection = _connection(cloud_name)
    cluster = _get(connection, f'/clusters/{uuid}', f'cluster {uuid}')
    uuid = cluster['uuid']
    stack = cluster.get('stack_id') or cluster.get('cluster_id')
    if stack not in (None, '', names.cluster(uuid)):
        raise errors.UsageError(
            'Another driver created this cluster', where=uuid,
            last_seen=f'its stack is {stack}')
    template = _get(
        connection, f'/clustertemplates/{cluster["cluster_template_id"]}',
        'its cluster template')
    groups = _get(connection, f'/clusters/{uuid}/nodegroups',
                  'its node groups')['nodegroups']
    rows = description.read({
        'template': description.known(description.Template, template),
        'cluster': {**description.known(description.Cluster, cluster),
                    'labels': cluster.get('labels') or {}},
        'node_groups': [
            {**description.known(description.NodeGroup, group),
             'labels': group.get('labels') or {}}
            for group in (_get(
                connection, f'/clusters/{uuid}/nodegroups/{found["uuid"]}',
                'a node group') for found in groups)]})
    return _rendered(*rows, _cloud(connection, settings), settings,
                     creating=False, defaults=defaults)


def manifests(rendered: rendering.Rendered,
              settings: settings_module.Settings) -> str:
    """The manifests that Helm renders; see rendering.manifests."""
    return rendering.manifests(rendered, helm_module.Helm(settings, None))


def _rendered(*args: typing.Any, **kwargs: typing.Any) -> rendering.Rendered:
    try:
        return rendering.render(*args, **kwargs)
    except (services.NotThere, services.NotUsable) as e:
        raise spec.InvalidSpec([str(e)]) from None


def _connection(name: str | None) -> sdk_connection.Connection:
    try:
        return openstacksdk.connect(cloud=name, app_name='magnum-capi')
    except (sdk_exceptions.ConfigException,
            keystone_exceptions.ClientException) as e:
        raise errors.UsageError(
            'No cloud to look names up in',
            last_seen=' '.join(str(e).split()).rstrip('.'),
            hint='Name one with --os-cloud, or describe it in the section '
                 '"cloud"') from None


def _cloud(connection: sdk_connection.Connection,
           settings: settings_module.Settings) -> openstack.Cloud:
    config = connection.config
    place = services.Place(config.get_interface() or 'public',
                           config.get_region_name() or None)
    return openstack.Cloud(
        lambda: connection.session, timeout=settings.openstack_timeout,
        places={service: place for service in (
            'identity', 'image', 'compute', 'network', 'block-storage',
            'load-balancer')})


def _get(connection: sdk_connection.Connection, path: str,
         what: str) -> typing.Any:
    with services.asking(what):
        answer = connection.container_infrastructure_management.get(
            path, headers=_HEADERS)
        if answer.status_code == 404:
            raise spec.InvalidSpec([f'There is no {what} in Magnum'])
        sdk_exceptions.raise_from_response(answer)
        return answer.json()
