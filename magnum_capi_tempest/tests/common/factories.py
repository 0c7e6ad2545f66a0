# SPDX-License-Identifier: Apache-2.0

"""Creates resources for tests, and registers their cleanup at once.

``cleanup`` is ``self.addCleanup`` of a test or ``cls.addClassResourceCleanup``
of a class.
"""

import collections.abc
import typing

from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives import serialization
from oslo_log import log
from tempest.lib.common.utils import data_utils
from tempest.lib.common.utils import test_utils
from tempest.lib import exceptions as lib_exc

from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.leaks import model
from magnum_capi_tempest.leaks import watch
from magnum_capi_tempest import promises
from magnum_capi_tempest import redact
from magnum_capi_tempest import services
from magnum_capi_tempest.services import journal
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.common import tempest_types
from magnum_capi_tempest.tests.common import waiters

LOG = log.getLogger(__name__)

#: The promise without which an update sets the driver of a template.
KEEPS_DRIVER = 'magnum.template.keeps-driver'

#: No driver and no operating system has this name.
NO_DRIVER = 'k8s_nobody_wrote_it'


class Magnum:
    """The Magnum clients of one user.

    :param manager: clients of that user.
    :param microversion: of all requests. It is passed to every client, even
        None: ClientsFactory keeps the last value that it was given
        (tempest/lib/services/clients.py, partial_class).
    """

    def __init__(self, manager: tempest_types.Manager, microversion: str | None
                 ) -> None:
        #: Records the requests of these clients.
        self.journal = journal.Journal()
        #: stack_id by cluster UUID: Magnum shows it only while clusters exist.
        self.stacks: dict[str, str] = {}
        factory = manager.magnum_capi_v1
        self.certificates: services.CertificatesClient = (
            factory.CertificatesClient(microversion=microversion))
        self.clusters: services.ClustersClient = factory.ClustersClient(
            microversion=microversion)
        self.mservices: services.MservicesClient = factory.MservicesClient(
            microversion=microversion)
        self.nodegroups: services.NodegroupsClient = factory.NodegroupsClient(
            microversion=microversion)
        self.templates: services.ClusterTemplatesClient = (
            factory.ClusterTemplatesClient(microversion=microversion))
        for client in vars(self).values():
            if hasattr(client, 'journal'):
                client.journal = self.journal


def name(conf: tempest_types.Conf, kind: str) -> str:
    """Return a new name that can be traced to this run."""
    return str(data_utils.rand_name(kind, prefix=conf.resource_name_prefix))


def template_body(conf: tempest_types.Conf, **changes: typing.Any
                  ) -> json_types.Object:
    """Return the body of a request for a cluster template for this cloud.

    :param changes: fields to replace or add; None omits one. Labels are added
        to those that the cloud needs: Magnum refuses a template of a flavor
        without a disk if boot_volume_size is missing
        (magnum/api/attr_validator.py, validate_flavor_root_volume_size). None
        omits one of these, too.
    """
    options = conf.magnum_capi
    body = {
        'name': name(conf, 'template'),
        'coe': 'kubernetes',
        'image_id': options.image_id,
        'flavor_id': options.flavor_id,
        'master_flavor_id': options.master_flavor_id or options.flavor_id,
        'external_network_id': options.external_network,
        'network_driver': options.network_driver,
        'master_lb_enabled': options.master_lb_enabled,
        'labels': dict(options.labels),
        'dns_nameserver': options.dns_nameserver or None,
        'driver': options.driver or None,
    }
    body.update(changes)
    if isinstance(body['labels'], dict):
        body['labels'] = {
            label: text for label, text in {
                **options.labels, **body['labels']}.items()
            if text is not None}
    return {key: value for key, value in body.items() if value is not None}


def upgrade_changes(conf: tempest_types.Conf) -> json_types.Object:
    """Return how a template to upgrade to differs from the others.

    :returns: changes for :func:`template_body`.
    """
    options = conf.magnum_capi
    return {'image_id': options.upgrade_image_id,
            'labels': {**options.labels, **options.upgrade_labels}}


def upgrade_version(image: collections.abc.Mapping[str, str],
                    labels: collections.abc.Mapping[str, str]) -> str | None:
    """Return the Kubernetes version that an upgrade leads to.

    Drivers take it from the label kube_tag or from the image. A template only
    has that label for drivers of the first kind.

    :param image: properties of the image.
    :param labels: of the cluster template.
    :returns: for example "v1.34.2"; None if neither has it.
    """
    version = labels.get('kube_tag') or image.get('kube_version')
    return version and f'v{version.removeprefix("v")}'


def cluster_body(conf: tempest_types.Conf, template: json_types.Object,
                 **changes: typing.Any) -> json_types.Object:
    """Return the body of a request for a cluster of the usual size.

    :param template: body of the cluster template.
    :param changes: fields to replace or add.
    """
    return {
        'name': name(conf, 'cluster'),
        'cluster_template_id': template['uuid'],
        'master_count': conf.magnum_capi.master_count,
        'node_count': conf.magnum_capi.node_count,
        **changes,
    }


def create_template(conf: tempest_types.Conf, magnum: Magnum,
                    cleanup: tempest_types.Cleanup, body: json_types.Object
                    ) -> json_types.Object:
    """Create a cluster template and return it, a dict.

    Where Magnum does not store the driver of a request, an update sets it
    (before 23.0.0: magnum/api/controllers/v1/cluster_template.py, post).
    """
    driver = None
    if promises.missing(KEEPS_DRIVER, conf.magnum_capi.not_promised):
        driver = body.get('driver')
        body = {key: body[key] for key in body if key != 'driver'}
    template: json_types.Object = (
        magnum.templates.create_cluster_template(**body))
    cleanup(test_utils.call_and_ignore_notfound_exc,
            magnum.templates.delete_cluster_template, template['uuid'])
    if driver and template['driver'] != driver:
        # This is part of the creation, not the operation that tests of updates
        # are about: the table of the suite tells these apart by name.
        template = magnum.templates.call(
            'PATCH', f'clustertemplates/{template["uuid"]}', 200,
            [{'op': 'replace', 'path': '/driver', 'value': driver}])
    return template


def create_keypair(manager: tempest_types.Manager,
                   cleanup: tempest_types.Cleanup, conf: tempest_types.Conf,
                   test: str) -> str:
    """Upload a public key whose private key nobody has; return its name.

    :param test: id of the test or class, for the record of what it created.

    If Nova created the pair, it would answer with the private key, and
    tempest logs answers.
    """
    keypair = name(conf, 'key')
    public = ed25519.Ed25519PrivateKey.generate().public_key().public_bytes(
        serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    manager.keypairs_client.create_keypair(
        name=keypair, public_key=public.decode())
    cleanup(test_utils.call_and_ignore_notfound_exc,
            manager.keypairs_client.delete_keypair, keypair)
    watch.record(conf.magnum_capi.artifact_dir, model.Made(
        model.KEYPAIR, keypair, keypair, test))
    return keypair


def request_cluster(magnum: Magnum, waiter: waiters.ClusterWaiter,
                    cleanup: tempest_types.Cleanup, body: json_types.Object,
                    record: collections.abc.Callable[[str], object]) -> str:
    """Request a cluster and return its uuid; it is not complete yet.

    :param record: function that records the uuid, as soon as Magnum has
        accepted the request.
    """
    uuid: str = magnum.clusters.create_cluster(**body)['uuid']
    cleanup(delete_cluster, magnum, waiter, uuid)
    record(uuid)
    waiter.until_known(uuid)
    return uuid


def delete_cluster(magnum: Magnum, waiter: waiters.ClusterWaiter, uuid: str
                   ) -> None:
    """Delete a cluster in any state, and wait until it is gone.

    One that Magnum has accepted but never shown may still be stored: it is
    waited for.

    :raises WaitFailed: it does not go, or was never stored.
    """
    before = _before(waiter, uuid)
    try:
        magnum.clusters.delete_cluster(uuid)
    except lib_exc.NotFound:
        if waiter.has_seen(uuid):
            return
        waiter.until_known(uuid, late=True)
        before = _before(waiter, uuid)
        magnum.clusters.delete_cluster(uuid)
    waiter.until_deleted(uuid, before)


def _before(waiter: waiters.ClusterWaiter, uuid: str
            ) -> observations.Observation | None:
    try:
        return waiter.before(uuid)
    except (errors.WaitFailed, lib_exc.TempestException) as e:
        LOG.warning('Cluster %s is deleted unseen: %s', uuid,
                    redact.redact(' '.join(str(e).split())))
        return None
