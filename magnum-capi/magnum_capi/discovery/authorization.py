# SPDX-License-Identifier: Apache-2.0
"""Whether the user may do what is asked, by Magnum's own policy.

A decision about drivers names them, which is nothing for those whom Magnum
refuses anyway. This runs with Magnum's code, in its process.
"""

import collections.abc
import contextlib
import types
import typing

import webob

from magnum_capi.discovery import answers
from magnum_capi.discovery import guarded

# Magnum is imported only there where it is: the command line has none.

_CREATE = {'template create': 'clustertemplate:create',
           'cluster create': 'cluster:create'}


def check(route: guarded.Route, environ: guarded.Environ) -> None:
    """Let a request pass that its user may make.

    :raises Refused: as Magnum does.
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
    """Magnum's object of a path, if the user may do this with it.

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
    """What rules may speak of.

    Of a cluster only whose it is: its own dict has its template read as the
    user, who may not see it any more.
    """
    if hasattr(found, 'cluster_template_id'):
        return {'project_id': found.project_id, 'user_id': found.user_id}
    fields: dict[str, typing.Any] = found.as_dict()
    return fields


@contextlib.contextmanager
def refusals() -> collections.abc.Iterator[None]:
    """Errors of Magnum as answers."""
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
