# SPDX-License-Identifier: Apache-2.0
"""Reads what a cloud says about drivers: images and cluster templates.

openstacksdk finds the cloud (clouds.yaml) and talks to it. Every request has a
timeout, and none changes anything.
"""

import collections.abc
import contextlib
import os
import re
import typing
import urllib.parse

from keystoneauth1 import exceptions as auth_exceptions
from keystoneauth1 import identity
import openstack
from openstack import connection as connection_
from openstack.container_infrastructure_management.v1 import cluster
from openstack.container_infrastructure_management.v1 import cluster_template
from openstack import exceptions
from openstack import proxy
from openstack import resource

from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi import errors

#: Seconds for one request.
_TIMEOUT = 60
#: Default limit of items in a response of Glance and Magnum.
_PAGE = 1000

#: What keystoneauth says about TLS that fails: where, and OpenSSL's reason.
_TLS = re.compile(
    r'connecting to (?P<where>\w+://[^/]+).*\[[^\[\]]+\] (?P<why>[^(\'"]+)',
    re.DOTALL)


class Template(cluster_template.ClusterTemplate):
    """A template with a field that openstacksdk 4.22 leaves out."""

    driver = resource.Body('driver')


def read(name: str | None, with_clusters: bool = False) -> seen.Cloud:
    """All images, templates and clusters that the user of a cloud may see.

    An administrator always sees those of all projects: Magnum's GET of
    /clustertemplates has no parameter for it
    (magnum/api/controllers/v1/cluster_template.py).

    :param name: of the cloud in clouds.yaml; None: openstacksdk chooses.
    :param with_clusters: also read the clusters.
    :raises UsageError: there is no such cloud.
    :raises EnvironmentProblem: it cannot be reached, or refuses.
    """
    with explained(name):
        connection = connect(name)
        who, project, everything = _who(connection, name)
        magnum = service(
            connection, 'container_infrastructure_management', 'Magnum', name)
        templates = tuple(map(_template, listed(magnum, Template)))
        clusters = tuple(
            seen.Cluster(c.uuid, c.name or '', c.cluster_template_id or '',
                         c.stack_id)
            for c in listed(magnum, cluster.Cluster)) if with_clusters else ()
        images = {i.id: i for i in _images(connection, visibility='all')}
        images |= {i.id: i for i in _unlisted(
            connection, {t.image_id for t in templates}
            - {*images, *(i.name for i in images.values())})}
    return seen.Cloud(
        tuple(images.values()), templates,
        f'images: {len(images)}, cluster templates: {len(templates)}; '
        + (f'of all projects, as seen by {who} (administrator)' if everything
           else f'of the project {project} or public, as seen by {who}'),
        everything, clusters)


def find_image(name: str | None, reference: str) -> seen.Image:
    """One image of a cloud, by its identifier or its name.

    :raises UsageError: there is no such cloud or image, or several images
        have the name.
    :raises EnvironmentProblem: the cloud cannot be reached, or refuses.
    """
    with explained(name):
        try:
            # Like Magnum, this looks for hidden ones if no other has the name.
            found = connect(name).image.find_image(reference)
        except exceptions.DuplicateResource as e:
            raise errors.UsageError(
                f'Several images have the name {model.shown(reference)}',
                where=name, last_seen=_line(e),
                hint='Give the identifier of one of them') from None
    # A name such as ../images leads openstacksdk to something else.
    if found is None or not (
            model.is_uuid(reference) or found.name == reference):
        raise errors.UsageError(
            f'There is no image {model.shown(reference)}, or this user may '
            'not see it', where=name)
    return _image(found)


def find_template(name: str | None,
                  reference: str) -> dict[str, typing.Any]:
    """A cluster template as Magnum shows it, by its uuid or its name.

    :raises UsageError: there is no such cloud or template, or several
        templates have the name.
    :raises EnvironmentProblem: the cloud cannot be reached, or refuses.
    """
    return _shown(name, Template, reference, 'cluster template')


def find_cluster(name: str | None, reference: str,
                 ) -> tuple[dict[str, typing.Any], dict[str, typing.Any]]:
    """A cluster, by its uuid or its name, and its template.

    :raises UsageError: as with :func:`find_template`.
    :raises EnvironmentProblem: the same.
    """
    found = _shown(name, cluster.Cluster, reference, 'cluster')
    return found, find_template(name, found['cluster_template_id'])


def _shown(name: str | None, kind: type[resource.Resource], reference: str,
           what: str) -> dict[str, typing.Any]:
    with explained(name):
        magnum = service(
            open_cloud(name), 'container_infrastructure_management', 'Magnum',
            name)
        try:
            # Magnum accepts names, too; a slash in one must be quoted.
            found = kind.new(id=urllib.parse.quote(
                reference, safe='')).fetch(magnum)
        except exceptions.NotFoundException:
            raise errors.UsageError(
                f'There is no {what} {model.shown(reference)}, or this user '
                'may not see it', where=name) from None
        except exceptions.ConflictException as e:
            raise errors.UsageError(
                f'Several have the name {model.shown(reference)}',
                where=name, last_seen=_line(e),
                hint='Give the uuid of one of them') from None
    shown: dict[str, typing.Any] = found.to_dict(
        computed=False, original_names=True)
    if not shown.get('uuid'):
        raise errors.UsageError(
            f'{model.shown(reference)} cannot be looked up', where=name,
            hint='Give the uuid instead of the name')
    return shown


def open_cloud(name: str | None) -> connection_.Connection:
    """A connection of openstacksdk to a cloud.

    OS_CACERT, if set, names the file of its certificate authority, as for the
    command "openstack". openstacksdk itself reads it only for a cloud that is
    described by such variables alone.

    :param name: of the cloud in clouds.yaml; None: openstacksdk chooses.
    """
    cacert = os.environ.get('OS_CACERT')
    more: dict[str, typing.Any] = {'cacert': cacert} if cacert else {}
    return openstack.connect(cloud=name, api_timeout=_TIMEOUT,
                             app_name='magnum-capi', **more)


def connect(name: str | None) -> connection_.Connection:
    """A connection of openstacksdk to a cloud that has Glance.

    :param name: of the cloud in clouds.yaml; None: openstacksdk chooses.
    """
    connection = open_cloud(name)
    service(connection, 'image', 'Glance', name)
    return connection


def service(connection: connection_.Connection, attribute: str, what: str,
            name: str | None) -> typing.Any:
    """A proxy of openstacksdk, with distinct errors."""
    last_seen = None
    try:
        proxy = getattr(connection, attribute)
        if proxy.get_endpoint():
            return proxy
    except exceptions.ConfigException as e:
        last_seen = _line(e)
    raise errors.EnvironmentProblem(
        f'{what} is not in the catalog of the cloud', where=name,
        last_seen=last_seen, hint='Check its region and interface in '
        'clouds.yaml')


def _who(connection: connection_.Connection,
         name: str | None) -> tuple[str, str, bool]:
    auth = connection.session.auth
    if not isinstance(auth, identity.BaseIdentityPlugin):
        raise errors.UsageError(
            'This cloud is used without a Keystone user', where=name,
            hint='Use a cloud with another auth_type in clouds.yaml, such as '
            'password')
    access = auth.get_access(connection.session)
    return (model.plain(access.username or access.user_id),
            model.plain(access.project_name or access.project_id),
            'admin' in (access.role_names or ()))


def listed(magnum: proxy.Proxy, kind: type[resource.Resource],
           ) -> collections.abc.Iterator[typing.Any]:
    """All of a kind that Magnum has.

    Pages by marker, because Magnum's own links may have another host.

    :param kind: :class:`Template`, or openstacksdk's Cluster.
    """
    query: dict[str, typing.Any] = {}
    while True:
        page: list[typing.Any] = list(kind.list(
            magnum, paginated=False, limit=_PAGE, **query))
        yield from page
        if not page or page[-1].uuid == query.get('marker'):
            return
        query['marker'] = page[-1].uuid


def _template(found: Template) -> seen.Template:
    return seen.Template(
        found.uuid, found.name or '', found.image_id or '',
        found.server_type or '', found.coe or '', found.cluster_distro or '',
        found.driver)


def _images(connection: connection_.Connection,
            **query: str | bool) -> list[seen.Image]:
    return [_image(found)
            for found in connection.image.images(limit=_PAGE, **query)]


def _unlisted(connection: connection_.Connection,
              references: collections.abc.Set[str],
              ) -> collections.abc.Iterator[seen.Image]:
    """Images with these identifiers or names that are not in the usual list.

    Those are hidden ones, and ones that another project shares.
    """
    names = {each for each in references if each and not model.is_uuid(each)}
    for identifier in filter(model.is_uuid, references):
        found = _by_id(connection, identifier)
        if found is not None:
            yield found
    # Glance takes some names for queries, so none is sent.
    if names:
        for image in _images(connection, visibility='all', is_hidden=True):
            if image.name in names:
                yield image


def _by_id(connection: connection_.Connection,
           identifier: str) -> seen.Image | None:
    try:
        return _image(connection.image.get_image(identifier))
    except (exceptions.NotFoundException, exceptions.ForbiddenException):
        return None


def _image(found: typing.Any) -> seen.Image:
    # openstacksdk allows for Glance's v1, and puts fields that it does not
    # know into "properties".
    properties = found.properties or {}
    return seen.Image(
        found.id, found.name or '', properties.get('magnum_distro'),
        found.os_distro, properties.get('magnum_driver'))


def _line(error: Exception) -> str:
    return model.plain(error).rstrip('.')


@contextlib.contextmanager
def explained(name: str | None) -> collections.abc.Iterator[None]:
    """Turn errors of a cloud or of clouds.yaml into errors of one line.

    :param name: of the cloud, for the errors; None if nothing names one.
    """
    try:
        yield
    except (exceptions.ConfigException,
            auth_exceptions.MissingRequiredOptions) as e:
        if not name:
            raise errors.UsageError(
                'No cloud is named, and the OS_* variables do not lead to one',
                last_seen=_line(e),
                hint='Name one of clouds.yaml, or set OS_CLOUD') from e
        raise errors.UsageError(
            'clouds.yaml does not lead to this cloud', where=name,
            last_seen=_line(e),
            hint='Check the name, and the clouds in clouds.yaml') from e
    except auth_exceptions.Unauthorized as e:
        raise errors.EnvironmentProblem(
            'The cloud does not accept this user', where=name,
            last_seen=_line(e),
            hint='Check its entry in clouds.yaml') from e
    except (exceptions.ForbiddenException, auth_exceptions.Forbidden) as e:
        raise errors.EnvironmentProblem(
            'The cloud does not allow this user to read it', where=name,
            last_seen=_line(e), hint='Use another user') from e
    except auth_exceptions.SSLError as e:
        raise errors.EnvironmentProblem(
            'TLS to the cloud fails', where=name, last_seen=_of_tls(e),
            hint='If a private authority signed its certificate, name the '
            'file with that of the authority: "cacert" in clouds.yaml, or '
            'OS_CACERT') from e
    except (exceptions.SDKException,
            auth_exceptions.ClientException) as e:
        raise errors.EnvironmentProblem(
            'The cloud cannot be read', where=name,
            last_seen=_line(e)) from e
    except OSError as e:
        # Of requests: whatever a request meets is one of keystoneauth's.
        raise errors.UsageError(
            'The certificate of the authority of the cloud cannot be read',
            where=name, last_seen=_line(e),
            hint='Check "cacert" in clouds.yaml, and OS_CACERT') from e


def _of_tls(error: Exception) -> str:
    found = _TLS.search(str(error))
    return _line(error) if found is None else model.plain(
        f'{found["why"].strip()} at {found["where"]}')
