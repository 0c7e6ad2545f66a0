# SPDX-License-Identifier: Apache-2.0

"""Does a registry have an image? Asks it, without pulling anything.

It sends HEAD for a manifest, as in the distribution specification; if that is
denied, it gets a token for that one repository (distribution/distribution,
docs/spec/auth/token.md). Credentials come from a Docker configuration file and
are only sent to their registry, over TLS; no message contains them.
"""

import base64
import binascii
import dataclasses
import json
import os
import pathlib
import re
import typing
from urllib import parse

import requests

from magnum_capi import errors

#: Timeout for one answer, in seconds.
TIMEOUT = 30

_KINDS = ', '.join((
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.docker.distribution.manifest.list.v2+json',
    'application/vnd.oci.image.manifest.v1+json',
    'application/vnd.docker.distribution.manifest.v2+json'))
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')

#: Results of a query.
THERE, MISSING, REFUSED, SILENT = 'there', 'missing', 'refused', 'no answer'


@dataclasses.dataclass(frozen=True)
class Found:
    """The answer of a registry for an image.

    :param state: THERE, MISSING, REFUSED or SILENT.
    :param why: for people; empty if the image exists.
    """

    image: str
    state: str
    why: str = ''


@dataclasses.dataclass(frozen=True)
class Login:
    """Name and password for a registry."""

    name: str
    password: str = dataclasses.field(repr=False)


class Registry:
    """One registry.

    :param host: with its port.
    :param login: for the registry; None for anonymous access.
    :param plain: use HTTP: only on the user's request, or on this machine.
    :param session: of requests, for its certificates and proxies.
    """

    def __init__(self, host, login: Login | None = None, plain=False,
                 session=None):
        self._base = f'{"http" if plain else "https"}://{host}'
        self._login = login
        self._plain = plain
        self._session = session or requests.Session()

    def find(self, image: str) -> Found:
        """Look for an image by its full name with a tag."""
        path, _, tag = image.partition('/')[2].rpartition(':')
        url = f'{self._base}/v2/{path}/manifests/{tag}'
        try:
            answer = self._head(url)
            if answer.status_code == 401:
                answer = self._head(url, self._authorization(
                    answer.headers.get('WWW-Authenticate', ''), path))
        except requests.RequestException as e:
            # Not its text, which may contain a proxy's address with a
            # password.
            return Found(image, SILENT, type(e).__name__)
        if answer.status_code == 200:
            return Found(image, THERE)
        if answer.status_code == 404:
            return Found(image, MISSING, 'it has no such image')
        if answer.status_code in (401, 403):
            return Found(image, REFUSED, 'it does not accept these credentials'
                         if self._login else 'it requires credentials')
        return Found(image, SILENT, f'it answered {answer.status_code}')

    def _head(self, url, authorization=None):
        headers = {'Accept': _KINDS}
        if authorization:
            headers['Authorization'] = authorization
        return self._session.request(
            'HEAD', url, headers=headers, timeout=TIMEOUT,
            allow_redirects=True, auth=_as_it_is)

    def _authorization(self, challenge, path):
        kind, _, rest = challenge.partition(' ')
        told = dict(_PARAMETER.findall(rest))
        basic = self._login and 'Basic ' + base64.b64encode(
            f'{self._login.name}:{self._login.password}'.encode()).decode()
        if kind.lower() == 'basic':
            return basic
        realm = told.get('realm', '')
        if kind.lower() != 'bearer' or not realm:
            return None
        if not self._plain and not realm.startswith('https://'):
            # A password is not sent unencrypted.
            basic = None
        answer = self._session.get(
            realm, timeout=TIMEOUT, auth=_as_it_is, headers=basic and {
                'Authorization': basic}, params={
                'scope': f'repository:{path}:pull',
                **({'service': told['service']} if told.get('service')
                   else {})})
        try:
            body = answer.json()
            return f'Bearer {body.get("token") or body["access_token"]}'
        except (ValueError, KeyError, TypeError, AttributeError):
            return None


def _as_it_is(request):
    """Keep requests from sending the credentials in .netrc for the host."""
    return request


def docker_config() -> pathlib.Path:
    """Where Docker and similar programs keep credentials."""
    return pathlib.Path(os.environ.get('DOCKER_CONFIG')
                        or pathlib.Path.home() / '.docker') / 'config.json'


def login(file: pathlib.Path, host: str) -> Login | None:
    """The credentials for a registry in a Docker configuration file.

    :raises UsageError: the file cannot be used; it is never quoted.
    """
    try:
        document = json.loads(file.read_text(encoding='utf-8'))
        auths = document.get('auths') or {}
    except OSError as e:
        raise errors.UsageError(
            f'Cannot read the credentials: {e.strerror}', where=file) from None
    except (ValueError, AttributeError):
        raise errors.UsageError('The file is not a config.json of Docker',
                                where=file) from None
    for name, entry in auths.items() if isinstance(auths, dict) else ():
        if (parse.urlsplit(name).netloc or name.partition('/')[0]) == host \
                and isinstance(entry, dict):
            return _login_of(entry)
    return None


def _login_of(entry: dict[str, typing.Any]) -> Login | None:
    try:
        name, _, password = base64.b64decode(
            entry.get('auth') or '').decode().partition(':')
    except (binascii.Error, ValueError, TypeError):
        name, password = '', ''
    name = entry.get('username') or name
    password = entry.get('password') or password
    return Login(str(name), str(password)) if name and password else None
