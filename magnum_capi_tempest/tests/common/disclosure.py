# SPDX-License-Identifier: Apache-2.0

"""Finds secrets in texts that must not contain any. Pure except for the logs.
"""

import base64
import collections.abc
import glob
import os
import re

from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: A private key as PEM; its middle part is unique.
_KEY = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----\s+(\S+\s+)?(?P<secret>\S+)')
#: Fields of clouds.yaml and of kubeconfigs.
_FIELD = re.compile(
    r'^\s*"?(?:application_credential_secret|password|client-key-data)"?:'
    r'\s*["\']?(?P<secret>[^\s"\',]+)', re.MULTILINE)

#: Characters that make a text unique. Longer ones are cut, as encoders break
#: lines after 64 characters.
_LEAST, _MOST = 16, 60


def secrets(objects: collections.abc.Iterable[json_types.Object]
            ) -> dict[str, str]:
    """The secrets in Secrets of Kubernetes.

    :param objects: their bodies.
    :returns: a description of the place, by a part of the secret.
    """
    found = {}
    for obj in objects:
        for key, value in (obj.get('data') or {}).items():
            # Helm's releases are compressed: they are no text.
            text = kube.secret_text(value) or ''
            for pattern in (_KEY, _FIELD):
                for match in pattern.finditer(text):
                    if len(match['secret']) >= _LEAST:
                        found[match['secret'][:_MOST]] = (
                            f'{key} of Secret {obj["metadata"]["name"]}')
    return found


def find_secrets(text: str, secrets_: collections.abc.Mapping[str, str]
                 ) -> list[str]:
    """Return the places of the secrets that a text contains, sorted.

    :param secrets_: see :func:`secrets`. One that is base64-encoded once more
        is found as well.
    """
    return sorted({
        where for secret, where in secrets_.items()
        if secret in text or any(word in text for word in _encoded(secret))})


def _encoded(secret: str) -> collections.abc.Iterator[str]:
    """Middle parts of the three forms that base64 gives a text in another."""
    for shift in range(3):
        code = base64.b64encode(b'\0' * shift + secret.encode()).decode()
        # The first and last groups depend on the surrounding text.
        yield code[4:len(code) - 4]


class Logs:
    """Reads what is written to log files from now on.

    :param patterns: of their paths.
    """

    def __init__(self, patterns: collections.abc.Sequence[str]) -> None:
        self._patterns = patterns
        # A log that is full gets another name, and a new file its own.
        self._sizes = {_identity(found): found.st_size
                       for found in map(os.stat, self._paths())}

    def _paths(self) -> list[str]:
        return sorted({path for pattern in self._patterns
                       for path in glob.glob(pattern)})

    def new(self) -> dict[str, str]:
        """Return the text that was added, by path."""
        found = {}
        for path in self._paths():
            with open(path, encoding='utf-8', errors='replace') as file:
                stat = os.fstat(file.fileno())
                # A file that is shorter now is a new one.
                known = self._sizes.get(_identity(stat), 0)
                file.seek(known if stat.st_size >= known else 0)
                found[path] = file.read()
        return found


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino
