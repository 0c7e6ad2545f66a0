# SPDX-License-Identifier: Apache-2.0
"""The content of a new cloud, and the changes to a restored one."""

import collections.abc
import ipaddress
import json
import pathlib
import types
import typing

from magnum_capi import processes
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox.cloud import flavors
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import releases
from magnum_capi_tempest import json_types

#: Database URL, statement and parameters, as JSON has them.
_Statement: typing.TypeAlias = list[typing.Any]

_PROGRAMS = pathlib.Path(__file__).with_name('programs')

#: Glance images: name -> properties. Drivers read the distribution and the
#: Kubernetes version; the machines are in memory, nothing is booted.
IMAGES = types.MappingProxyType({
    'ubuntu-capi': {'os_distro': 'ubuntu', 'kube_version': 'v1.34.2'},
    'ubuntu-capi-1.35': {'os_distro': 'ubuntu', 'kube_version': 'v1.35.0'},
    'flatcar-capi': {'os_distro': 'flatcar', 'kube_version': 'v1.34.2'},
    'no-distro': {},
})

#: Roles that the policies of Octavia and related services ask of users.
ROLES = ('load-balancer_member',)

# A valid public key without a known private one.
_PUBLIC_KEY = ('ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGk0dGVzdHRlc3R0ZXN0dGVzd'
               'HRlc3R0ZXN0dGVzdHRl demo@sandbox')


def content(layout: layouts.Layout,
            passwords: collections.abc.Mapping[str, str], trusts: bool = False,
            kind: str = infrastructure.MEMORY) -> json_types.Object:
    """The document that programs/seed.py reads.

    :param trusts: Magnum makes users in a domain of its own.
    :param kind: one of :data:`.infrastructure.KINDS`.
    """
    real = kind == infrastructure.OPENSTACK
    return {
        'auth_url': layout.auth_url,
        'cacert': layout.authority and str(layout.authority),
        'region': configuration.REGION,
        'passwords': passwords,
        'trusts': trusts,
        'endpoints': {
            service.type_: (service.name, layout.url(service.type_))
            for service in catalog.services(kind)},
        'images': dict(IMAGES),
        'flavors': [{'name': f.name, 'ram': f.ram, 'vcpus': f.vcpus,
                     'disk': f.disk} for f in flavors.FLAVORS],
        'extra_specs': {f.name: flavors.extra_specs(f)
                        for f in flavors.FLAVORS} if real else {},
        'roles': list(ROLES) if real else [],
        'external_cidr': layout.external_network
        if real else '192.0.2.0/24',
        'public_key': _PUBLIC_KEY,
    }


def run(layout: layouts.Layout, venv: pathlib.Path,
        env: collections.abc.Mapping[str, str],
        passwords: collections.abc.Mapping[str, str],
        release: releases.Release, kind: str = infrastructure.MEMORY
        ) -> dict[str, dict[str, str]]:
    """Fill the cloud, whose services except Magnum must run.

    :param release: of Magnum.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :returns: ids: ``{'images': {name: id}, 'networks': {name: id}}``.
    """
    out = processes.run(
        [venv / 'bin' / 'python', _PROGRAMS / 'seed.py'], env=env, timeout=300,
        stdin=json.dumps(content(
            layout, passwords, release.trusts, kind)))
    found: dict[str, dict[str, str]] = json.loads(out)
    return found


def add_images(
        layout: layouts.Layout, venv: pathlib.Path,
        env: collections.abc.Mapping[str, str],
        passwords: collections.abc.Mapping[str, str],
        images: collections.abc.Mapping[str, collections.abc.Mapping[str, str]]
) -> dict[str, str]:
    """Create the images that the cloud, which must run, does not have yet.

    :param images: properties by name.
    :returns: their ids by name.
    """
    wanted = content(layout, passwords) | {'images': images}
    out = processes.run(
        [venv / 'bin' / 'python', _PROGRAMS / 'add_images.py'], env=env,
        timeout=120, stdin=json.dumps(wanted))
    found: dict[str, str] = json.loads(out)
    return found


def relocation(
        layout: layouts.Layout, url: collections.abc.Callable[[str], str],
        images: pathlib.Path, kind: str = infrastructure.MEMORY,
        public: bool = False) -> list[_Statement]:
    """SQL statements that give restored databases their current addresses.

    These are in Keystone's catalog, Nova's cell mappings, and Glance's image
    locations; with servers also in Neutron's external network, where no
    address is in use yet.

    :param url: function that returns the SQLAlchemy URL of a named database.
    :param images: folder of Glance's image files.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :param public: whether the catalog has :meth:`..layout.Layout.public_url`.
    :returns: ``[[database URL, statement, parameters], ...]``.
    """
    statements: list[_Statement] = [
        [url('keystone'),
         'UPDATE endpoint SET url = :url WHERE service_id IN '
         '(SELECT id FROM service WHERE type = :type)',
         {'url': layout.url(service.type_), 'type': service.type_}]
        for service in catalog.services(kind)]
    if public:
        statements += [
            [database, f"{statement} AND interface = 'public'",
             parameters | {'url': layout.public_url(parameters['type'])}]
            for database, statement, parameters in statements]
    statements.append(
        [url('nova_api'),
         'UPDATE cell_mappings SET database_connection = :url '
         "WHERE uuid = '00000000-0000-0000-0000-000000000000'",
         {'url': url('nova_cell0')}])
    if kind == infrastructure.OPENSTACK:
        statements.append(
            [url('nova_api'),
             'UPDATE cell_mappings SET database_connection = :url '
             "WHERE name = 'cell1'", {'url': url('nova_cell1')}])
        statements += _external_network(
            url('neutron'), ipaddress.ip_network(layout.external_network))
    statements.append(
        [url('glance'),
         'UPDATE image_locations SET value = '
         "'file://' || :folder || '/' || image_id"
         if url('glance').startswith('sqlite') else
         'UPDATE image_locations SET value = '
         "CONCAT('file://', :folder, '/', image_id)",
         {'folder': str(images)}])
    return statements


def _external_network(url: str,
                      network: ipaddress.IPv4Network | ipaddress.IPv6Network
                      ) -> list[_Statement]:
    """For the API's tables, and for those of its address pools."""
    subnet = "(SELECT id FROM subnets WHERE name = 'public-subnet')"
    pool = {'first': str(network[2]), 'last': str(network[-2])}
    return [
        [url, 'UPDATE subnets SET cidr = :cidr, gateway_ip = :first '
         "WHERE name = 'public-subnet'",
         {'cidr': str(network), 'first': str(network[1])}],
        [url, 'UPDATE ipallocationpools SET first_ip = :first, '
         f'last_ip = :last WHERE subnet_id IN {subnet}', pool],
        [url, 'UPDATE ipamallocationpools SET first_ip = :first, '
         'last_ip = :last WHERE ipam_subnet_id IN (SELECT id FROM '
         f'ipamsubnets WHERE neutron_subnet_id IN {subnet})', pool]]


def relocate(layout: layouts.Layout, venv: pathlib.Path,
             env: collections.abc.Mapping[str, str],
             url: collections.abc.Callable[[str], str],
             passwords: collections.abc.Mapping[str, str],
             kind: str = infrastructure.MEMORY, public: bool = False) -> None:
    """Give the databases their addresses, and Keystone new passwords.

    :param passwords: of all its users, by name.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :param public: see :func:`relocation`.
    :raises CommandFailed: Keystone's users are not those of ``passwords``.
    """
    wanted = {
        'statements': relocation(
            layout, url, layout.directory / 'images', kind, public),
        'keystone': url('keystone'), 'passwords': passwords}
    processes.run([venv / 'bin' / 'python', _PROGRAMS / 'relocate.py'],
                  env=env, timeout=60, stdin=json.dumps(wanted))
