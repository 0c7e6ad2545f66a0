# SPDX-License-Identifier: Apache-2.0

"""Sees to it that what a test made is gone when its clean-up is done.

One Watch a test and one a class. A test that makes nothing asks for
nothing; one that makes templates only, for these; a cluster has what its
driver makes for it, too: application credentials, trusts with their users,
objects of the management cluster.
"""

import dataclasses
import json

from oslo_log import log
from tempest.lib.common import rest_client
from tempest.lib import exceptions as lib_exc
import urllib3.exceptions

from magnum_capi import errors
from magnum_capi import waiting
from magnum_capi_tempest.evidence import leaks as reads
from magnum_capi_tempest.tests.common import leaks
from magnum_capi_tempest.tests.common import ledger

LOG = log.getLogger(__name__)

#: Seconds in which what belonged to a cluster goes: the garbage collector
#: of Kubernetes takes a moment, drivers end old credentials later.
COLLECTED = 60

#: Name of the kind of what evidence.capi finds.
_OBJECT = 'object of the management cluster'


class LeakFound(errors.MagnumCapiError):
    """Something was left behind.

    :param leaks: sorted list of leaks.Leak.
    """

    def __init__(self, found, elapsed):
        super().__init__(
            f'{len(found)} left behind after the clean-up', elapsed=elapsed,
            last_seen=''.join(f'\n  {leak}' for leak in found))
        self.leaks = found


def getter(manager, magnum):
    """Return a function for evidence.leaks that asks with Tempest's clients.

    :param manager: tempest client manager of a user.
    :param magnum: factories.Magnum of the same.
    """
    def client(service):
        if service == 'container-infra':
            return magnum.clusters, ''
        if service == 'identity':
            return manager.users_v3_client, ''
        if service == 'network':
            return manager.ports_client, 'v2.0/'
        if service == 'volume':
            return manager.volumes_client_latest, ''
        # Tempest has no client of Octavia.
        return rest_client.RestClient(
            manager.auth_provider, service, magnum.clusters.region), 'v2.0/'

    def get(service, path):
        asked, prefix = client(service)
        try:
            response, text = asked.get(prefix + path)
            return json.loads(text)
        except lib_exc.RestClientException as e:
            raise reads.CloudReadFailed(
                ' '.join(str(e).split()), where=f'{service}: {path}',
                status=getattr(getattr(e, 'resp', None), 'status', None)
            ) from e
        except (lib_exc.TempestException, urllib3.exceptions.HTTPError,
                OSError, ValueError, AttributeError) as e:
            raise reads.CloudReadFailed(
                f'{type(e).__name__}: {e}',
                where=f'{service}: {path}') from e

    return get


class Watch:
    """What one test, or one class, makes.

    :param get: as of :func:`getter`.
    :param admin_get: the same of an admin; None: users cannot be listed.
    :param management: capi.ManagementCluster, or None.
    :param test: id of the test, or of the class.
    :param folder: of artefacts, where everything is written down; empty:
        it is not.
    """

    def __init__(self, get, *, user, project, test, management=None,
                 admin_get=None, real_nodes=False, folder='',
                 timeout=COLLECTED, clock=None):
        self._get = get
        self._admin_get = admin_get
        self._management = management
        self._real_nodes = real_nodes
        self._folder = folder
        self._timeout = timeout
        self._clock = {'clock': clock} if clock else {}
        self.user = user
        self.project = project
        self.test = test
        self.made = {}
        #: What the tests of a class made: they are its owners then.
        self.known = {}
        self._before = None

    def begin(self):
        """Look at what there is, once; what comes later must go."""
        if self._before is None:
            self._before = self._look()

    def add(self, kind, ident, name):
        """Remember something that was made."""
        made = leaks.Made(kind, ident, name, self.test, self.project,
                          self.user)
        self.made[kind, ident] = made
        if self._folder:
            try:
                ledger.append(self._folder, made)
            except OSError as e:
                LOG.warning('Not written down: %s: %s', made, e)

    def clusters(self):
        return [m for m in self.made.values() if m.kind == reads.CLUSTER]

    def check(self, stacks):
        """Wait until all is gone.

        :param stacks: mapping of uuids of clusters and their stack_id.
        :raises LeakFound: something stays.
        """
        if self._before is None and not self.made:
            return
        try:
            waiting.wait_for(
                lambda: self._left(stacks), done=lambda left: not left,
                timeout=self._timeout, what='nothing to be left behind',
                **self._clock)
        except errors.WaitTimeout as e:
            raise LeakFound(e.state, e.elapsed) from None

    def _look(self, kinds=None):
        found = reads.of_user(self._get, self.user, self.project,
                              kinds=kinds, real_nodes=self._real_nodes)
        for kind, why in found.unread.items():
            LOG.warning('Leaks of %s: %s cannot be listed: %s', self.test,
                        kind, why)
        return found

    def _left(self, stacks):
        made = list(self.made.values())
        if self._before is None:
            after = self._look({m.kind for m in made})
            return leaks.still_there(after, made)
        after = self._look()
        # What cannot be listed any more is not gone for that reason: Magnum
        # refuses to list while a cluster is half deleted.
        found = [leaks.Leak(reads.Thing(kind, 'what there is of it, as it '
                                        f'cannot be listed now: {why}'),
                            self.test, f'user {self.user}')
                 for kind, why in after.unread.items()
                 if kind in self._before.kinds]
        made += self.known.values()
        found += {*leaks.leaked(self._before, after, made),
                  *leaks.still_there(after, self.made.values())}
        found = [leak if leak.test else dataclasses.replace(
            leak, test=self.test) for leak in found]
        if self._admin_get:
            for cluster in self.clusters():
                found += [leaks.attributed(thing, made) for thing in (
                    reads.users_named(self._admin_get, cluster.ident).things)]
        if self._management and self.clusters():
            found += self._objects(stacks, made)
        return sorted(found)

    def _objects(self, stacks, made):
        words = {cluster: (stacks.get(cluster.ident), cluster.words())
                 for cluster in self.clusters()}
        try:
            return [
                leaks.Leak(reads.Thing(_OBJECT, str(found)), cluster.test,
                           f'cluster {cluster.name} ({cluster.ident}), '
                           f'project {self.project}')
                for cluster, found in self._management.left_of(words)]
        except errors.MagnumCapiError as e:
            return [leaks.Leak(
                reads.Thing(_OBJECT, f'any number, as it cannot be read: '
                            f'{e}'), self.test, f'project {self.project}')]
