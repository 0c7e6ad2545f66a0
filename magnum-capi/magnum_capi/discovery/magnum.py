# SPDX-License-Identifier: Apache-2.0
"""Calls of the filter into Magnum's own code, in Magnum's process.

A decision names drivers, which users whom Magnum refuses anyway must not see:
so Magnum's own policy comes first, and objects are read as the user, unless a
method says otherwise.
"""

import collections.abc
import contextlib
import functools
import types
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import images

# Magnum is imported where it is used: the command line may have none.

#: Of WSGI, behind authtoken.
Environ = collections.abc.Mapping[str, typing.Any]
#: A template: its :data:`FIELDS`.
Stored = collections.abc.Mapping[str, typing.Any]

FIELDS = ('uuid', 'driver', 'image_id', 'server_type', 'cluster_distro',
          'coe')


class Magnum:
    """All such calls for one request; tests replace this class.

    :param environ: of the request.
    """

    def __init__(self, environ: Environ) -> None:
        self._environ = environ

    def permit(self, action: str) -> None:
        """Return if the user may do this.

        :param action: such as ``clustertemplate:create``.
        :raises Refused: as Magnum would.
        """
        from magnum.common import policy
        with _refusals():
            policy.enforce(self._user, action, action=action)

    def template_to_create_with(self, ident: str) -> Stored:
        """A template that the user may use for a new cluster.

        As in magnum/api/controllers/v1/cluster.py, _post.

        :param ident: uuid, number of the row, or name.
        :raises Refused: there is none (404), or several.
        """
        from magnum import objects
        with _refusals():
            ident.encode()
            return _shown(objects.ClusterTemplate.get(self._user, ident))

    def template_to_upgrade_to(self, ident: str) -> Stored:
        """A template that the user may use for an upgrade.

        As in magnum/api/controllers/v1/cluster_actions.py.

        :param ident: uuid or name.
        :raises Refused: there is none (404), or several.
        """
        with _refusals():
            return _shown(self._found('ClusterTemplate', ident))

    def template_to_update(self, ident: str) -> Stored:
        """A template that the user may update.

        :raises Refused: there is none, or the user may not.
        """
        with _refusals():
            return _shown(self._permitted(
                'ClusterTemplate', ident, 'clustertemplate:update'))

    def cluster_to_upgrade(self, ident: str) -> tuple[str, Stored]:
        """The uuid of a cluster that the user may upgrade, and its template.

        An operator retires a template by hiding it or making it private; its
        clusters stay. Magnum 23 no longer shows such a cluster to its owner,
        but upgrades it. So the template is read as Magnum's conductor does.

        :raises Refused: there is no such cluster, or the user may not.
        """
        with _refusals():
            cluster = self._permitted('Cluster', ident, 'cluster:upgrade')
            return cluster.uuid, _shown(
                _of_any_project(cluster.cluster_template_id))

    def image(self, ident: str) -> images.Image:
        """What an image says about drivers.

        With the session of Magnum's clients, their TLS and their endpoint
        (magnum/common/clients.py).

        :raises NotVisible: the user can see no such image, or several.
        :raises Unavailable: Glance does not answer.
        """
        from keystoneauth1 import exceptions
        from magnum.common import clients
        import magnum.conf
        # Without a token, Magnum's clients could use Magnum's own.
        if not self._user.auth_token or not self._user.auth_token_info:
            raise images.Unavailable(
                401, 'The request is not authenticated, so its image cannot '
                'be read.')
        options = magnum.conf.CONF.glance_client
        made = clients.OpenStackClients(self._user)
        try:
            endpoint = made.url_for(
                service_type='image', interface=options.endpoint_type,
                region_name=options.region_name)
        except exceptions.ClientException:
            endpoint = None
        # Magnum 20 to 22 has TLS options of its own for Glance.
        verify = (False if getattr(options, 'insecure', False)
                  else getattr(options, 'ca_file', None))
        return images.Glance(made.keystone().session, endpoint, verify).read(
            ident)

    # The next two are part of the creation of a template, which the user is
    # allowed. Magnum's API requires other rights for them, and flavors in the
    # template.

    def set_decided(self, uuid: str, driver: str, distro: str) -> None:
        """Store the decision where Magnum stored a value of the image instead.

        That concerns ``cluster_distro``, and before Magnum 23 the driver, too.

        :raises MagnumException: the template is gone, or a cluster uses it.
        """
        template = _of_any_project(uuid)
        template.driver = driver
        template.cluster_distro = distro
        template.save()

    def delete_template(self, uuid: str) -> None:
        """Delete a template that was just created.

        :raises MagnumException: a cluster uses it.
        """
        _of_any_project(uuid).destroy()

    @functools.cached_property
    def _user(self) -> typing.Any:
        """Magnum's context of the user (magnum/api/hooks.py)."""
        from magnum.api import hooks
        request = types.SimpleNamespace(
            environ=self._environ,
            headers=webob.Request(dict(self._environ)).headers)
        hooks.ContextHook().before(types.SimpleNamespace(request=request))
        return request.context

    def _permitted(self, kind: str, ident: str, action: str) -> typing.Any:
        """An object, if the user may do this with it.

        As in the controllers of magnum/api/controllers/v1.
        """
        from magnum.common import policy
        if self._user.is_admin:
            everywhere = f'{action}_all_projects'
            policy.enforce(self._user, everywhere, action=everywhere)
            self._user.all_tenants = True
        found = self._found(kind, ident)
        policy.enforce(self._user, action, _target(found), action=action)
        return found

    def _found(self, kind: str, ident: str) -> typing.Any:
        """As magnum/api/utils.py, get_resource."""
        from magnum import objects
        from oslo_utils import uuidutils
        # No database can be asked for one with half a character.
        ident.encode()
        resource = getattr(objects, kind)
        find = (resource.get_by_uuid if uuidutils.is_uuid_like(ident)
                else resource.get_by_name)
        return find(self._user, ident)


def _shown(template: typing.Any) -> Stored:
    return {name: getattr(template, name) for name in FIELDS}


def _of_any_project(uuid: str) -> typing.Any:
    from magnum.common import context
    from magnum import objects
    return objects.ClusterTemplate.get_by_uuid(
        context.make_admin_context(all_tenants=True), uuid)


def _target(found: typing.Any) -> dict[str, typing.Any]:
    """The target that policy rules refer to.

    Only the owner of a cluster: its own dict would read the template as the
    user, who may no longer see it.
    """
    if hasattr(found, 'cluster_template_id'):
        return {'project_id': found.project_id, 'user_id': found.user_id}
    fields: dict[str, typing.Any] = found.as_dict()
    return fields


@contextlib.contextmanager
def _refusals() -> collections.abc.Iterator[None]:
    """Turn Magnum's errors into responses."""
    from magnum.common import exception
    try:
        yield
    except UnicodeError as e:
        raise answers.Refused(404, 'The resource could not be found.') from e
    except exception.MagnumException as e:
        raise answers.Refused(e.code, str(e)) from e
