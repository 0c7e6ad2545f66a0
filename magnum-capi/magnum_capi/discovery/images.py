# SPDX-License-Identifier: Apache-2.0
"""Reads, as the user, what an image says about drivers.

The endpoint comes from the token's own contents (``keystone.token_info``), as
in Magnum's clients. The plugin that authtoken leaves in
``keystone.token_auth`` would add Magnum's service token to the request: with
it Glance may show more than the user may see, and it costs a request to
Keystone. No version is discovered: Glance's v2 is the only one.

An image that the user cannot see (:class:`NotVisible`) is left to Magnum's own
error. A Glance that does not answer is another case (:class:`Unavailable`):
Magnum 23 mistakes it for an image without os_distro.
"""

import dataclasses
import http.cookiejar
import json
import logging
import re
import time
import typing
import urllib.parse

from keystoneauth1.access import access
from keystoneauth1 import exceptions
from keystoneauth1 import loading
from keystoneauth1 import session as ka_session
from oslo_config import cfg
import requests
import urllib3

from magnum_capi.discovery import answers
from magnum_capi.discovery import guarded
from magnum_capi.discovery import model
from magnum_capi import errors
from magnum_capi import responses

LOG = logging.getLogger(__name__)

#: Seconds to connect, and to read a whole response of Glance.
TIMEOUTS = (5.0, 30.0)

_VERSION = re.compile(r'/v\d+(\.\d+)?/*$|/+$')
#: Connections in the pool; more threads than that open new ones.
_KEPT = 64
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


class Reader:
    """Reads images; threads share an object and its connections.

    :param session: its own auth is not used.
    :param interface: of Glance in the catalog, such as ``publicURL``.
    :param region: of Glance in the catalog; None takes any.
    :param timeouts: to connect, and to read a whole response, in seconds.
    """

    def __init__(self, session: ka_session.Session,
                 interface: str = 'publicURL', region: str | None = None,
                 timeouts: tuple[float, float] = TIMEOUTS) -> None:
        self._session = session
        self._interface = interface
        self._region = region
        self._timeouts = timeouts
        # Users share the session, so cookies of one must not reach another.
        session.session.cookies.set_policy(
            http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))

    @classmethod
    def of(cls, conf: cfg.ConfigOpts,
           timeouts: tuple[float, float] = TIMEOUTS) -> 'Reader':
        """A Reader that is configured like Magnum's clients.

        :param conf: Magnum's, with [keystone_auth] (its TLS) and
            [glance_client].
        """
        http_session = requests.Session()
        session = loading.load_session_from_conf_options(
            conf, 'keystone_auth', session=http_session)
        # keystoneauth of Magnum 20 to 22 has neither.
        tls = {name: getattr(session, name)
               for name in ('tls_ciphers', 'tls_min_version')
               if hasattr(session, name)}
        # Magnum 20 to 22 has TLS options of its own for Glance
        # (magnum/common/clients.py, glance).
        if getattr(conf.glance_client, 'insecure', False):
            session.verify = False
        elif getattr(conf.glance_client, 'ca_file', None):
            session.verify = conf.glance_client.ca_file
        adapter = ka_session.TCPKeepAliveAdapter(pool_maxsize=_KEPT, **tls)
        for scheme in ('http://', 'https://'):
            http_session.mount(scheme, adapter)
        return cls(session, conf.glance_client.endpoint_type,
                   conf.glance_client.region_name, timeouts)

    def read(self, ident: str, environ: guarded.Environ) -> Image:
        """Read an image by id or name.

        Takes one request if the image exists and is not hidden.

        :param ident: id or name of the image.
        :raises NotVisible: the user can see no such image, or several.
        :raises Unavailable: Glance does not answer.
        """
        token = environ.get('HTTP_X_AUTH_TOKEN', '').strip()
        info = environ.get('keystone.token_info')
        if not token or not info:
            raise Unavailable(
                401, 'The request is not authenticated, so its image cannot '
                'be read.')
        images = self._endpoint(info, token) + '/v2/images'
        if model.is_uuid(ident):
            found = self._get(f'{images}/{ident}', token)
        else:
            found = self._named(images, ident, token)
        if not guarded.text(found.get('id')):
            raise _unusable()
        return Image(found['id'], model.ImageProperties.of(found))

    def _endpoint(self, info: dict[str, typing.Any], token: str) -> str:
        try:
            url = access.create(body=info, auth_token=token) \
                .service_catalog.url_for(
                    service_type='image', interface=self._interface,
                    region_name=self._region)
        except exceptions.ClientException as e:
            raise Unavailable(
                503, 'The image service could not be asked: the service '
                'catalog has no endpoint of it.') from e
        # Endpoints without a URL are skipped there.
        return _VERSION.sub('', url or '')

    def _named(self, images: str, name: str,
               token: str) -> dict[str, typing.Any]:
        # The second request finds hidden images.
        query = urllib.parse.urlencode({'name': name}, errors='replace')
        found = (self._one(f'{images}?{query}', name, token)
                 or self._one(f'{images}?{query}&os_hidden=true', name, token))
        if found is None:
            raise NotVisible('No image has this name')
        return found

    def _one(self, url: str, name: str,
             token: str) -> dict[str, typing.Any] | None:
        not_visible = _NOT_VISIBLE
        if max(name, default='') > _LAST_UTF8MB3:
            not_visible += (500,)
        answer = self._get(url, token, not_visible)
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

    def _get(self, url: str, token: str,
             not_visible: tuple[int, ...] = _NOT_VISIBLE
             ) -> dict[str, typing.Any]:
        status, content = self._sent(url, token)
        if status in not_visible:
            raise NotVisible(f'Glance answered {status}')
        if status == 401:
            raise Unavailable(
                401, 'The image service did not accept the token of the '
                'request, so nothing was done. Get a new token.')
        if status != 200:
            raise Unavailable(
                503 if status >= 500 or status == 429 else 502,
                f'The image service could not be asked: it answered {status}.'
                ' Nothing was done; try again later.')
        try:
            found = json.loads(content)
        except (ValueError, RecursionError) as e:
            raise _unusable() from e
        if not isinstance(found, dict):
            raise _unusable()
        return found

    def _sent(self, url: str, token: str) -> tuple[int, bytes]:
        # A pooled connection may break during use: try again.
        failure: Exception | None = None
        for _ in range(2):
            end = time.monotonic() + self._timeouts[1]
            try:
                # To log it, keystoneauth would read it without a time limit.
                answer = self._session.get(
                    url, authenticated=False, redirect=False, raise_exc=False,
                    timeout=self._timeouts, stream=True, log=False,
                    headers={'X-Auth-Token': token,
                             'Accept': 'application/json',
                             'Accept-Encoding': 'identity'})
                LOG.debug('Glance answered %s to GET %s', answer.status_code,
                          url)
                return answer.status_code, responses.read(answer.raw, end)
            except (exceptions.ConnectTimeout, TimeoutError,
                    urllib3.exceptions.TimeoutError) as e:
                raise _silent('it did not answer in time') from e
            except exceptions.ConnectFailure as e:
                failure = e
            except (exceptions.ClientException,
                    requests.RequestException, urllib3.exceptions.HTTPError,
                    ValueError) as e:
                raise _silent('the connection failed') from e
        raise _silent('it cannot be reached') from failure


def _silent(why: str) -> Unavailable:
    return Unavailable(
        503, f'The image service could not be asked: {why}. Nothing was '
        'done; try again later.')


def _unusable() -> Unavailable:
    return Unavailable(
        502, 'The image service could not be asked: its answer is not '
        'usable. Nothing was done; try again later.')
