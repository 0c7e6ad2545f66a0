# SPDX-License-Identifier: Apache-2.0
"""Fill a new cloud: service users, endpoints, images, flavors, a network.

Reads the wanted content as JSON from standard input (cloud.seed makes it),
prints the ids that others need as JSON. One process with one connection,
because each command of the openstack client costs a second of CPU time.
"""

import json
import sys

import openstack


def connect(wanted, user='admin', project='admin'):
    return openstack.connect(
        auth_url=wanted['auth_url'], username=user, project_name=project,
        password=wanted['passwords'][user], user_domain_id='default',
        project_domain_id='default', region_name=wanted['region'],
        cacert=wanted['cacert'], load_yaml_config=False, load_envvars=False)


def identity(cloud, wanted):
    """Services, endpoints, service users, and the project "demo"."""
    keystone = cloud.identity
    roles = {r.name: r for r in keystone.roles()}
    if 'service' not in roles:
        roles['service'] = keystone.create_role(name='service')
    service = keystone.create_project(name='service', domain_id='default')
    for kind, (name, url) in wanted['endpoints'].items():
        if kind == 'identity':
            continue    # made by "keystone-manage bootstrap"
        entry = keystone.create_service(name=name, type=kind)
        for interface in ('public', 'internal', 'admin'):
            keystone.create_endpoint(
                service_id=entry.id, interface=interface, url=url,
                region_id=wanted['region'])
        user = keystone.create_user(
            name=name, password=wanted['passwords']['service'],
            domain_id='default', default_project_id=service.id)
        for role in ('admin', 'service'):
            keystone.assign_project_role_to_user(service, user, roles[role])
    if wanted['trusts']:
        trustees(keystone, roles['admin'])
    demo = keystone.create_project(name='demo', domain_id='default')
    user = keystone.create_user(
        name='demo', password=wanted['passwords']['demo'],
        domain_id='default', default_project_id=demo.id)
    for role in ('member', *wanted['roles']):
        keystone.assign_project_role_to_user(
            demo, user, roles.get(role) or keystone.create_role(name=role))


def trustees(keystone, role):
    """The domain in which Magnum makes a user for each cluster."""
    domain = keystone.create_domain(name='magnum')
    user = keystone.find_user('magnum', domain_id='default')
    keystone.assign_domain_role_to_user(domain, user, role)


def images(cloud, wanted):
    """Images by name, with their properties; returns their ids."""
    return {name: cloud.image.create_image(
        name, data=b'This is not a bootable image.\n',
        container_format='bare', disk_format='raw', visibility='public',
        validate_checksum=False, **properties).id
        for name, properties in wanted.items()}


def content(cloud, wanted):
    """Images, flavors and the external network; returns their ids."""
    made = images(cloud, wanted['images'])
    for flavor in wanted['flavors']:
        made_flavor = cloud.compute.create_flavor(
            id=flavor['name'], **flavor)
        specs = wanted['extra_specs'].get(flavor['name'])
        if specs:
            cloud.compute.create_flavor_extra_specs(made_flavor, specs)
    network = cloud.network.create_network(
        name='public', is_router_external=True, is_shared=False)
    cloud.network.create_subnet(
        network_id=network.id, ip_version=4, cidr=wanted['external_cidr'],
        name='public-subnet', is_dhcp_enabled=False)
    return {'images': made, 'networks': {'public': network.id}}


def main():
    wanted = json.load(sys.stdin)
    identity(connect(wanted), wanted)
    # Connect again: the first token's catalog lacks the endpoints.
    print(json.dumps(content(connect(wanted), wanted)))
    demo = connect(wanted, 'demo', 'demo')
    demo.compute.create_keypair(
        name='demo', public_key=wanted['public_key'])


if __name__ == '__main__':
    main()
