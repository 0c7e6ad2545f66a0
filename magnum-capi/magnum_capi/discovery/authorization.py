# SPDX-License-Identifier: Apache-2.0
"""Whether the user may make a request, according to Magnum's own policy.

A decision names drivers, which users whom Magnum refuses anyway must not see.
This uses Magnum's code, in its process.
"""

import collections.abc
import contextlib
import types
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import guarded

# Magnum is imported where it is used: the command line may have none.

_CREATE = {'template create': 'clustertemplate:create',
           'cluster create': 'cluster:create'}


def check(route: guarded.Route, environ: guarded.Environ) -> None:
    """Return if the user may make the request.

    :raises Refused: as Magnum would.
    """
    if route.what in _CREATE:
        from magnum.common import policy
        action = _CREATE[route.what]
        with refusals():
            policy.enforce(_user(environ), action, action=action)
    elif route.what == 'template update':
        with refusals():
            permitted('ClusterTemplate', route.ident,
                      'clustertemplate:update', environ)


def permitted(kind: str, ident: str, action: str,
              environ: guarded.Environ) -> typing.Any:
    """Magnum's object named in a path, if the user may do this with it.

    As in the controllers of magnum/api/controllers/v1.

    :param ident: uuid or name, as WSGI has it.
    """
    from magnum.common import policy
    from magnum import objects
    from oslo_utils import uuidutils
    user = _user(environ)
    if user.is_admin:
        everywhere = f'{action}_all_projects'
        policy.enforce(user, everywhere, action=everywhere)
        user.all_tenants = True
    ident = ident.encode('latin-1').decode('utf-8')
    resource = getattr(objects, kind)
    find = (resource.get_by_uuid if uuidutils.is_uuid_like(ident)
            else resource.get_by_name)
    found = find(user, ident)
    policy.enforce(user, action, _target(found), action=action)
    return found


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
def refusals() -> collections.abc.Iterator[None]:
    """Turn Magnum's errors into responses."""
    from magnum.common import exception
    try:
        yield
    except UnicodeError as e:
        raise answers.Refused(404, 'The resource could not be found.') from e
    except exception.MagnumException as e:
        raise answers.Refused(e.code, str(e)) from e


def _user(environ: guarded.Environ) -> typing.Any:
    from magnum.api import hooks
    request = types.SimpleNamespace(
        environ=environ, headers=webob.Request(environ).headers)
    hooks.ContextHook().before(types.SimpleNamespace(request=request))
    return request.context
