# SPDX-License-Identifier: Apache-2.0

"""Requests to other OpenStack services: sessions, endpoints, typed errors.

The session comes from the caller: for a user's request it is that user's, for
the periodic status it is Magnum's own. A service that is not in the catalog is
a separate error, because some services are optional.
"""

import collections.abc
import contextlib
import dataclasses
import functools
import typing

from keystoneauth1 import exceptions as keystone_exceptions
from keystoneauth1 import session as keystone_session
from openstack import connection
from openstack import exceptions as sdk_exceptions

from magnum_capi import errors


class CloudError(errors.MagnumCapiError):
    """A service refused a request.

    :param status: HTTP status, None when there was no answer.
    """

    def __init__(self, what: str, *, status: int | None = None,
                 **kwargs: typing.Any) -> None:
        super().__init__(what, **kwargs)
        self.status = status


class NotThere(CloudError):
    """The named object does not exist, or the user may not see it."""


class NotUsable(CloudError):
    """The named object exists, but cannot be used for a cluster."""


class Denied(CloudError):
    """The user or Magnum may not do this (401, 403)."""


class Conflict(CloudError):
    """An existing object conflicts with the request (409)."""


class CloudUnreachable(CloudError):
    """The service did not answer, or has an error (5xx, 429)."""


class ServiceMissing(CloudError):
    """The catalog has no such service."""


@dataclasses.dataclass(frozen=True)
class Place:
    """Which endpoint of a service to use.

    :param interface: public, internal or admin; of several, the first in the
        catalog counts.
    """

    interface: str | list[str] = 'public'
    region: str | None = None


#: Makes a session for the first request.
SessionFactory: typing.TypeAlias = collections.abc.Callable[
    [], keystone_session.Session]


class Services:
    """The services of a cloud, as one user sees them.

    :param places: by service type; public endpoints of any region by
        default.
    :param timeout: seconds for a response, if the session has no limit.
    :raises CloudError: (every method) and its kinds.
    """

    def __init__(self, session_factory: SessionFactory, *, timeout: float,
                 places: collections.abc.Mapping[str, Place] | None = None
                 ) -> None:
        self._session_factory = session_factory
        self._places = places or {}
        self._timeout = timeout
        self._made: dict[str, typing.Any] = {}

    def has(self, service_type: str) -> bool:
        """Whether the catalog has a service."""
        try:
            self._endpoint(service_type)
        except ServiceMissing:
            return False
        return True

    def identity_url(self, interface: str = 'public') -> str | None:
        """URL of Keystone for clusters."""
        with asking('the address of Keystone'):
            place = self._place('identity')
            return self._session.get_endpoint(
                service_type='identity', interface=interface,
                region_name=place.region)

    def proxy(self, service: str) -> typing.Any:
        """The openstacksdk proxy of a service type."""
        if service not in self._made:
            name = service.replace('-', '_')
            override: dict[str, typing.Any] = {
                f'{name}_endpoint_override': self._endpoint(service)}
            # This requests the versions of the service.
            with asking(f'the versions of {service}'):
                self._made[service] = getattr(connection.Connection(
                    session=self._session, **override), name)
        return self._made[service]

    @functools.cached_property
    def _session(self) -> keystone_session.Session:
        session = self._session_factory()
        if session.timeout is None:
            session.timeout = self._timeout
        return session

    def _place(self, service: str) -> Place:
        return self._places.get(service, Place())

    def _endpoint(self, service: str) -> str:
        place = self._place(service)
        with asking(f'the catalog for {service}'):
            found = self._session.get_endpoint(
                service_type=service, interface=place.interface,
                region_name=place.region)
        if not found:
            raise ServiceMissing(f'The cloud has no service {service}')
        return found


@contextlib.contextmanager
def asking(what: str) -> collections.abc.Iterator[None]:
    """Translate errors of the libraries; ``what`` was requested."""
    try:
        yield
    except (keystone_exceptions.EndpointNotFound,
            sdk_exceptions.ServiceDisabledException,
            sdk_exceptions.EndpointNotFound) as e:
        raise ServiceMissing(
            f'The cloud has no service for {what}', last_seen=e) from None
    except (sdk_exceptions.SDKException,
            keystone_exceptions.ClientException) as e:
        status = (getattr(e, 'status_code', None)
                  or getattr(e, 'http_status', None) or None)
        raise _error(what, status, e) from None


def raise_for(answer: typing.Any) -> None:
    """Have :func:`asking` translate an error response."""
    sdk_exceptions.raise_from_response(answer)


def _error(what: str, status: int | None, e: Exception) -> CloudError:
    # The texts of the SDK contain the address, which may be internal.
    said = getattr(e, 'details', None) or e
    facts: dict[str, typing.Any] = {
        'status': status, 'last_seen': ' '.join(str(said).split())[:300],
        'where': getattr(e, 'url', None)}
    if status in (401, 403):
        return Denied(f'No right to {what}', **facts)
    if status == 409:
        return Conflict(f'Refused: {what}', **facts)
    if status is None or status == 429 or status >= 500:
        return CloudUnreachable(
            f'No answer about {what}',
            hint='Try again when the service is back', **facts)
    return CloudError(f'Refused: {what}', **facts)
