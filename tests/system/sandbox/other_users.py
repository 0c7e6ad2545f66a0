# SPDX-License-Identifier: Apache-2.0

"""People who use a cloud before the tests, and everything they own there."""

import dataclasses
import hashlib
import json
import secrets

from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives import serialization
import openstack

from magnum_capi import waiting
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_tempest.tests.common.management import capi_objects

#: Quotas, node groups, and the driver of a template.
_VERSION = {'OpenStack-API-Version': 'container-infra 1.11'}

#: The people below who have a cluster: one in a project of the tests, and one
#: who is unknown to Tempest.
OWNERS = ('ada', 'eve')

#: Fields of an unused cluster that Magnum itself changes.
_CHANGES = ('updated_at', 'health_status', 'health_status_reason')


@dataclasses.dataclass(frozen=True)
class Person:
    """A user of a cloud.

    :param role: in the project.
    """

    name: str
    project: str
    role: str = 'member'
    password: str = dataclasses.field(
        default_factory=lambda: secrets.token_hex(16), repr=False)


class Cloud:
    """A sandbox in which people have credentials, quotas and clusters.

    :param layout: of the sandbox.
    :param passwords: of the sandbox.
    :param driver: of the clusters.
    """

    def __init__(self, layout, passwords, driver):
        self._layout = layout
        self._admin = Person('admin', 'admin', 'admin', passwords['admin'])
        self._driver = driver
        # Tempest takes the first one for the second user of a test, and
        # people of one project for tests with users of the same project.
        self.people = [Person('bob', 'sales'), Person('ada', 'research'),
                       Person('rita', 'research', 'reader'),
                       Person('pam', 'research', 'admin')]
        self._all = [*self.people, Person('eve', 'elsewhere'), self._admin]
        self._as = {self._admin.name: self._connect(self._admin)}
        self._projects = {
            p.project: self._project(p.project) for p in self._all}

    def accounts(self) -> list[dict]:
        """Their entries in accounts.yaml, without eve."""
        return [{
            'username': person.name, 'password': person.password,
            'project_name': person.project, 'user_domain_name': 'Default',
            'project_domain_name': 'Default',
            **({'types': ['admin']} if person is self._admin
               else {'roles': [person.role]}),
        } for person in (self._admin, *self.people)]

    def furnish(self):
        """Create everybody's things, and wait for complete clusters."""
        for person in self._all:
            if person is not self._admin:
                self._sign_up(person)
            self._give_credentials(person)
        for number, project in enumerate(self._projects.values()):
            self._magnum('admin').post('/quotas', headers=_VERSION, json={
                'project_id': project, 'resource': 'Cluster',
                'hard_limit': 20 + number}).raise_for_status()
        self._template('admin', 'everybodys', public=True)
        for owner in OWNERS:
            template = self._template(owner, f'of {owner}')
            self._magnum(owner).post('/clusters', headers=_VERSION, json={
                'name': f'{owner}s', 'cluster_template_id': template,
                'keypair': f'key of {owner}', 'master_count': 1,
                'node_count': 1}).raise_for_status()
        for owner in OWNERS:
            waiting.wait_for(
                lambda owner=owner: self._cluster(owner)['status'],
                done=lambda status: status == 'CREATE_COMPLETE',
                failed=lambda status: 'FAILED' in status and status,
                timeout=600, what=f'the cluster of {owner}')

    def look(self) -> dict[tuple, object]:
        """Everything that they own, with all fields."""
        found = {}
        for person in self._all:
            for kind, things in self._of(person):
                for thing in things:
                    found[person.name, kind, _ident(thing)] = thing
        for thing in self._get(self._magnum('admin'),
                               '/quotas?all_tenants=True')['quotas']:
            found['quota', thing['id']] = thing
        management = capi_objects.Management(str(self._layout.kubeconfig))
        for owner in OWNERS:
            stack_id = self._cluster(owner)['stack_id']
            for thing in management.objects(stack_id):
                found[owner, thing.kind, thing.path] = _wanted(thing.body)
            for obj in management.core('secrets'):
                if stack_id in obj['metadata']['name']:
                    found[owner, 'Secret', obj['metadata']['name']] = (
                        hashlib.sha256(json.dumps(
                            obj.get('data')).encode()).hexdigest())
        return found

    def _of(self, person):
        mine = self._as[person.name]
        yield 'application credential', self._get(
            mine.identity, f'/users/{self._id(person)}/'
            'application_credentials')['application_credentials']
        yield 'role', self._get(
            self._as['admin'].identity,
            f'/role_assignments?user.id={self._id(person)}'
        )['role_assignments']
        yield 'keypair', [one['keypair'] for one in self._get(
            mine.compute, '/os-keypairs')['keypairs']]
        yield 'template', self._list(person.name, 'clustertemplates')
        if person.name in OWNERS:
            yield from self._of_cluster(person.name)

    def _of_cluster(self, owner):
        where = f'/clusters/{self._cluster(owner)["uuid"]}'
        magnum = self._magnum(owner)
        yield 'cluster', [_without(self._get(magnum, where), _CHANGES)]
        yield 'node group', [_without(group, _CHANGES) for group in self._get(
            magnum, f'{where}/nodegroups')['nodegroups']]
        yield 'authority', [self._get(
            magnum, where.replace('clusters', 'certificates'))]

    def _sign_up(self, person):
        identity = self._as['admin'].identity
        user = identity.create_user(
            name=person.name, password=person.password, domain_id='default')
        identity.assign_project_role_to_user(
            self._projects[person.project], user,
            identity.find_role(person.role, ignore_missing=False))
        self._as[person.name] = self._connect(person)

    def _give_credentials(self, person):
        mine = self._as[person.name]
        mine.identity.create_application_credential(
            self._id(person), f'terraform of {person.name}')
        public = ed25519.Ed25519PrivateKey.generate().public_key()
        mine.compute.create_keypair(
            name=f'key of {person.name}', public_key=public.public_bytes(
                serialization.Encoding.OpenSSH,
                serialization.PublicFormat.OpenSSH).decode())

    def _template(self, owner, name, **fields):
        answer = self._magnum(owner).post(
            '/clustertemplates', headers=_VERSION, json={
                'name': name, 'coe': 'kubernetes', 'image_id': 'ubuntu-capi',
                'flavor_id': 'm1.small', 'master_flavor_id': 'm1.small',
                'external_network_id': 'public', 'network_driver': 'calico',
                'driver': self._driver, **fields})
        answer.raise_for_status()
        return answer.json()['uuid']

    def _cluster(self, owner):
        return next(cluster for cluster in self._list(owner, 'clusters')
                    if cluster['name'] == f'{owner}s')

    def _list(self, owner, kind):
        return self._get(self._magnum(owner), f'/{kind}/detail')[kind]

    def _magnum(self, owner):
        return self._as[owner].container_infrastructure_management

    @staticmethod
    def _get(service, path):
        magnum = service.service_type.startswith('container-infra')
        answer = service.get(path, headers=_VERSION if magnum else {})
        answer.raise_for_status()
        return answer.json()

    def _id(self, person):
        return self._as[person.name].current_user_id

    def _project(self, name):
        identity = self._as['admin'].identity
        return (identity.find_project(name)
                or identity.create_project(name=name)).id

    def _connect(self, person):
        return openstack.connect(
            auth_url=self._layout.auth_url, username=person.name,
            cacert=self._layout.authority and str(self._layout.authority),
            password=person.password, project_name=person.project,
            user_domain_id='default', project_domain_id='default',
            region_name=configuration.REGION, load_yaml_config=False,
            load_envvars=False)


def _ident(thing):
    for key in 'uuid', 'id', 'name':
        if key in thing:
            return thing[key]
    return json.dumps(thing, sort_keys=True)


def _without(thing, keys):
    return {key: value for key, value in thing.items() if key not in keys}


def _wanted(body):
    """An object without its status and Kubernetes' bookkeeping."""
    metadata = _without(body['metadata'], ('managedFields', 'resourceVersion'))
    return {'metadata': metadata, 'spec': body.get('spec')}
