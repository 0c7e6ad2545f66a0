# SPDX-License-Identifier: Apache-2.0
"""Reads, as the user, what an image says about drivers.

An image that the user cannot see (:class:`NotVisible`) is left to Magnum's own
error. A Glance that does not answer is another case (:class:`Unavailable`):
Magnum 23 mistakes it for an image without os_distro.

This takes one request if the image exists and is not hidden. The client for
Glance that Magnum 23 makes takes six times as much CPU time, because it makes
all of openstacksdk's proxies for each request.
"""

import dataclasses
import re
import typing
import urllib.parse

from keystoneauth1 import exceptions
from keystoneauth1 import session as ka_session

from magnum_capi.discovery import answers
from magnum_capi.discovery import model
from magnum_capi import errors

#: Seconds to connect, and between two parts of a response, if magnum.conf has
#: no [keystone_auth]timeout.
_TIMEOUT = 30

_VERSION = re.compile(r'/v\d+(\.\d+)?/*$|/+$')
#: Statuses that concern the user; any other is a problem of Glance.
_NOT_VISIBLE: tuple[int, ...] = (400, 403, 404)
#: The last character that a utf8mb3 column of MariaDB can store. Glance
#: answers 500 to requests for a name with a later one.
_LAST_UTF8MB3 = '\uffff'


@dataclasses.dataclass(frozen=True)
class Image:
    """An image: its id, and what it says about drivers."""

    id: str
    says: model.ImageProperties


class NotVisible(errors.MagnumCapiError):
    """This user can see no such image, or several."""


class Unavailable(answers.Refused):
    """The image could not be read."""


class Glance:
    """The image service, as one user sees it.

    :param session: with the user's token.
    :param endpoint: URL in the service catalog; None: there is none.
    :param verify: of TLS, instead of the session's: a file, or whether to
        verify; None: the session's.
    """

    def __init__(self, session: ka_session.Session, endpoint: str | None,
                 verify: str | bool | None = None) -> None:
        self._session = session
        self._endpoint = endpoint
        self._verify = {} if verify is None else {'verify': verify}

    def read(self, ident: str) -> Image:
        """Read an image by id or name.

        :raises NotVisible: the user can see no such image, or several.
        :raises Unavailable: Glance does not answer.
        """
        if not self._endpoint:
            raise _unavailable('the service catalog has no endpoint of it')
        images = _VERSION.sub('', self._endpoint) + '/v2/images'
        if model.is_uuid(ident):
            found = self._get(f'{images}/{ident}')
        else:
            found = self._named(images, ident)
        if not isinstance(found.get('id'), str):
            raise _unusable()
        return Image(found['id'], model.ImageProperties.of(found))

    def _named(self, images: str, name: str) -> dict[str, typing.Any]:
        # The second request finds hidden images.
        query = urllib.parse.urlencode({'name': name}, errors='replace')
        found = (self._one(f'{images}?{query}', name)
                 or self._one(f'{images}?{query}&os_hidden=true', name))
        if found is None:
            raise NotVisible('No image has this name')
        return found

    def _one(self, url: str, name: str) -> dict[str, typing.Any] | None:
        not_visible = _NOT_VISIBLE
        if max(name, default='') > _LAST_UTF8MB3:
            not_visible += (500,)
        answer = self._get(url, not_visible)
        listed = answer.get('images')
        if not isinstance(listed, list) or not all(
                isinstance(image, dict) for image in listed):
            raise _unusable()
        # Glance would take a name such as in:a,b for a query.
        named: list[dict[str, typing.Any]] = [
            image for image in listed if image.get('name') == name]
        if len(named) > 1 or answer.get('next'):
            raise NotVisible('Several images have this name')
        return named[0] if named else None

    def _get(self, url: str, not_visible: tuple[int, ...] = _NOT_VISIBLE,
             ) -> dict[str, typing.Any]:
        try:
            # The token goes to nobody else, so no redirect is followed.
            answer = self._session.get(
                url, redirect=False, raise_exc=False,
                timeout=self._session.timeout or _TIMEOUT,
                headers={'Accept': 'application/json'}, **self._verify)
            status = answer.status_code
            if status in not_visible:
                raise NotVisible(f'Glance answered {status}')
            if status == 401:
                raise Unavailable(
                    401, 'The image service did not accept the token of the '
                    'request, so nothing was done. Get a new token.')
            if status != 200:
                raise _unavailable(
                    f'it answered {status}',
                    503 if status >= 500 or status == 429 else 502)
            found = answer.json()
        except exceptions.ConnectTimeout as e:
            raise _unavailable('it did not answer in time') from e
        except exceptions.SSLError as e:
            raise _unavailable(
                'TLS fails, so Magnum may not trust its certificate '
                '([keystone_auth]cafile, before Magnum 23 also '
                '[glance_client]ca_file)') from e
        except exceptions.ClientException as e:
            raise _unavailable('it cannot be reached') from e
        except (ValueError, RecursionError) as e:
            raise _unusable() from e
        if not isinstance(found, dict):
            raise _unusable()
        return found


def _unavailable(why: str, status: int = 503) -> Unavailable:
    return Unavailable(
        status, f'The image service could not be asked: {why}. Nothing was '
        'done; try again later.')


def _unusable() -> Unavailable:
    return _unavailable('its answer is not usable', 502)
