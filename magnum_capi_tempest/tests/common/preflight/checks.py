# SPDX-License-Identifier: Apache-2.0

"""Mismatches between tempest.conf and the cloud, in words.

Each check returns a sentence, or None if all is well. With a new cloud, all
problems are on one screen, not one per run.
"""

import collections.abc
import contextlib
import importlib.util

from tempest.lib import exceptions as lib_exc
import urllib3.exceptions

from magnum_capi import errors
from magnum_capi_tempest.evidence import capi
from magnum_capi_tempest import promises
from magnum_capi_tempest.tests.common import base
from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import images
from magnum_capi_tempest.tests.common.management import capi_objects
from magnum_capi_tempest.tests.common import microversions
from magnum_capi_tempest.tests.common.preflight import options


@contextlib.contextmanager
def identity(uri: str) -> collections.abc.Iterator[None]:
    """Turn a failed login to Keystone into an error of one line.

    :param uri: [identity] uri_v3.
    :raises EnvironmentProblem: it does not answer, fails, or refuses.
    """
    try:
        yield
    except (lib_exc.IdentityError, lib_exc.Unauthorized,
            urllib3.exceptions.HTTPError) as e:
        raise errors.EnvironmentProblem(
            'Keystone does not let Tempest in', where=uri,
            last_seen=' '.join(str(e).split()),
            hint='Check [identity] and [auth] of tempest.conf') from None


def required_options(cloud: options.Cloud) -> str | None:
    missing = [o for o in base.TEMPLATE_OPTIONS if not cloud.options[o]]
    if missing:
        return (f'Not set: {", ".join(missing)}. Without them nearly all '
                'tests are skipped')
    return None


def endpoint(cloud: options.Cloud) -> str | None:
    try:
        cloud.magnum.clusters.base_url
    except lib_exc.EndpointNotFound:
        return (f'The Keystone catalog has no endpoint of catalog_type '
                f'{cloud.options.catalog_type!r} with endpoint_type '
                f'{cloud.options.endpoint_type!r}. Compare: openstack '
                'catalog list')
    return None


def microversion(cloud: options.Cloud) -> str | None:
    if endpoint(cloud):
        return None
    try:
        found = microversions.highest(cloud.magnum.templates)
    except lib_exc.TempestException as e:
        return f'Magnum does not list cluster templates: {e}'
    if not found:
        return 'The Magnum endpoint does not report a highest microversion'
    return None


def conductor(cloud: options.Cloud) -> str | None:
    if endpoint(cloud) or not cloud.admin_magnum:
        return None
    services = cloud.admin_magnum.mservices.list_mservices()['mservices']
    states = {s['host']: s['state'] for s in services
              if s['binary'] == 'magnum-conductor'}
    if 'up' not in states.values():
        return ('No magnum-conductor is up, so clusters would stay '
                f'CREATE_IN_PROGRESS. Magnum knows: {states or "none"}')
    return None


def image(cloud: options.Cloud) -> str | None:
    wanted = cloud.options.image_id
    if not wanted:
        return None
    # This client is tempest's own; one created here would change the endpoint
    # of [image] alternate_image_endpoint: ClientsFactory keeps what its last
    # caller gave (tempest/lib/services/clients.py, partial_class).
    client = getattr(cloud.manager, 'image_client_v2', None)
    if not client:
        return ('[service_available] glance is false, but Magnum needs an '
                'image')
    found = images.matching(client, wanted)
    if len(found) != 1:
        return (f'image_id is {wanted!r}, and {len(found)} images with this '
                'name or id are visible. Compare: openstack image list')
    if not found[0].get('os_distro'):
        return (f'The image {wanted!r} lacks the property os_distro, which '
                'Magnum asks for. Set it: openstack image set --property '
                f'os_distro=ubuntu {wanted}')
    return None


def flavors(cloud: options.Cloud) -> str | None:
    known = cloud.manager.flavors_client.list_flavors()['flavors']
    names = {n for f in known for n in (f['id'], f['name'])}
    wanted = {name: cloud.options[name]
              for name in ('flavor_id', 'master_flavor_id')} | {
        f'fault_flavors {key}': flavor
        for key, flavor in cloud.options.fault_flavors.items()}
    wrong = [f'{name} is {flavor!r}' for name, flavor in wanted.items()
             if flavor and flavor not in names]
    if wrong:
        return (f'{" and ".join(wrong)}, and no such flavor is visible. '
                'Compare: openstack flavor list')
    return None


def external_network(cloud: options.Cloud) -> str | None:
    wanted = cloud.options.external_network
    if not wanted:
        return None
    found = [n for n in cloud.manager.networks_client.list_networks()[
        'networks'] if wanted in (n['id'], n['name'])]
    if len(found) != 1:
        return (f'external_network is {wanted!r}, and {len(found)} networks '
                'with this name or id are visible. Compare: openstack '
                'network list --external')
    if not found[0].get('router:external'):
        return f'The network {wanted!r} is not external (router:external)'
    return None


def evidence(cloud: options.Cloud) -> str | None:
    path = cloud.options.management_kubeconfig
    changes = cloud.options.management_changes
    if changes and not path:
        return 'management_changes is true without a management_kubeconfig'
    wanted = [name for name, needed in (
        ('management_kubeconfig', path),
        ('workload_api of [magnum_capi_feature_enabled]',
         cloud.conf.magnum_capi_feature_enabled.workload_api)) if needed]
    if wanted and not importlib.util.find_spec('kubernetes'):
        return (f'{" and ".join(wanted)} need the Python package kubernetes: '
                'pip install kubernetes')
    if not path:
        return None
    try:
        if not capi.ManagementCluster(path).serves_clusters():
            return (f'The cluster of management_kubeconfig {path!r} has no '
                    'Cluster API')
        if changes and not capi_objects.Management(path).may_change():
            return (f'management_changes is true, but management_kubeconfig '
                    f'{path!r} may not delete machines')
    except errors.MagnumCapiError as e:
        return f'management_kubeconfig does not work: {e}'
    return None


def template_driver(cloud: options.Cloud) -> str | None:
    """Report if magnum.template.keeps-driver is wrong for this Magnum.

    If it looks at the driver that a template names, it refuses one that does
    not exist, with its name.
    """
    error = options.refusal(cloud, driver=factories.NO_DRIVER)
    if error and factories.NO_DRIVER not in str(error):
        raise error
    ident = factories.KEEPS_DRIVER
    missing = promises.missing(ident, cloud.options.not_promised)
    if error and missing:
        return ('This Magnum heeds the driver that a cluster template names. '
                f'Remove {ident} from not_promised')
    if not (error or missing):
        return ('This Magnum ignores the driver that a cluster template '
                f'names. Add {ident} to not_promised')
    return None


#: In the order in which an operator would fix them.
CHECKS = (required_options, endpoint, microversion, conductor, image,
          flavors, external_network, evidence, *options.CHECKS)


def problems(cloud: options.Cloud) -> list[str]:
    """Return the mismatches, a list of sentences."""
    return (_found(cloud, CHECKS)
            or _found(cloud, options.TRIALS)
            or _found(cloud, (template_driver,)))


def _found(cloud: options.Cloud,
           checks: collections.abc.Iterable[options.Check]) -> list[str]:
    found: list[str | None] = []
    failed: dict[str, list[str]] = {}
    for check in checks:
        try:
            found.append(check(cloud))
        except (lib_exc.TempestException, urllib3.exceptions.HTTPError) as e:
            failed.setdefault(' '.join(str(e).split()), []).append(
                check.__name__)
    found += [f'{", ".join(names)}: could not be checked, as the cloud '
              f'answered: {answer}' for answer, names in failed.items()]
    return [text for text in found if text]


def screen(found: collections.abc.Iterable[str]) -> str:
    """Return the sentences as one text."""
    return '\n'.join(
        ['[magnum_capi] of tempest.conf and this cloud do not fit:',
         *(f' {number}. {text}.' for number, text in enumerate(found, 1))])
