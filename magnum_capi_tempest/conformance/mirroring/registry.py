# SPDX-License-Identifier: Apache-2.0

"""Does a registry have an image? Asks it, and pulls nothing.

HEAD of a manifest, as the distribution specification has it; who is not let
in without gets a token for that one repository (distribution/distribution,
docs/spec/auth/token.md). Credentials come from a file of Docker's, and are
sent to the registry that they are for, over TLS; no message has them.
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

#: Seconds for one answer.
TIMEOUT = 30

_KINDS = ', '.join((
    'application/vnd.oci.image.index.v1+json',
    'application/vnd.docker.distribution.manifest.list.v2+json',
    'application/vnd.oci.image.manifest.v1+json',
    'application/vnd.docker.distribution.manifest.v2+json'))
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')

#: What became of a question.
THERE, MISSING, REFUSED, SILENT = 'there', 'missing', 'refused', 'no answer'


@dataclasses.dataclass(frozen=True)
class Found:
    """What a registry says of an image.

    :param state: THERE, MISSING, REFUSED or SILENT.
    :param why: for people, empty when it is there.
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
    :param login: for it; None asks as nobody.
    :param plain: speak HTTP: only asked for by the user, or on this machine.
    :param session: of requests, for its certificates and proxies.
    """

    def __init__(self, host, login: Login | None = None, plain=False,
                 session=None):
        self._base = f'{"http" if plain else "https"}://{host}'
        self._login = login
        self._plain = plain
        self._session = session or requests.Session()

    def find(self, image: str) -> Found:
        """Ask for an image, by its full name with a tag."""
        path, _, tag = image.partition('/')[2].rpartition(':')
        url = f'{self._base}/v2/{path}/manifests/{tag}'
        try:
            answer = self._head(url)
            if answer.status_code == 401:
                answer = self._head(url, self._authorization(
                    answer.headers.get('WWW-Authenticate', ''), path))
        except requests.RequestException as e:
            # Not its text: it may have the address of a proxy, with password.
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
            # A password is not sent in the clear.
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
    """Keep requests from sending what .netrc has for the host."""
    return request


def docker_config() -> pathlib.Path:
    """Where Docker, and programs like it, keep credentials."""
    return pathlib.Path(os.environ.get('DOCKER_CONFIG')
                        or pathlib.Path.home() / '.docker') / 'config.json'


def login(file: pathlib.Path, host: str) -> Login | None:
    """The credentials for a registry in a file of Docker's.

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
