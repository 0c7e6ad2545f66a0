# SPDX-License-Identifier: Apache-2.0

"""k8s_capi_v1 as seen from outside, so that a defect outlives its modules.

A defect is made at one of these doors:

* Magnum's methods of a driver, which a subclass overrides,
* Magnum's rows, as the driver reads, saves and removes them,
* the values of the chart, JSON on helm's standard input,
* HTTP, to Kubernetes as to OpenStack: both are requested with urllib3,
* the data of the health monitor.

The hooks of :class:`Tapped` change what passes a door while one of Magnum's
methods runs. What they do themselves passes unchanged.
"""

import functools
import json

from magnum.common import clients
from magnum import objects
from magnum_capi_helm import kubernetes
from openstack import connection

from magnum_capi.driver import driver
from magnum_capi_defects import doors

#: Methods of Magnum's Driver for users' requests.
REQUESTS = ('create_cluster', 'update_cluster', 'delete_cluster',
            'resize_cluster', 'upgrade_cluster', 'create_nodegroup',
            'update_nodegroup', 'delete_nodegroup', 'rotate_credential',
            'rotate_ca_certificate')

#: Those of its periodic jobs.
CHECK, POLL = 'update_cluster_status', 'poll_health_status'

#: Group of Cluster API, and prefix of those of its providers.
CAPI = 'cluster.x-k8s.io'

#: By uuid of a cluster: the method of the last request.
_asked = {}


def _tapped(name):
    inherited = getattr(driver.Driver, name)

    @functools.wraps(inherited)
    def method(self, context, cluster, *args, **kwargs):
        with doors.during(Tap(self, name, cluster)) as tap:
            for row in (cluster, *args, *kwargs.values()):
                if isinstance(row, _ROWS):
                    tap.sees(row)
            found = inherited(self, context, cluster, *args, **kwargs)
            tap.saves(cluster)
            return found

    return method


class Tapped(driver.Driver):
    """The driver with hooks at its doors, which do nothing here.

    Each hook is told which method of Magnum's runs (one of REQUESTS, CHECK or
    POLL) and for which row of a cluster.
    """

    #: No cluster type: these drivers are only used by name, and the sandbox's
    #: own drivers are not affected.
    provides = ()

    for _name in (*REQUESTS, CHECK):
        locals()[_name] = _tapped(_name)

    def values(self, method, cluster, values):
        """Return the values of the chart that helm gets.

        :param method: of the last request, if the driver applies it later.
        :param values: a dict, which may be changed.
        """
        return values

    def sees(self, method, cluster, row):
        """Change a row that the driver has read. It is not saved so."""

    def saves(self, method, cluster, row):
        """Change a row that the driver saves; False: it is not saved."""

    def removes(self, method, cluster, group):
        """Return False to keep the row of a node group."""

    def sends(self, method, cluster, request):
        """Change a doors.Request, or return a doors.Answer instead."""

    def hears(self, method, cluster, request, answer):
        """Change the doors.Answer to a doors.Request; not to a watch."""

    def polled(self, cluster, data):
        """Return the data of the health monitor, a dict."""
        return data

    def get_monitor(self, context, cluster):
        monitor = super().get_monitor(context, cluster)
        if monitor is not None:
            poll = monitor.poll_health_status

            def tapped():
                with doors.during(Tap(self, POLL, cluster)) as tap:
                    tap.sees(cluster)
                    poll()
                monitor.data = self.polled(cluster, monitor.data)

            monitor.poll_health_status = tapped
        return monitor


class Tap(doors.Tap):
    """A method of Magnum's that runs, and the hooks of its driver."""

    def __init__(self, driver, method, cluster):
        self._driver = driver
        self._method = method
        self._cluster = cluster
        self.listens = type(driver).hears is not Tapped.hears
        if cluster.stack_id:
            doors.of_release[cluster.stack_id] = self
        if method in REQUESTS:
            _asked[cluster.uuid] = method

    def values(self, text):
        method = (self._method if self._method in REQUESTS
                  else _asked.get(self._cluster.uuid, self._method))
        return json.dumps(self._driver.values(
            method, self._cluster, json.loads(text)))

    def sends(self, request):
        return self._driver.sends(self._method, self._cluster, request)

    def hears(self, request, answer):
        self._driver.hears(self._method, self._cluster, request, answer)

    def sees(self, row):
        before = row.obj_what_changed()
        with doors.during(None):
            self._driver.sees(self._method, self._cluster, row)
        changed = row.obj_what_changed() - before
        if changed:
            row.obj_reset_changes(list(changed))

    def saves(self, row):
        with doors.during(None):
            return self._driver.saves(self._method, self._cluster, row)

    def removes(self, group):
        with doors.during(None):
            return self._driver.removes(self._method, self._cluster, group)


# Magnum's rows.

_ROWS = objects.Cluster, objects.NodeGroup, objects.ClusterTemplate


def _read(kind):
    inherited = kind._from_db_object

    def read(row, *args):
        found = inherited(row, *args)
        tap = doors.current()
        if tap:
            tap.sees(found)
        return found

    kind._from_db_object = staticmethod(read)


def _guarded(kind, name, hook):
    """Have a method of rows do nothing when a hook returns False."""
    inherited = getattr(kind, name)

    @functools.wraps(inherited)
    def method(self, *args, **kwargs):
        tap = doors.current()
        if tap and getattr(tap, hook)(self) is False:
            return
        inherited(self, *args, **kwargs)

    setattr(kind, name, method)


for _kind in _ROWS:
    _read(_kind)
_guarded(objects.Cluster, 'save', 'saves')
_guarded(objects.NodeGroup, 'save', 'saves')
_guarded(objects.NodeGroup, 'destroy', 'removes')


# What defects have in common.

def seen_by(test, says, infrastructure='memory', clash=False, **options):
    """Say which test of the suite shows a defect.

    The proof reads this from the source, as Magnum is not where it runs: all
    arguments are literals (tests/proofs/suite_defects/tables.py).

    :param test: its class and method.
    :param says: regular expression for the message of the failure.
    :param infrastructure: of the sandbox in which it can be seen.
    :param clash: whether magnum-capi-helm is the second of two drivers.
    :param options: of [magnum_capi] in tempest.conf.
    """
    return lambda driver: driver


def is_cluster(row):
    return isinstance(row, objects.Cluster)


def is_worker(row):
    """Whether a row is that of a node group of workers."""
    return isinstance(row, objects.NodeGroup) and row.role != 'master'


def end(cluster, how='COMPLETE', reason=None):
    """Save that all that is in progress has ended.

    :param how: ``COMPLETE`` or ``FAILED``.
    """
    for row in (*cluster.nodegroups, cluster):
        operation, _, state = (row.status or '').partition('_')
        if state == 'IN_PROGRESS':
            row.status = f'{operation}_{how}'
            row.status_reason = reason
            row.save()


class Ignoring(Tapped):
    """Requests that are ignored are complete at the next check."""

    _ignored = set()

    def ignore(self, cluster):
        self._ignored.add(cluster.uuid)

    def update_cluster_status(self, context, cluster, use_admin_ctx=False):
        if cluster.uuid in self._ignored:
            self._ignored.discard(cluster.uuid)
            end(cluster)
        else:
            super().update_cluster_status(context, cluster, use_admin_ctx)


def cloud(context):
    """The cloud as the user of a request sees it, openstacksdk's object."""
    return connection.Connection(
        session=clients.OpenStackClients(context).keystone().session)


def version_of(context, template):
    """The version of Kubernetes in the image of a template."""
    return cloud(context).image.find_image(
        template.image_id).properties['kube_version']


def kube(method, path, body=None):
    """Send a request to the management cluster, as magnum-capi-helm does.

    :param body: dict; that of a PATCH is merged.
    :returns: the decoded answer, also to a request that is refused.
    :raises requests.HTTPError: an object that is to be made is refused:
        without it, there would be no defect.
    """
    headers = {'Content-Type': 'application/merge-patch+json'
               if method == 'PATCH' else 'application/json'}
    answer = kubernetes.Client.load().request(
        method, path, json=body, headers=headers)
    if method == 'POST':
        answer.raise_for_status()
    return answer.json()


def path_of(obj, plural):
    """Path of an object from :func:`of_cluster`."""
    metadata = obj['metadata']
    return (f'/apis/{obj["apiVersion"]}/namespaces/{metadata["namespace"]}/'
            f'{plural}/{metadata["name"]}')


def of_cluster(cluster, plural, group=CAPI):
    """Objects of Cluster API of a cluster, in the preferred version."""
    version = kube('GET', f'/apis/{group}')['preferredVersion'][
        'groupVersion']
    found = kube('GET', f'/apis/{version}/{plural}')['items']
    name = cluster.stack_id
    return [{**obj, 'apiVersion': version} for obj in found
            if name in (obj['metadata']['name'] if plural == 'clusters' else
                        '', (obj['metadata'].get('labels') or {}).get(
                            f'{CAPI}/cluster-name'))]


def control_plane_version(cluster):
    """The oldest version in a control plane; None while there is none."""
    for obj in of_cluster(cluster, 'kubeadmcontrolplanes',
                          f'controlplane.{CAPI}'):
        return (obj.get('status') or {}).get('version')
    return None
