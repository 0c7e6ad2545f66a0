# SPDX-License-Identifier: Apache-2.0

"""The base of all tests: skips, clients, fixtures, evidence."""

import collections.abc
import contextlib
import functools
import time
import types
import typing
import unittest

from oslo_log import log
from tempest.common import credentials_factory
from tempest import config
from tempest.lib.common import api_version_utils
from tempest.lib import decorators
from tempest.lib import exceptions as lib_exc
from tempest import test
import testtools

from magnum_capi import errors
from magnum_capi_tempest.evidence import artefacts
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest.tests.common import access
from magnum_capi_tempest.tests.common import bystanders
from magnum_capi_tempest.tests.common import class_slots
from magnum_capi_tempest.tests.common import cloud
from magnum_capi_tempest.tests.common import details
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import flags
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common import notes
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import tempest_types
from magnum_capi_tempest.tests.common import versions
from magnum_capi_tempest.tests.common import waiters
from magnum_capi_tempest import texts

CONF = config.CONF
LOG = log.getLogger(__name__)

#: Options without which no cluster template can be made.
TEMPLATE_OPTIONS = ('image_id', 'flavor_id', 'external_network')

#: Seconds that a failed test may spend on collecting evidence. Sources that
#: do not answer in that time are listed.
EVIDENCE = 60

#: The promise without which COMPLETE may come too early.
COMPLETE = 'lifecycle.cluster.complete-means-ready'

#: A user without whom in accounts.yaml Tempest fails instead of skipping.
PROJECT_ADMIN = 'project_admin'

#: The clients of a user, and those of Magnum.
Owner: typing.TypeAlias = tuple[tempest_types.Manager, factories.Magnum]

#: What no test has reported yet, of all classes in a process.
_NOTES = notes.Notes()

_ExcInfo: typing.TypeAlias = tuple[
    type[BaseException], BaseException, types.TracebackType | None]


def rest_seconds() -> float:
    """Seconds for which nothing may happen while a cluster is idle.

    Two minutes by default, as in Cluster API's own tests. It must exceed
    [kubernetes] health_polling_interval of magnum.conf (60) to detect a
    driver that writes on every poll; a cloud that polls more often has a
    shorter build_interval, too.
    """
    return float(24 * CONF.magnum_capi.build_interval)


@functools.lru_cache
def management_cluster(path: str) -> capi.ManagementCluster:
    """Return one client for all classes of a process: creating it is slow.

    It discovers the available kinds only once.
    """
    return capi.ManagementCluster(path)


class BaseMagnumCapiTest(test.BaseTestCase):
    """A test of Magnum with a Cluster API driver.

    Class attributes of subclasses:

    * ``min_microversion``: the class is skipped if this Magnum lacks it;
      requests are sent with it.
    * ``needs``: names for :func:`.flags.needs`, besides those of the bases.
    * ``attributes``: those of Tempest that all tests of the class have,
      besides ``life`` in the package ``driver``.
    * ``uses_templates``: whether it needs what a cluster template is made of;
      without it ``test_preflight`` fails, so that a run with a bad
      tempest.conf is not green.

    A class is skipped before it creates anything if all of its tests are:
    for what they need, or because the driver makes none of the promises that
    they judge (:func:`.flags.promise`).
    """

    credentials: list[str] = ['primary']
    min_microversion = microversions.LOWEST
    uses_templates = True
    attributes: tuple[str, ...] = ()
    needs: tuple[str, ...]
    newest_microversion = api_version_utils.LATEST_MICROVERSION

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        life = ['life'] if '.driver.' in cls.__module__ else []
        for method in flags.tests_of(cls):
            decorators.attr(type=[*cls.attributes, *life])(method)

    @classmethod
    def setUpClass(cls) -> None:  # noqa: MC102
        class_slots.enter(cls)
        super().setUpClass()

    @classmethod
    def skip_checks(cls) -> None:
        class_slots.reopen()
        super().skip_checks()
        if not CONF.service_available.magnum_capi:
            raise cls.skipException(
                '[service_available] magnum_capi is false in tempest.conf')
        missing = flags.lacking((
            *(TEMPLATE_OPTIONS if cls.uses_templates else ()),
            *flags.needed(cls)))
        if missing:
            raise cls.skipException(missing)
        refusals = [flags.refusal(cls, name) for name in
                    unittest.TestLoader().getTestCaseNames(cls)]
        if refusals and all(refusals):
            raise cls.skipException(refusals[0])

    @classmethod
    def setup_credentials(cls) -> None:
        # Magnum's drivers create networks for clusters; tempest need not.
        cls.set_network_resources()
        try:
            super().setup_credentials()
        except lib_exc.InvalidCredentials as e:
            if (CONF.auth.use_dynamic_credentials
                    or PROJECT_ADMIN not in cls.credentials):
                raise
            raise cls.skipException(
                'The users in [auth] test_accounts_file are not enough for '
                f'{", ".join(cls.credentials)}: {e}') from e

        cls._record_users()

    @classmethod
    def _id(cls) -> str:
        return f'{cls.__module__}.{cls.__name__}'

    @classmethod
    def _record_users(cls) -> None:
        """Record the users and projects that Tempest created for the class.

        If the run is killed, they are left behind.
        """
        if not CONF.auth.use_dynamic_credentials:
            return
        for who in (getattr(cls, f'os_{name}').credentials
                    for name in cls.credentials):
            for kind, ident, name in (
                    (model.USER, who.user_id, who.username),
                    (model.PROJECT, who.project_id, who.project_name)):
                if ident:
                    watch.record(CONF.magnum_capi.artifact_dir, model.Made(
                        kind, ident, name or '', cls._id(),
                        who.project_id or '', who.user_id))

    @classmethod
    def require_project(cls, name: str, *, own: bool) -> None:
        """Skip if another user is not where the tests need it.

        Tempest creates its users like that. Those in accounts.yaml may be of
        any project.

        :param name: of the credentials.
        :param own: whether it must be in the project of the primary user; if
            not, it must be in another one.
        """
        user, other = (manager.credentials for manager in (
            cls.os_primary, getattr(cls, f'os_{name}')))
        if user.user_id == other.user_id:
            raise cls.skipException(f'{name} is the primary user')
        if (user.project_id == other.project_id) != own:
            raise cls.skipException(
                f'The primary user and {name} are of '
                f'{"different projects" if own else "the same project"}')

    @classmethod
    def setup_clients(cls) -> None:
        super().setup_clients()
        cls.microversion = cls.min_microversion
        cls.magnum = factories.Magnum(cls.os_primary, cls.microversion)
        cls.newest_microversion = microversions.allowed(cls.magnum.templates)
        cls.require_microversions(cls.min_microversion)
        if 'admin' in cls.credentials:
            cls.admin_magnum = factories.Magnum(
                cls.os_admin, cls.microversion)
        path = CONF.magnum_capi.management_kubeconfig
        cls.management = management_cluster(path) if path else None

    @classmethod
    def resource_setup(cls) -> None:
        super().resource_setup()
        cls._watch = cls._new_watch(cls._id())
        cls._watch.begin()

    @classmethod
    def resource_cleanup(cls) -> None:
        try:
            super().resource_cleanup()
        except testtools.MultipleExceptions as e:
            # Its text is that of tuples with traceback objects.
            failed = [error for _, error, _ in e.args]
            if len(failed) == 1:
                raise failed[0] from None
            raise errors.MagnumCapiError(
                f'{len(failed)} cleanups of the class failed',
                where=cls._id(), last_seen=''.join(
                    f'\n  {type(error).__name__}: {error}'
                    for error in failed)) from failed[0]
        # The user still exists; everything else is gone.
        if '_watch' in vars(cls):
            cls._watch.check(cls.magnum.stacks)

    @classmethod
    def _new_watch(cls, test: str) -> watch.Watch:
        who = cls.os_primary.credentials
        return watch.Watch(
            cloud.getter(cls.os_primary, cls.magnum),
            user=who.user_id, project=who.project_id, test=test,
            management=cls.management,
            admin_get=cloud.getter(cls.os_admin, cls.admin_magnum) if (
                'admin' in cls.credentials) else None,
            real_nodes=CONF.magnum_capi_feature_enabled.real_nodes,
            shared=not CONF.auth.use_dynamic_credentials,
            folder=CONF.magnum_capi.artifact_dir)

    def setUp(self) -> None:
        # First, so that it runs after all other fixtures have added details.
        self._filed: set[str] = set()
        self.addCleanup(self._prepare_details)
        super().setUp()
        refusal = flags.refusal(type(self), self._testMethodName)
        if refusal:
            self.skipTest(refusal)
        self._clusters: list[str] = []
        #: Uuids of clusters of other drivers than the one under test.
        self._of_others: set[str] = set()
        self.waiter = self.new_waiter()
        self._began = time.time()
        self._own_watch = self._new_watch(self.id())
        self._own_watch.held = self._watch.made
        # First, so that it runs after all other cleanups.
        self.addCleanup(self._assert_nothing_left)
        self.addOnException(self._attach_evidence)
        self.addCleanup(self._attach_notes)
        self._note_version(
            'Magnum', f'highest microversion {self.newest_microversion}')
        self._note_version('driver', CONF.magnum_capi.driver)

    @classmethod
    def new_waiter(cls, magnum: factories.Magnum | None = None
                   ) -> waiters.ClusterWaiter:
        """Return a waiter for clusters of a user, by default the primary."""
        options = CONF.magnum_capi
        magnum = magnum or cls.magnum
        return waiters.ClusterWaiter(
            magnum.clusters, magnum.nodegroups,
            interval=options.build_interval, timeout=options.build_timeout,
            explain=cls.management.conditions if cls.management else None,
            tolerant=bool(flags.not_promised(COMPLETE)),
            stacks=magnum.stacks,
            versions=cls._versions() if magnum is cls.magnum else None,
            notes=_NOTES, name=cls.__name__)

    @classmethod
    def require_microversions(cls, *wanted: str) -> None:
        """Skip the test or class unless all of these are allowed."""
        for microversion in wanted:
            api_version_utils.check_skip_with_microversion(
                microversion, api_version_utils.LATEST_MICROVERSION,
                microversions.LOWEST, cls.newest_microversion)

    @classmethod
    def has_microversion(cls, wanted: str) -> bool:
        """Return whether requests of this microversion are allowed."""
        try:
            cls.require_microversions(wanted)
        except cls.skipException:
            return False
        return True

    @classmethod
    def is_admin_available(cls) -> bool:
        return bool(credentials_factory.is_admin_available(
            identity_version=cls.get_identity_version()))

    @classmethod
    def rand_name(cls, kind: str) -> str:
        return factories.name(CONF, kind)

    @classmethod
    def _versions(cls) -> versions.Watch | None:
        """Return what compares shown versions with nodes; None: nothing."""
        if (not CONF.magnum_capi_feature_enabled.workload_api
                or flags.not_promised(COMPLETE)):
            return None
        return versions.Watch(
            cls.read_nodes, always=not flags.not_promised(versions.PROMISE))

    @classmethod
    def read_nodes(cls, cluster: json_types.Object) -> access.Nodes:
        """Return the nodes that the workload API shows: access.Nodes."""
        with access.kubeconfig_of(cls.magnum.certificates, cluster) as path:
            return access.observe(path)

    def not_checked(self, what: str, option: str) -> None:
        """Record what a test does not check for want of access.

        :param what: a few words.
        :param option: of tempest.conf, which would give that access.
        """
        _NOTES.add(texts.NOT_CHECKED, f'{what}: {option} is not set')

    def create_template(self, magnum: factories.Magnum | None = None,
                        **changes: typing.Any) -> json_types.Object:
        """Create a template for this cloud, with some fields changed.

        :param magnum: ``admin_magnum`` if an admin creates it.
        """
        template = factories.create_template(
            CONF, magnum or self.magnum, self.addCleanup,
            factories.template_body(CONF, **changes))
        self._made(
            model.TEMPLATE, template['uuid'], template['name'],
            None if magnum in (None, self.magnum)
            else self.os_admin.credentials)
        return template

    @classmethod
    def create_class_template(cls, **changes: typing.Any) -> json_types.Object:
        """Create a template that all tests of the class share."""
        template = factories.create_template(
            CONF, cls.magnum, cls.addClassResourceCleanup,
            factories.template_body(CONF, **changes))
        cls._watch.add(model.TEMPLATE, template['uuid'], template['name'])
        return template

    def create_keypair(self) -> str:
        """Upload a public key and return its name."""
        return factories.create_keypair(
            self.os_primary, self.addCleanup, CONF, self.id())

    def request_cluster(self, template: json_types.Object,
                        **changes: typing.Any) -> str:
        """Request a cluster and return its uuid, without waiting for it."""
        body = factories.cluster_body(CONF, template, **changes)
        self._own_watch.begin()
        uuid = factories.request_cluster(
            self.magnum, self.waiter, self.addCleanup, body,
            lambda uuid: self._made(model.CLUSTER, uuid, body['name']))
        self._clusters.append(uuid)
        return uuid

    def create_cluster(self, template: json_types.Object, **changes: typing.Any
                       ) -> json_types.Object:
        """Create a cluster, wait for CREATE_COMPLETE, and return it."""
        changes.setdefault('keypair', self.create_keypair())
        cluster = self.waiter.until_created(
            self.request_cluster(template, **changes))
        self._note_version('Kubernetes', cluster.get('coe_version'))
        return cluster

    def resize_cluster(self, cluster: json_types.Object, node_count: int,
                       nodegroup: str) -> json_types.Object:
        """Resize a node group, wait until that is over; return the cluster."""
        with self.around(cluster, nodegroup):
            before = self.waiter.before(cluster['uuid'], nodegroup)
            self.magnum.clusters.resize_cluster(
                cluster['uuid'], node_count=node_count, nodegroup=nodegroup)
            return self.waiter.until_updated(
                cluster['uuid'], before, node_count)

    @contextlib.contextmanager
    def around(self, cluster: json_types.Object, *named: str,
               upgraded: bool = False) -> collections.abc.Iterator[None]:
        """Assert what holds around every operation on a cluster.

        Nothing changes that the operation does not name, neither of this
        cluster nor of others of the test; and when Magnum calls it complete,
        the nodes are what Magnum shows.

        :param cluster: its body.
        :param named: names or uuids of the node groups that it changes.
        :param upgraded: it upgrades the whole cluster.
        """
        if not self.management:
            self.not_checked('specs of what an operation does not name',
                             'management_kubeconfig')
        ident = cluster['uuid']
        before = {uuid: self._view(uuid)
                  for uuid in {ident, *self._clusters} - self._of_others}
        yield
        after = {uuid: self._view(uuid) for uuid in before}
        early = bool(flags.not_promised(COMPLETE))
        found = []
        for uuid, view in before.items():
            # What is in progress, or has failed, still changes.
            if view and observations.is_complete(view.cluster['status']):
                own = uuid == ident
                found += [f'cluster {uuid}: {fault}' for fault in
                          bystanders.faults(
                              view, after[uuid], named if own else (),
                              upgraded and own, late_version=early)]
        if found:
            self.fail(f'An operation on {", ".join(named) or "all"} of '
                      f'cluster {ident} has changed what it does not name: '
                      + '; '.join(found))
        its = after.get(ident)
        # An autoscaler may have changed the size since.
        if its and not (its.is_autoscaled or early):
            masters, workers = its.sizes
            self.assert_nodes_now(its.cluster, workers, masters)

    def is_of_other_driver(self, cluster: json_types.Object) -> None:
        """Do not judge what its driver does with a cluster.

        It is not the driver under test, whose promises are known.
        """
        self._of_others.add(cluster['uuid'])
        self.waiter.tolerate_abandoned(cluster['uuid'])
        if self.waiter.versions:
            self.waiter.versions.ignore(cluster['uuid'])

    def _view(self, uuid: str) -> bystanders.View | None:
        """Return the bystanders.View of a cluster; None: there is none."""
        if uuid not in self.magnum.stacks:
            # Its driver has not created anything yet.
            return None
        try:
            return bystanders.view(self.magnum, self.management, uuid)
        except lib_exc.NotFound:
            return None

    @staticmethod
    def sizes(workers: int | None = None, masters: int | None = None
              ) -> tuple[int, int]:
        """Return numbers of nodes, (control plane, workers).

        :param workers: None: as many as in tempest.conf, like masters.
        """
        options = CONF.magnum_capi
        return (options.master_count if masters is None else masters,
                options.node_count if workers is None else workers)

    def assert_nodes_now(self, cluster: json_types.Object,
                         workers: int | None = None,
                         masters: int | None = None,
                         state: access.Nodes | None = None) -> None:
        """Assert that these nodes are ready, without waiting for them.

        :param workers: see :meth:`sizes`, like masters.
        :param state: of :meth:`read_nodes`, if it was already taken.
        """
        masters, workers = self.sizes(workers, masters)
        if not CONF.magnum_capi_feature_enabled.workload_api:
            self.not_checked('nodes of complete clusters', 'workload_api')
            return
        state = state or self.read_nodes(cluster)
        self.assertTrue(
            state.shows(masters, workers, cluster['coe_version']),
            f'It is {cluster["status"]} with {masters} control plane nodes '
            f'and {workers} workers, but there are: {state}')

    def delete_cluster(self, cluster: json_types.Object) -> None:
        """Delete a cluster and wait until Magnum no longer knows it."""
        factories.delete_cluster(self.magnum, self.waiter, cluster['uuid'])

    def assert_usable(self, cluster: json_types.Object,
                      workers: int | None = None, masters: int | None = None
                      ) -> None:
        """Assert that the workload API shows these nodes, all ready.

        :param cluster: body of the cluster; api_address and coe_version
            must be set.
        :param workers: see :meth:`sizes`, like masters.
        """
        masters, workers = self.sizes(workers, masters)
        if not CONF.magnum_capi_feature_enabled.workload_api:
            self.not_checked('nodes of usable clusters', 'workload_api')
            return
        access.wait_for_nodes(self.kubeconfig(cluster), masters, workers,
                              cluster['coe_version'])

    def kubeconfig(self, cluster: json_types.Object) -> str:
        """Write a kubeconfig for a cluster, for this test; return its path."""
        path: str = self.enterContext(
            access.kubeconfig_of(self.magnum.certificates, cluster))
        return path

    @classmethod
    def collect_evidence(cls, clusters: list[str], test: str, since: float = 0,
                         owner: Owner | None = None) -> dict[str, str]:
        """Collect all information about clusters, and write it to files.

        :param clusters: their uuids.
        :param test: id of the test or class that failed.
        :param since: seconds since the epoch, when it began.
        :param owner: clients of the user who owns the clusters; None: the
            primary one.
        :returns: texts without secrets, by name.
        """
        options = CONF.magnum_capi
        manager, magnum = owner or (cls.os_primary, cls.magnum)
        who = manager.credentials
        collected = details.collect(
            details.Sources(
                magnum, cls.management, log_files=options.log_files,
                log_command=options.log_command,
                users=(who.user_id, who.username),
                workload_api=CONF.magnum_capi_feature_enabled.workload_api),
            clusters, EVIDENCE, since)
        found = {name: details.shown(value)
                 for name, value in collected.items()}
        if options.artifact_dir:
            try:
                for name, text in found.items():
                    artefacts.write(options.artifact_dir, test, name, text)
            except OSError as e:
                found['artefacts'] = f'could not be written: {e}'
        return found

    @classmethod
    @contextlib.contextmanager
    def explained(cls, clusters: list[str], owner: Owner | None = None
                  ) -> collections.abc.Iterator[None]:
        """Collect evidence if what the class shares fails.

        No test is running then to which details could be attached: they go to
        the folder of artefacts and to Tempest's log.

        :param owner: see :meth:`collect_evidence`.
        """
        try:
            yield
        except Exception:
            for name, text in cls.collect_evidence(
                    clusters, f'{cls._watch.test}.setUpClass',
                    owner=owner).items():
                LOG.error('%s:\n%s', name, text)
            raise

    def _attach_evidence(self, exc_info: _ExcInfo) -> None:
        # testtools also calls this for tests that skip themselves.
        if issubclass(exc_info[0], self.skipException):
            return
        found = self.collect_evidence(
            self._clusters, self.id(), self._began)
        before = set(self.getDetails())
        for name, text in found.items():
            self.addDetailUniqueName(name, details.text(text))
        if CONF.magnum_capi.artifact_dir and 'artefacts' not in found:
            self._filed.update(self.getDetails().keys() - before)

    def _prepare_details(self) -> None:
        """Leave little to print of a failed test whose evidence is in files.

        It is still in the stream of results, from which reports are made.
        """
        found = self.getDetails()
        if not self._filed:
            details.prepare(found)
            return
        write = functools.partial(
            artefacts.write, CONF.magnum_capi.artifact_dir, self.id())
        try:
            details.prepare(found, write, self._filed)
        except OSError as e:
            LOG.warning('Not written: %s', e)
            details.prepare(found)
            return
        found['evidence'] = details.text('All of it is in ' + str(
            artefacts.folder_of(CONF.magnum_capi.artifact_dir, self.id())))

    def _made(self, kind: str, uuid: str, name: str,
              who: tempest_types.Credentials | None = None) -> None:
        self._own_watch.add(kind, uuid, name, who)
        self._watch.known.update(self._own_watch.made)

    def _assert_nothing_left(self) -> None:
        try:
            self._own_watch.check(self.magnum.stacks)
        except watch.LeakFound as e:
            text = str(e)
        else:
            return
        self.fail(text)

    @staticmethod
    def _note_version(part: str, version: str | None) -> None:
        if version:
            _NOTES.add_once(texts.VERSIONS, f'{part}: {version}')

    def _attach_notes(self) -> None:
        for name, text in _NOTES.take().items():
            self.addDetail(name, details.text(text))
