# SPDX-License-Identifier: Apache-2.0

"""The base of tests of operations on clusters.

Nothing here depends on the driver: differences between drivers are behind
flags of [magnum_capi_feature_enabled].
"""

import collections.abc
import functools
import typing
import uuid

from tempest import config
from tempest.lib import exceptions as lib_exc
import testtools

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import app_credentials
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import tempest_types
from magnum_capi_tempest.tests.common import waiters

CONF = config.CONF

WORKERS = waiters.WORKERS

#: Seconds for which nothing may reappear: longer than a driver takes from a
#: request to the objects it creates.
STAYS_AWAY = 10


def listed(things: collections.abc.Iterable[object]) -> str:
    """Return things as one text, for messages."""
    return ', '.join(map(str, things)) or 'none'


class NotRefused(AssertionError):
    """A cluster was created that had to be refused.

    :param cluster: its body.
    """

    def __init__(self, what: str, cluster: json_types.Object) -> None:
        super().__init__(what)
        self.cluster = cluster


class BaseOperationsTest(base.BaseMagnumCapiTest):
    """A test of operations on running clusters, or inside them.

    Class attributes of subclasses:

    * ``shares_cluster``: all tests of the class use one cluster; they make
      only changes that it survives.

    :cvar cluster: body of a cluster that all tests of the class share, if
        they do. A failure of any of them includes evidence about it.
    """

    shares_cluster = False
    cluster: json_types.Object
    attributes = ('slow',)
    # Node groups came with 1.9.
    min_microversion = '1.9'
    # One test changes a cluster several times.
    TIMEOUT_SCALING_FACTOR = 3

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        if cls.shares_cluster:
            cls.cluster = cls.create_class_cluster(cls.create_class_template())

    def setUp(self) -> None:
        super().setUp()
        if hasattr(self, 'cluster'):
            self.explain(self.cluster)
        #: By uuid of a node group: what appeared in the cloud meanwhile.
        self._came_with: dict[str, set[model.Thing]] = {}

    @classmethod
    def request_class_cluster(cls, template: json_types.Object,
                              **changes: typing.Any) -> str:
        """Request a cluster for the whole class; return its uuid."""
        keypair = factories.create_keypair(
            cls.os_primary, cls.addClassResourceCleanup, CONF,
            cls._id())
        body = factories.cluster_body(
            CONF, template, **{'keypair': keypair, **changes})
        return factories.request_cluster(
            cls.magnum, cls.new_waiter(), cls.addClassResourceCleanup, body,
            lambda uuid: cls._watch.add(model.CLUSTER, uuid, body['name']))

    @classmethod
    def create_class_cluster(cls, template: json_types.Object,
                             **changes: typing.Any) -> json_types.Object:
        """Create a cluster that all tests of the class share."""
        uuid = cls.request_class_cluster(template, **changes)
        with cls.explained([uuid]):
            return cls.new_waiter().until_created(uuid)

    def explain(self, cluster: json_types.Object) -> None:
        """Make a failure of this test include evidence about a cluster."""
        self._clusters.append(cluster['uuid'])

    def upgrade_cluster(self, cluster: json_types.Object,
                        template: json_types.Object) -> json_types.Object:
        """Upgrade to a template, wait for its end, and return the cluster."""
        with self.around(cluster, upgraded=True):
            before = self.waiter.before(cluster['uuid'], WORKERS)
            self.request_upgrade(cluster, template)
            return self.waiter.until_updated(
                cluster['uuid'], before, before.group['node_count'])

    def request_upgrade(self, cluster: json_types.Object,
                        template: json_types.Object) -> None:
        # Without max_batch_size Magnum 23.0.0 answers 500: "Cannot convert
        # Unset to primitive".
        self.magnum.clusters.upgrade_cluster(
            cluster['uuid'], cluster_template=template['uuid'],
            max_batch_size=1)

    def create_group(self, cluster: json_types.Object, **group: typing.Any
                     ) -> json_types.Object:
        """Create a node group, wait for it, and return it.

        It is deleted with the test if the cluster is not. Its name is short
        unless one is given: together with the cluster's name it may exceed 63
        characters, for which some drivers wait forever. That is tested under
        lifecycle.cluster.any-name.
        """
        group = {'name': f'group-{uuid.uuid4().hex[:6]}', **group}
        cloud = self._own_watch.look_at_cloud()
        with self.around(cluster, group['name']):
            created = self.magnum.nodegroups.create_nodegroup(
                cluster['uuid'], **group)
            if not self.is_own_cluster(cluster):
                self.addCleanup(self.remove_group, cluster, created)
            found = self.waiter.until_group_created(
                cluster['uuid'], created['uuid']).group
        self._came_with[created['uuid']] = (
            self._own_watch.look_at_cloud() - cloud)
        return found

    def delete_group(self, cluster: json_types.Object, group: json_types.Object
                     ) -> None:
        """Delete a node group and wait until it is gone."""
        with self.around(cluster, group['name']):
            self.magnum.nodegroups.delete_nodegroup(
                cluster['uuid'], group['uuid'])
            self.waiter.until_group_deleted(cluster['uuid'], group['uuid'])
        self.assert_nothing_left_in_cloud(cluster, group)

    def assert_nothing_left_in_cloud(self, cluster: json_types.Object,
                                     group: json_types.Object) -> None:
        """Assert that what came with a node group went with it.

        Of a user whom others use, only what is named after the cluster.
        """
        came = {(thing.kind, thing.ident)
                for thing in self._came_with.pop(group['uuid'], ())
                if CONF.auth.use_dynamic_credentials
                or observations.stack_id(cluster) in thing.name}
        if not came:
            return
        waiters.until(
            lambda: [thing for thing in self._own_watch.look_at_cloud()
                     if (thing.kind, thing.ident) in came],
            lambda left: not left, 'nothing of the deleted node group '
            f'{group["name"]} to be left in the cloud',
            timeout=watch.COLLECTED, describe=listed)

    def remove_group(self, cluster: json_types.Object, group: json_types.Object
                     ) -> None:
        """Restore a shared cluster for the other tests."""
        try:
            self.delete_group(cluster, group)
        except lib_exc.NotFound:
            return

    def restore_size(self) -> None:
        """Restore the number of workers of a shared cluster, if it changed.

        Other tests would fail of it. Magnum resizes clusters that are still
        in progress, or have failed, too.
        """
        state = self.waiter.before(self.cluster['uuid'], WORKERS)
        _, workers = self.sizes()
        if not (observations.is_complete(state.status)
                and state.group['node_count'] == workers):
            self.resize_cluster(self.cluster, workers, WORKERS)

    def is_own_cluster(self, cluster: json_types.Object) -> bool:
        """Whether this test created a cluster, which is deleted with it."""
        return (model.CLUSTER, cluster['uuid']) in self._own_watch.made

    def assert_upgrade_refused(self, cluster: json_types.Object,
                               template: json_types.Object) -> None:
        """Assert that an upgrade gets a 400, and that nothing changes.

        Of a cluster that is not complete, Magnum itself refuses it
        (magnum/conductor/handlers/cluster_conductor.py, cluster_upgrade).
        """
        self.assertRegex(cluster['status'], '_COMPLETE$')
        with self.around(cluster):
            with testtools.ExpectedException(
                    lib_exc.BadRequest,
                    msg=f'an upgrade to template {template["uuid"]}'):
                self.request_upgrade(cluster, template)
            after = self.magnum.clusters.show_cluster(cluster['uuid'])
            for field in ('status', 'cluster_template_id', 'coe_version'):
                self.assertEqual(cluster[field], after[field], field)

    def refusal(self, **changes: typing.Any) -> str:
        """Request a cluster that must be refused.

        :param changes: of its template.
        :returns: the reason, from the error or from status_reason.
        :raises NotRefused: it is complete.
        """
        try:
            cluster = self.create_cluster(self.create_template(**changes))
        except lib_exc.BadRequest as e:
            return str(e)
        except errors.WaitAborted as e:
            self.assertEqual('CREATE_FAILED', e.state.status)
            return str(e.state.status_reason or '')
        raise NotRefused(
            f'The cluster is {cluster["status"]} although {changes}', cluster)

    def with_new_version(self, cluster: json_types.Object
                         ) -> json_types.Object:
        """Return an upgraded cluster with the version that its nodes must get.

        It is that of the label or the image. If neither has one, Magnum is
        trusted, unless COMPLETE can come before the driver has checked the
        nodes: Magnum may then show the old version for good.
        """
        version = factories.upgrade_version(
            self._properties('upgrade_image_id'),
            CONF.magnum_capi.upgrade_labels)
        if version:
            return {**cluster, 'coe_version': version}
        if flags.not_promised(base.COMPLETE):
            self.skipTest('The image of upgrade_image_id has no kube_version, '
                          'and upgrade_labels no kube_tag')
        return cluster

    def create_image_of_version(self, kube_version: str | None
                                ) -> json_types.Object:
        """Create an image like the configured one, with another version.

        It is for clusters that must be refused; they cannot be created from
        it.

        :param kube_version: None: without that property.
        """
        if 'kube_version' not in self._properties('image_id'):
            self.skipTest('The image of image_id has no kube_version')
        return self.create_image_like('image_id', kube_version=kube_version)

    def create_image_like(self, option: str, **changes: str | None
                          ) -> json_types.Object:
        """Create an image with the properties of the one an option names.

        Machines cannot boot from it, unless they are in memory.
        """
        return self._image_like(option, changes, self.addCleanup, self.id())

    @classmethod
    def create_class_image(cls, option: str, **changes: str | None
                           ) -> json_types.Object:
        """Create such an image for the whole class."""
        return cls._image_like(
            option, changes, cls.addClassResourceCleanup, cls._id())

    @classmethod
    def _image_like(
            cls, option: str,
            changes: collections.abc.Mapping[str, str | None],
            cleanup: tempest_types.Cleanup, test: str) -> json_types.Object:
        return images.create(
            cls.os_primary.image_client_v2, cleanup, CONF,
            {**cls._properties(option), **changes}, data=b'no system',
            test=test)

    @classmethod
    def _properties(cls, option: str) -> dict[str, str]:
        """Return the properties, a dict, of the image an option names."""
        return images.properties(images.find(
            cls.os_primary.image_client_v2, CONF.magnum_capi[option]))

    def assert_machines(self, cluster: json_types.Object, count: int) -> None:
        """Assert that the management cluster soon has this many Machines."""
        management = self.management
        if not management:
            self.not_checked('number of Machines', 'management_kubeconfig')
            return
        stack_id = observations.stack_id(cluster)
        waiters.until(
            lambda: [found for found in management.objects_of(stack_id)
                     if found.kind == 'Machine'],
            lambda machines: len(machines) == count,
            f'{count} Machines of cluster {stack_id}',
            timeout=watch.COLLECTED, describe=listed)

    def assert_nothing_left_in_management_cluster(
            self, cluster: json_types.Object) -> None:
        management = self.management
        if not management:
            self._leftovers_not_checked()
            return
        # Magnum forgets the cluster once its Cluster object is gone; the
        # garbage collector of Kubernetes takes a moment for dependent objects.
        stack_id = observations.stack_id(cluster)
        waiters.until(
            lambda: management.objects_of(stack_id, cluster['uuid']),
            lambda left: not left,
            f'nothing to be left of cluster {stack_id} in the management '
            'cluster', timeout=watch.COLLECTED, describe=listed)

    def assert_nothing_comes_back(self, cluster_id: str, name: str) -> None:
        """Assert that nothing is left of a cluster that hardly existed.

        Its stack_id may be unknown, and its deletion may have overtaken its
        creation: nothing may exist for some time, in which a driver may act
        on its own.

        :param name: of the cluster, and of nothing else.
        """
        management = self.management
        if not management:
            self._leftovers_not_checked()
            return
        words = (cluster_id, uuid.UUID(cluster_id).hex, name)
        waiters.until_steady(
            lambda: management.objects_of(
                self.magnum.stacks.get(cluster_id), words=words),
            lambda left: not left, max(STAYS_AWAY, base.rest_seconds()),
            f'nothing to be left of cluster {cluster_id} in the management '
            'cluster', timeout=watch.COLLECTED, describe=listed)

    def _leftovers_not_checked(self) -> None:
        self.not_checked('what is left in the management cluster',
                         'management_kubeconfig')

    def application_credentials(self) -> list[str]:
        """Return the sorted ids of all of the user's."""
        return sorted(
            one['id'] for one in app_credentials.of_user(self.os_primary))

    def assert_no_credential_left(self, cluster_id: str, before: list[str]
                                  ) -> None:
        """Assert that a deleted cluster took its credentials with it.

        A user that Tempest created only has those of its clusters. A person
        may gain and lose others in the meantime.

        :param before: application_credentials() before the cluster existed.
        """
        if CONF.auth.use_dynamic_credentials:
            self.assertEqual(before, self.application_credentials())
        else:
            self.assertEqual(
                [], app_credentials.of_cluster(self.os_primary, cluster_id))

    def application_credentials_of(self, cluster: json_types.Object
                                   ) -> list[str]:
        """Return the ids of those that a driver created for a cluster."""
        return app_credentials.of_cluster(self.os_primary, cluster['uuid'])

    def workload(self, cluster: json_types.Object) -> capi_objects.Workload:
        """Return a capi_objects.Workload for a cluster."""
        return capi_objects.Workload(self.kubeconfig(cluster))

    @classmethod
    def until_complete(cls, uuid: str) -> json_types.Object:
        """Wait until a cluster is complete, even if it has failed before.

        The driver must have created something then: see
        :func:`.observations.hopeless_failure`.
        """
        return cls.until(
            uuid, lambda state: observations.is_complete(state.status),
            f'cluster {uuid} to be complete after all',
            failed=observations.hopeless_failure).body

    @classmethod
    def until(
            cls, uuid: str,
            done: collections.abc.Callable[[observations.Observation], object],
            what: str, *, failed: observations.Failure | None = None,
            timeout: float | None = None) -> observations.Observation:
        """Wait until a condition holds for a cluster; return the last state.

        :param what: what is waited for, in messages.
        :param failed: see :func:`.waiters.until`, like timeout.
        """
        return waiters.until(
            functools.partial(cls.new_waiter().observe, uuid), done, what,
            failed=failed, timeout=timeout)

    def assert_unaffected(self, cluster: json_types.Object,
                          workers: int | None = None,
                          masters: int | None = None) -> None:
        """Assert that Magnum shows the cluster unchanged, and it works.

        :param workers: see :meth:`sizes`, like masters.
        """
        masters, workers = self.sizes(workers, masters)
        state = self.waiter.until_settled(
            cluster['uuid'], WORKERS)
        self.assertRegex(state.status, '_COMPLETE$')
        self.assertEqual(
            (masters, workers),
            (state.body['master_count'], state.group['node_count']))
        self.assert_usable(state.body, workers, masters)
