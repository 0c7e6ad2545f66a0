# SPDX-License-Identifier: Apache-2.0

"""Inspects a cloud of clouds.yaml for a test of Magnum."""

import collections.abc
import contextlib
import os
import re
import typing
import uuid

from keystoneauth1 import adapter
import openstack
import requests

from magnum_capi.discovery import cloud as clouds
from magnum_capi.discovery import model
from magnum_capi import errors
from magnum_capi_tempest.workspace import selection

#: Headers in which Magnum reports its microversions: "container-infra 1.14".
_HEADERS = ('openstack-api-minimum-version', 'openstack-api-maximum-version')

#: A driver that does not exist. If Magnum heeds the driver of a request, it
#: refuses the cluster template, with this name in its answer.
NO_DRIVER = 'k8s_nobody_wrote_it'

#: Beginning of the names of everything that is created here.
NAME = 'magnum-capi-init-'

#: How a refusal of Magnum or of the filter looks that is about a driver.
_OF_A_DRIVER = re.compile(
    r'(?<!network )(?<!volume )\bdriver|cluster type|ambiguous',
    re.IGNORECASE)


def read(names: collections.abc.Sequence[str],
         images: collections.abc.Sequence[str | None] = ()) -> selection.Cloud:
    """Inspect a cloud.

    :param names: in clouds.yaml, one per user; None: openstacksdk chooses.
        The first user inspects the cloud.
    :param images: names and ids of those that are wanted, None for none.
    :raises UsageError: there is no such cloud, or no password.
    :raises EnvironmentProblem: it cannot be reached, or denies access.
    """
    accounts = []
    connection: openstack.connection.Connection | None = None
    for name in names:
        with clouds.explained(name):
            found = clouds.connect(name)
            accounts.append(_account(name, found))
        if connection is None:
            connection = found
        elif (connection.config.config['auth'].get('auth_url')
              != found.config.config['auth'].get('auth_url')):
            raise errors.UsageError(
                'The users belong to different clouds',
                where=f'{names[0]}, {name}')
    with clouds.explained(names[0]):
        assert connection
        return _look(connection, tuple(accounts), names[0], images)


def _account(name: str, connection: openstack.connection.Connection
             ) -> selection.Account:
    known = connection.config.config['auth']
    if not known.get('password') or 'application_credential_id' in known:
        raise errors.UsageError(
            'Tempest needs users with a password, but this user has none',
            where=f'{name} in clouds.yaml',
            hint='Use a user name and a password instead of an application '
                 'credential or a token')
    access = _access(connection)
    if not access.project_name:
        raise errors.UsageError(
            'The user has no project', where=f'{name} in clouds.yaml',
            hint='Add a project_name')
    return selection.Account(
        name, access.username, known['password'], access.project_name,
        access.user_domain_name, access.project_domain_name,
        tuple(sorted(access.role_names)))


def _access(connection: openstack.connection.Connection) -> typing.Any:
    # A plugin of Keystone, as the user has a password: see _account.
    auth: typing.Any = connection.session.auth
    return auth.get_access(connection.session)


def _look(connection: openstack.connection.Connection,
          accounts: tuple[selection.Account, ...], name: str,
          images: collections.abc.Sequence[str | None]) -> selection.Cloud:
    config = connection.config
    verify, _ = config.get_requests_verify_args()
    magnum = clouds.service(
        connection, 'container_infrastructure_management', 'Magnum', name)
    access = _access(connection)
    return selection.Cloud(
        auth_url=_v3(config.config['auth']['auth_url']),
        region=config.region_name or '',
        interface=str(config.get_interface('container-infra')
                      or 'public').removesuffix('URL'),
        verify=verify is not False,
        # Tempest runs in the folder of the workspace.
        cacert=os.path.abspath(verify) if isinstance(verify, str) else '',
        accounts=accounts,
        services=frozenset(
            entry['type'] for entry in access.service_catalog.catalog),
        images=tuple(selection.Thing(
            image.id, image.name or '', {
                'os_distro': image.os_distro, **(image.properties or {})})
            for image in _images(connection, images)),
        flavors=tuple(
            selection.Thing(flavor.id, flavor.name,
                            {'vcpus': flavor.vcpus, 'ram': flavor.ram})
            for flavor in connection.compute.flavors()),
        networks=tuple(selection.Thing(network.id, network.name)
                       for network in connection.network.networks(
                           is_router_external=True)),
        microversions=_microversions(magnum, name))


def _images(connection: openstack.connection.Connection,
            wanted: collections.abc.Sequence[str | None]
            ) -> list[typing.Any]:
    """The images in the usual list, and those that only their ids lead to.

    Glance does not list those of the community, nor hidden ones.
    """
    found = {image.id: image for image in connection.image.images()}
    for ident in wanted:
        if ident and ident not in found and model.is_uuid(ident):
            with contextlib.suppress(openstack.exceptions.NotFoundException,
                                     openstack.exceptions.ForbiddenException):
                found[ident] = connection.image.get_image(ident)
    return list(found.values())


@contextlib.contextmanager
def trials(name: str, choice: selection.Choice
           ) -> collections.abc.Iterator['Trials']:
    """Try what a cloud's Magnum does; a context manager with a Trials.

    :param name: of the cloud, the first of those that were read.
    :param choice: :class:`.selection.Choice`.
    :raises EnvironmentProblem: a service cannot be reached, or what a trial
        created cannot be deleted.
    """
    with clouds.explained(name):
        yield Trials(clouds.service(
            clouds.connect(name), 'container_infrastructure_management',
            'Magnum', name), choice)


class Trials:
    """Requests for cluster templates, which are deleted at once.

    :param magnum: adapter of Magnum.
    :param choice: :class:`.selection.Choice`.
    """

    def __init__(
            self, magnum: adapter.Adapter, choice: selection.Choice) -> None:
        self._magnum = magnum
        self._choice = choice

    def _create(self, driver: str = '') -> requests.Response:
        """Request a template; delete it if there is one; the answer."""
        choice = self._choice
        answer = self._magnum.post('/clustertemplates', json={
            'name': _new_name(), 'coe': 'kubernetes',
            'image_id': choice.image.id, 'flavor_id': choice.flavor.id,
            'master_flavor_id': choice.master_flavor.id,
            'external_network_id': choice.network.id,
            'network_driver': choice.network_driver,
            'labels': dict(choice.preferred.labels),
            **({'driver': driver} if driver else {})})
        if answer.ok:
            made = answer.json()['uuid']
            openstack.exceptions.raise_from_response(
                self._magnum.delete(f'/clustertemplates/{made}'),
                f'The cluster template {made} could not be deleted and is '
                'left behind')
        return answer

    def heeds_template_driver(self) -> bool:
        """Whether Magnum heeds the driver that a cluster template names.

        The trial names a driver that does not exist.
        """
        answer = self._create(NO_DRIVER)
        # The preflight explains all other reasons, and how to fix them.
        return not answer.ok and NO_DRIVER in answer.text

    def driver(self) -> str:
        """The driver that a cluster template of the choice gets.

        No request lists the drivers of a Magnum.

        :returns: empty if Magnum does not say it: it is older than 23, or
            refuses the template for another reason.
        :raises UsageError: Magnum does not have the driver, or cannot choose
            one.
        """
        wanted = self._choice.driver
        answer = self._create(wanted)
        if answer.ok:
            return answer.json().get('driver') or ''
        said = _said(answer)
        if not (wanted in said if wanted else _OF_A_DRIVER.search(said)):
            # The preflight explains all other reasons, and how to fix them.
            return ''
        image = self._choice.image
        raise errors.UsageError(
            f'Magnum does not accept the driver {wanted}' if wanted else
            'Magnum does not choose a driver for the image '
            f'{image.name or image.id}',
            where='cluster template', last_seen=said,
            hint='Name the driver to test with --driver. No request to Magnum '
                 'lists its drivers, "magnum-capi discovery list" on its host '
                 'does' + _in_use(self._magnum))


def _in_use(magnum: adapter.Adapter) -> str:
    """A clause about the drivers of the templates that the user sees."""
    answer = magnum.get('/clustertemplates')
    found = {one.get('driver') for one in answer.json()['clustertemplates']
             } - {None, ''} if answer.ok else ()
    return f'; templates here have {", ".join(sorted(found))}' if found else ''


def _said(answer: requests.Response) -> str:
    """The text of Magnum's refusal, on one line."""
    try:
        found = answer.json()['errors'][0]
        text = found.get('detail') or found.get('title')
    except (ValueError, LookupError, TypeError, AttributeError):
        text = None
    return ' '.join(str(text or answer.text).split()).rstrip('.')


def _new_name() -> str:
    return f'{NAME}{uuid.uuid4().hex[:8]}'


def _v3(url: str) -> str:
    """The URL with its version, as Tempest needs it."""
    url = url.rstrip('/')
    return url if url.endswith('/v3') else f'{url}/v3'


def _microversions(magnum: adapter.Adapter, name: str) -> tuple[str, str]:
    answer = magnum.get('/clustertemplates', params={'limit': 1})
    openstack.exceptions.raise_from_response(answer)
    found = [answer.headers.get(header, '').rpartition(' ')[2]
             for header in _HEADERS]
    if not all(part.replace('.', '', 1).isdigit() and '.' in part
               for part in found):
        raise errors.EnvironmentProblem(
            'The Magnum endpoint does not report its microversions',
            where=name,
            last_seen=' '.join(found))
    lowest, highest = found
    return lowest, highest
