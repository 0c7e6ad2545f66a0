# SPDX-License-Identifier: Apache-2.0

"""The services of an OpenStack, as far as the driver asks, for real clients.

Keystone knows users, roles and application credentials with their rules:
names are unique for a user, only the user makes them, they have no role that
the token lacks, they end with the user and with a role. Tokens of users say
who they are: :func:`token`.
"""

import dataclasses
import hashlib
import json
import re
import typing
from urllib import parse

from keystoneauth1 import fixture
from keystoneauth1 import session as keystone_session
from keystoneauth1 import token_endpoint

from tests.lib import doors

HOST = 'cloud.example'
URL = f'http://{HOST}'

ADMIN = 'magnum-admin'

_SERVICES = {
    'identity': 'v3', 'image': 'v2', 'compute': 'v2.1', 'network': 'v2.0',
    'block-storage': 'v3', 'load-balancer': 'v2', 'shared-file-system': 'v2'}

_MICROVERSIONS = {'compute': ('2.1', '2.96'), 'block-storage': (
    '3.0', '3.71')}


def token(user: str, project: str) -> str:
    return f'token/{user}/{project}'


class _Auth(token_endpoint.Token):
    """A token that exists already, with the catalog that came with it."""

    def __init__(self, user: str, project: str,
                 types: typing.Collection[str]) -> None:
        super().__init__(URL, token(user, project))
        self._types = types

    def get_endpoint(self, session, service_type=None, interface=None,
                     region_name=None, **kwargs):
        if service_type not in self._types:
            return None
        return f'{URL}/{service_type}/{_SERVICES[service_type]}'


@dataclasses.dataclass
class Credential:
    """An application credential."""

    id: str
    name: str
    user: str
    project: str
    roles: tuple[str, ...]
    unrestricted: bool
    secret: str


class OpenStack:
    """The cloud; :meth:`serve` answers requests.

    :ivar users: roles by project, by user. Somebody who is not here is gone.
    :ivar disabled: users.
    :ivar credentials: Credential by id.
    :ivar made: all Credentials that were asked for, in order.
    :ivar images: properties by id.
    :ivar server_groups: name, policy, project by id.
    :ivar keypairs: public keys by (user, name).
    :ivar volumes, balancers, addresses, groups: of what clusters make.
    :ivar types: of services that are in the catalog.
    :ivar page: server groups in a list at most.
    :ivar answers: (status, body) by (method, path below the version), instead
        of what it would answer.
    :ivar seen: (method, path, query, body) of each request.
    """

    def __init__(self) -> None:
        self.users: dict[str, dict[str, tuple[str, ...]]] = {}
        self.disabled: set[str] = set()
        self.credentials: dict[str, Credential] = {}
        self.made: list[Credential] = []
        self.images: dict[str, dict[str, str]] = {}
        self.flavors = {'m1.small': (4096, 2, 20), 'm1.large': (8192, 4, 40)}
        self.server_groups: dict[str, tuple[str, str, str]] = {}
        self.keypairs: dict[tuple[str, str], str] = {}
        self.volumes: dict[str, dict] = {}
        self.balancers: dict[str, dict] = {}
        self.addresses: dict[str, dict] = {}
        self.groups: dict[str, dict] = {}
        self.types: typing.Collection[str] = _SERVICES
        self.page = 1000
        self.answers: dict[tuple[str, str], tuple[int, typing.Any]] = {}
        self.seen: list[tuple[str, str, dict, typing.Any]] = []
        self.quota = 10
        self.members = 10
        self._made = 0

    def session(self, user: str, project: str) -> keystone_session.Session:
        return keystone_session.Session(
            auth=_Auth(user, project, self.types), timeout=60)

    def serve(self, request: doors.Request) -> doors.Answer:
        url = parse.urlsplit(request.target)
        _, service, *rest = url.path.rstrip('/').split('/')
        headers = {key.lower(): value.decode() if isinstance(value, bytes)
                   else value for key, value in request.headers.items()}
        if len(rest) < 2:
            return _answer(200, _versions(service, bool(rest)))
        asked = _Asked(
            request.method, '/' + '/'.join(rest[1:]),
            dict(parse.parse_qsl(url.query)),
            json.loads(request.body) if request.body else None,
            self._who(headers.get('x-auth-token')))
        self.seen.append((asked.method, asked.path, asked.query, asked.body))
        scripted = self.answers.get((asked.method, asked.path))
        if scripted is not None:
            return _answer(*scripted)
        handler, match = self._handler(service, asked)
        if handler is None:
            raise AssertionError(
                f'the cloud does not know {request.method} {request.target}')
        if asked.who is None and handler is not OpenStack._log_in:
            return _refuse(401, 'The request you have made requires '
                                'authentication.')
        return handler(self, asked, *match.groups())

    def _handler(self, service, asked):
        for name, method, pattern, handler in _ROUTES:
            match = re.fullmatch(pattern, asked.path)
            if (name, method) == (service, asked.method) and match:
                return handler, match
        return None, None

    def _who(self, text: str | None) -> '_Who | None':
        """Whom a token belongs to, None: it is not valid."""
        kind, *rest = (text or '').split('/')
        if kind == 'token':
            user, project = rest
            if user == ADMIN:
                return _Who(user, project, ('admin',))
            roles = self.users.get(user, {}).get(project)
            if roles is None or user in self.disabled:
                return None
            return _Who(user, project, roles)
        found = self.credentials.get(rest[0]) if kind == 'app' else None
        if found is None or not self._valid(found):
            return None
        return _Who(found.user, found.project, found.roles)

    def _valid(self, found: Credential) -> bool:
        has = self.users.get(found.user, {}).get(found.project, ())
        return found.user not in self.disabled and (
            set(found.roles) <= set(has))

    def _number(self, what: str) -> str:
        self._made += 1
        return hashlib.md5(f'{what} {self._made}'.encode()).hexdigest()

    # Keystone.

    def _log_in(self, asked):
        methods = asked.body['auth']['identity']
        given = methods.get('application_credential', {})
        found = self.credentials.get(given.get('id'))
        if (found is None or found.secret != given.get('secret')
                or not self._valid(found)):
            return _refuse(401, 'Could not find Application Credential.')
        made = fixture.V3Token(user_id=found.user, project_id=found.project,
                               application_credential_id=found.id)
        for name, version in _SERVICES.items():
            made.add_service(name).add_standard_endpoints(
                public=f'{URL}/{name}/{version}')
        status, headers, body = _answer(201, made)
        return status, {**headers, 'X-Subject-Token': f'app/{found.id}'}, body

    def _list_credentials(self, asked, user):
        if asked.who.user not in (user, ADMIN):
            return _refuse(403, 'You are not authorized')
        if user not in self.users:
            return _refuse(404, f'Could not find user: {user}.')
        return _answer(200, {'application_credentials': [
            _shown(found) for found in self.credentials.values()
            if found.user == user]})

    def _get_credential(self, asked, user, made):
        found = self.credentials.get(made)
        if found is None or found.user != user:
            return _refuse(404, 'Could not find Application Credential.')
        return _answer(200, {'application_credential': _shown(found)})

    def _create_credential(self, asked, user):
        body = asked.body['application_credential']
        if asked.who.user != user:
            return _refuse(403, 'You are not authorized')
        if any(found.user == user and found.name == body['name']
               for found in self.credentials.values()):
            return _refuse(409, 'Duplicate entry found')
        roles = tuple(role['name'] for role in body.get('roles') or [
            {'name': role} for role in asked.who.roles])
        if not set(roles) <= set(asked.who.roles):
            return _refuse(400, 'Invalid application credential: role')
        made = Credential(
            self._number('credential'), body['name'], user,
            asked.who.project, roles, body.get('unrestricted', False),
            self._number('secret'))
        self.credentials[made.id] = made
        self.made.append(made)
        return _answer(201, {'application_credential': {
            **_shown(made), 'secret': made.secret}})

    def _delete_credential(self, asked, user, made):
        found = self.credentials.get(made)
        if found is None or found.user != user:
            return _refuse(404, 'Could not find Application Credential.')
        if asked.who.user not in (user, ADMIN):
            return _refuse(403, 'You are not authorized')
        del self.credentials[made]
        return _answer(204, None)

    # Glance, Nova, Neutron, Cinder, Octavia.

    def _get_image(self, asked, reference):
        if reference not in self.images:
            return _refuse(404, f'No image found with ID {reference}')
        return _answer(200, self._image(reference))

    def _list_images(self, asked):
        name = asked.query.get('name')
        return _answer(200, {'images': [
            found for found in map(self._image, self.images)
            if name in (None, found['name'])]})

    def _image(self, reference):
        return {'id': reference, 'name': reference, 'status': 'active',
                'visibility': 'public', 'os_distro': 'ubuntu',
                **self.images[reference]}

    def _get_flavor(self, asked, reference):
        if reference not in self.flavors:
            return _refuse(404, f'Flavor {reference} could not be found.')
        return _answer(200, {'flavor': self._flavor(reference)})

    def _list_flavors(self, asked):
        return _answer(200, {'flavors': [
            self._flavor(one) for one in self.flavors]})

    def _extra_specs(self, asked, reference):
        return _answer(200, {'extra_specs': {}})

    def _flavor(self, reference):
        ram, vcpus, disk = self.flavors[reference]
        return {'id': reference, 'name': reference, 'ram': ram,
                'vcpus': vcpus, 'disk': disk, 'extra_specs': {}}

    def _list_server_groups(self, asked):
        everything = (asked.query.get('all_projects')
                      and 'admin' in asked.who.roles)
        found = [{'id': made, 'name': name, 'policies': [policy],
                  'project_id': project}
                 for made, (name, policy, project)
                 in self.server_groups.items()
                 if everything or project == asked.who.project]
        start = int(asked.query.get('offset', 0))
        return _answer(200, {
            'server_groups': found[start:start + self.page]})

    def _create_server_group(self, asked):
        body = asked.body['server_group']
        own = [one for one in self.server_groups.values()
               if one[2] == asked.who.project]
        if len(own) >= self.quota:
            return _refuse(403, 'Quota exceeded, too many server groups.')
        policy = body.get('policy') or body['policies'][0]
        made = self._number('server group')
        self.server_groups[made] = body['name'], policy, asked.who.project
        return _answer(200, {'server_group': {
            'id': made, 'name': body['name'], 'policy': policy,
            'policies': [policy], 'project_id': asked.who.project}})

    def _get_quota(self, asked, project):
        return _answer(200, {'quota_set': {
            'id': project, 'server_groups': self.quota,
            'server_group_members': self.members}})

    def _delete_server_group(self, asked, made):
        found = self.server_groups.get(made)
        if found is None or (found[2] != asked.who.project
                             and 'admin' not in asked.who.roles):
            return _refuse(404, f'Instance group {made} could not be found.')
        del self.server_groups[made]
        return _answer(204, None)

    def _get_keypair(self, asked, name):
        user = asked.query.get('user_id', asked.who.user)
        if user != asked.who.user and 'admin' not in asked.who.roles:
            return _refuse(403, 'Policy does not allow this')
        key = self.keypairs.get((user, name))
        if key is None:
            return _refuse(404, f'Keypair {name} not found for user {user}')
        return _answer(200, {'keypair': {
            'name': name, 'public_key': key, 'type': 'ssh',
            'user_id': user}})

    def _create_keypair(self, asked):
        body = asked.body['keypair']
        self.keypairs[asked.who.user, body['name']] = body['public_key']
        return _answer(201, {'keypair': {**body, 'user_id': asked.who.user}})

    def _delete_keypair(self, asked, name):
        user = asked.query.get('user_id', asked.who.user)
        if self.keypairs.pop((user, name), None) is None:
            return _refuse(404, f'Keypair {name} not found for user {user}')
        return _answer(204, None)

    def _get_nothing(self, asked):
        return _refuse(404, 'It could not be found.')

    def _of_neutron(self, what):
        return self.addresses if what == 'floatingips' else self.groups

    def _list_of_neutron(self, asked, what):
        return _answer(200, {what.replace('-', '_'): list(
            self._of_neutron(what).values())})

    def _delete_of_neutron(self, asked, what, made):
        if self._of_neutron(what).pop(made, None) is None:
            return self._get_nothing(asked)
        return _answer(204, None)

    def _list_types(self, asked):
        return _answer(200, {'volume_types': [
            {'id': 'lvm', 'name': 'lvm', 'is_public': True}]})

    def _default_type(self, asked):
        return _answer(200, {'volume_type': {
            'id': 'lvm', 'name': 'lvm', 'is_public': True}})

    def _list_volumes(self, asked):
        return _answer(200, {'volumes': list(self.volumes.values())})

    def _delete_volume(self, asked, made):
        if made not in self.volumes:
            return _refuse(404, f'Volume {made} could not be found.')
        del self.volumes[made]
        return _answer(202, None)

    def _list_balancers(self, asked):
        return _answer(200, {'loadbalancers': [
            one for one in self.balancers.values()
            if asked.query.get('project_id') in (None, one['project_id'])]})

    def _delete_balancer(self, asked, made):
        if made not in self.balancers:
            return _refuse(404, f'Load Balancer {made} not found')
        del self.balancers[made]
        return _answer(204, None)


@dataclasses.dataclass(frozen=True)
class _Who:
    user: str
    project: str
    roles: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class _Asked:
    method: str
    path: str
    query: dict
    body: typing.Any
    who: _Who | None


_CREDENTIALS = '/users/([^/]+)/application_credentials'
_ROUTES = (
    ('identity', 'POST', '/auth/tokens', OpenStack._log_in),
    ('identity', 'GET', _CREDENTIALS, OpenStack._list_credentials),
    ('identity', 'GET', f'{_CREDENTIALS}/([^/]+)', OpenStack._get_credential),
    ('identity', 'POST', _CREDENTIALS, OpenStack._create_credential),
    ('identity', 'DELETE', f'{_CREDENTIALS}/([^/]+)',
     OpenStack._delete_credential),
    ('image', 'GET', '/images/([^/]+)', OpenStack._get_image),
    ('image', 'GET', '/images', OpenStack._list_images),
    ('compute', 'GET', '/flavors/detail', OpenStack._list_flavors),
    ('compute', 'GET', '/flavors', OpenStack._list_flavors),
    ('compute', 'GET', '/flavors/([^/]+)', OpenStack._get_flavor),
    ('compute', 'GET', '/flavors/([^/]+)/os-extra_specs',
     OpenStack._extra_specs),
    ('compute', 'GET', '/os-server-groups', OpenStack._list_server_groups),
    ('compute', 'GET', '/os-quota-sets/([^/]+)', OpenStack._get_quota),
    ('compute', 'POST', '/os-server-groups', OpenStack._create_server_group),
    ('compute', 'DELETE', '/os-server-groups/([^/]+)',
     OpenStack._delete_server_group),
    ('compute', 'GET', '/os-keypairs/([^/]+)', OpenStack._get_keypair),
    ('compute', 'POST', '/os-keypairs', OpenStack._create_keypair),
    ('compute', 'DELETE', '/os-keypairs/([^/]+)', OpenStack._delete_keypair),
    ('network', 'GET', '/(?:networks|subnets)/[^/]+',
     OpenStack._get_nothing),
    ('network', 'GET', '/(floatingips|security-groups)',
     OpenStack._list_of_neutron),
    ('network', 'DELETE', '/(floatingips|security-groups)/([^/]+)',
     OpenStack._delete_of_neutron),
    ('block-storage', 'GET', '/types', OpenStack._list_types),
    ('block-storage', 'GET', '/types/default', OpenStack._default_type),
    ('block-storage', 'GET', '/volumes/detail', OpenStack._list_volumes),
    ('block-storage', 'DELETE', '/volumes/([^/]+)',
     OpenStack._delete_volume),
    ('load-balancer', 'GET', '/lbaas/loadbalancers',
     OpenStack._list_balancers),
    ('load-balancer', 'DELETE', '/lbaas/loadbalancers/([^/]+)',
     OpenStack._delete_balancer),
)


def _shown(found: Credential) -> dict:
    return {'id': found.id, 'name': found.name,
            'project_id': found.project, 'unrestricted': found.unrestricted,
            'roles': [{'id': role, 'name': role} for role in found.roles]}


def _versions(service: str, one: bool) -> dict:
    version = _SERVICES[service]
    found = {'id': version, 'status': 'CURRENT', 'links': [{
        'rel': 'self', 'href': f'{URL}/{service}/{version}'}]}
    if service in _MICROVERSIONS:
        low, high = _MICROVERSIONS[service]
        found |= {'min_version': low, 'version': high}
    if service == 'identity':
        return {'version': found} if one else {'versions': {
            'values': [found]}}
    return {'versions': [found]}


def _answer(status: int, body: typing.Any) -> doors.Answer:
    data = b'' if body is None else json.dumps(body).encode()
    return status, {'Content-Type': 'application/json',
                    'Content-Length': str(len(data))}, data


def _refuse(status: int, message: str) -> doors.Answer:
    return _answer(status, {'error': {
        'code': status, 'message': message}, 'message': message})
