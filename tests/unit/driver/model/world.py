# SPDX-License-Identifier: Apache-2.0

"""The world of a story: a cloud, a management cluster, Magnum, conductors."""

import contextlib
import datetime
import functools
import itertools
import logging
import pathlib
import tempfile
import typing
from unittest import mock

from cryptography.hazmat.primitives.asymmetric import rsa

from tests.lib import chart
from tests.lib import cluster_api
from tests.lib import copies
from tests.lib import doors
from tests.lib import helm_program
from tests.lib import kube_api
from tests.lib import magnum_api
from tests.lib import openstack_api
from tests.lib import virtual_time

BEGIN = datetime.datetime(
    2026, 11, 21, 15, tzinfo=datetime.timezone.utc).timestamp()

DRIVER = 'k8s_capi_v1'
PROJECT, OTHER = '1' * 32, '2' * 32
#: Users of PROJECT; the operator is of OTHER.
USERS = ('alice', 'bob')
OPERATOR = 'operator'
ROLES = ('member', 'reader', 'load-balancer_member')

#: Versions of images, by their ids.
IMAGES = {'ubuntu-34': 'v1.34.2', 'ubuntu-35': 'v1.35.1',
          'ubuntu-36': 'v1.36.0'}

CONDUCTORS = 3

_KUBECONFIG = f"""\
apiVersion: v1
kind: Config
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: '{kube_api.URL}'}}}}]
users: [{{name: u, user: {{token: t}}}}]
"""

#: Options of every story.
OPTIONS = {'chart_name': str(chart.FOLDER), 'answer_timeout': 50}


@functools.cache
def _keys() -> tuple:
    """Key pairs: a new one takes longer than all else of a story."""
    made = rsa.generate_private_key
    return tuple(made(public_exponent=65537, key_size=1024)
                 for _number in range(8))


def _written(value: typing.Any) -> str:
    """A value of an option in a file."""
    if isinstance(value, dict):
        return ','.join(f'{key}:{text}' for key, text in value.items())
    return str(value)


class Estate:
    """What all stories of a run share: copies of the library, the doors.

    Use it in a ``with`` statement.
    """

    def __init__(self) -> None:
        self.clock = virtual_time.Clock(BEGIN)
        self.doors = doors.Doors(self.clock)
        self.cloud = openstack_api.OpenStack()
        self.magnum = magnum_api.Magnum(
            self.clock, self.doors, self.cloud, DRIVER)
        self.api = kube_api.KubeApi(self.clock)
        self.helm = helm_program.Helm(self.api, self.doors, self.clock)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> 'Estate':
        with self._stack as stack:
            folder = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory()))
            (folder / 'kubeconfig').write_text(_KUBECONFIG)
            helm = folder / 'helm'
            helm.write_text('#!/bin/false\n')
            helm.chmod(0o700)
            self.conf = folder / 'magnum.conf'
            self.options = {**OPTIONS, 'helm_binary': str(helm),
                            'kubeconfig_file': str(folder / 'kubeconfig')}
            stack.enter_context(self.doors.open())
            keys = itertools.cycle(_keys())
            stack.enter_context(mock.patch.object(
                rsa, 'generate_private_key', lambda **_how: next(keys)))
            logging.disable(logging.CRITICAL)
            stack.callback(logging.disable, logging.NOTSET)
            subprocess = {'subprocess': self.helm.module()}
            self.copies = [copies.Copy(
                self.clock, 'magnum_capi.driver.driver', subprocess,
                self.magnum.modules()) for _number in range(CONDUCTORS + 1)]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *args) -> None:
        for one in self.copies:
            one.restart()
        self._stack.close()


class World:
    """One story's world, in an estate that it has for itself.

    :ivar conductors: magnum_api.Conductor by number; the last one is only
        for comparison with a process that has just begun.
    """

    def __init__(self, estate: Estate) -> None:
        self.estate = estate
        self.clock, self.doors = estate.clock, estate.doors
        self.cloud, self.api = estate.cloud, estate.api
        self.magnum = estate.magnum
        self._reset()
        self.controllers = cluster_api.Controllers(self.api, self.cloud)
        self.conductors = [magnum_api.Conductor(
            self.magnum, one.module.Driver) for one in estate.copies]

    def _reset(self) -> None:
        estate = self.estate
        self.clock.now = BEGIN
        self.clock._began = BEGIN
        self.clock._waiting.clear()
        for one in estate.copies:
            one.restart()
        self.doors.clear()
        self.doors.log.clear()
        self.doors._dead.clear()
        self.doors._callers.clear()
        self.cloud.__init__()
        self.cloud.users = {
            **{user: {PROJECT: ROLES} for user in USERS},
            OPERATOR: {OTHER: (*ROLES, 'admin')}}
        self.cloud.images = {
            image: {'kube_version': version}
            for image, version in IMAGES.items()}
        self.cloud.keypairs = {('alice', 'key'): 'ssh-ed25519 AAAA'}
        self.api.__init__(self.clock)
        self.doors.host(kube_api.HOST, kube_api.door, self.api.serve)
        self.doors.host(openstack_api.HOST, doors.CLOUD, self.cloud.serve)
        magnum = self.magnum
        for table in (magnum.clusters, magnum.groups, magnum.templates,
                      magnum.certificates, magnum.watchers):
            table.clear()
        magnum._made = 0
        self.changed_options: dict[str, typing.Any] = {}
        self.set_options()

    def set_options(self, **changes: typing.Any) -> None:
        """Options of the operator; processes read them when they begin."""
        self.changed_options |= changes
        self.estate.conf.write_text('[k8s_capi]\n' + ''.join(
            f'{name} = {_written(value)}\n' for name, value in {
                **self.estate.options, **self.changed_options}.items()))
        self.magnum.configure(str(self.estate.conf))

    # Conductors.

    @contextlib.contextmanager
    def as_conductor(self, number: int) -> typing.Iterator[
            magnum_api.Conductor]:
        """Do something as a conductor, which may crash."""
        copy_ = self.estate.copies[number]
        try:
            with self.doors.called_by(copy_.program):
                yield self.conductors[number]
        except doors.Crash:
            copy_.restart()

    def restart(self, number: int) -> None:
        self.estate.copies[number].restart()

    def context(self, user: str) -> magnum_api.Context:
        project = OTHER if user == OPERATOR else PROJECT
        roles = self.cloud.users.get(user, {}).get(project, ())
        return magnum_api.Context(
            openstack_api.token(user, project), user, project, roles,
            'admin' in roles, 'admin' in roles)

    # Rows.

    def template(self, name: str, image: str, **fields) -> str:
        magnum = self.magnum
        uuid = magnum.uuid()
        row = {**dict.fromkeys(magnum_api.TEMPLATE_FIELDS), **{
            'uuid': uuid, 'name': name, 'image_id': image, 'labels': {},
            'project_id': PROJECT, 'public': True, 'driver': DRIVER,
            'coe': 'kubernetes', 'server_type': 'vm',
            'cluster_distro': 'ubuntu', 'network_driver': 'calico',
            'tls_disabled': False, 'registry_enabled': False,
            'master_lb_enabled': False, 'floating_ip_enabled': True,
            'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small'},
            **fields}
        magnum.templates[uuid] = row
        return uuid

    def new_cluster(self, context, name: str, template: str,
                    **fields) -> magnum_api.Cluster:
        magnum = self.magnum
        return magnum_api.Cluster(magnum, magnum.clusters, context, {
            **dict.fromkeys(magnum_api.CLUSTER_FIELDS), **{
                'uuid': magnum.uuid(), 'name': name, 'labels': {},
                'project_id': context.project_id,
                'user_id': context.user_id,
                'cluster_template_id': template,
                'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small',
                'floating_ip_enabled': True, 'master_lb_enabled': False},
            **fields})

    def new_group(self, context, cluster: dict, name: str,
                  **fields) -> magnum_api.NodeGroup:
        magnum = self.magnum
        template = magnum.templates[cluster['cluster_template_id']]
        return magnum_api.NodeGroup(magnum, magnum.groups, context, {
            **dict.fromkeys(magnum_api.GROUP_FIELDS), **{
                'uuid': magnum.uuid(), 'name': name, 'labels': {},
                'cluster_id': cluster['uuid'],
                'project_id': cluster['project_id'],
                'image_id': template['image_id'], 'flavor_id': 'm1.small',
                'role': 'worker', 'is_default': False, 'node_count': 1,
                'min_node_count': 0, 'node_labels': {}, 'node_taints': []},
            **fields})

    def row(self, context, uuid: str) -> magnum_api.Cluster:
        return self.magnum.get_cluster(context, uuid)

    def groups(self, cluster: str) -> list[dict]:
        """Rows of node groups as they are written, by name."""
        return sorted(
            (row for row in self.magnum.groups.values()
             if row['cluster_id'] == cluster), key=lambda row: row['name'])
