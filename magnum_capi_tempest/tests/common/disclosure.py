# SPDX-License-Identifier: Apache-2.0

"""What must be read by nobody, and whether a text has it. Pure, but the logs.
"""

import base64
import binascii
import glob
import os
import re

#: A private key as PEM; its middle is like nothing else.
_KEY = re.compile(
    r'-----BEGIN [A-Z ]*PRIVATE KEY-----\s+(\S+\s+)?(?P<secret>\S+)')
#: Of clouds.yaml and of kubeconfigs.
_FIELD = re.compile(
    r'^\s*"?(?:application_credential_secret|password|client-key-data)"?:'
    r'\s*["\']?(?P<secret>[^\s"\',]+)', re.MULTILINE)

#: Characters that make a text one of its kind. Longer ones are cut: who
#: breaks lines does so behind 64.
_LEAST, _MOST = 16, 60


def secrets(objects) -> dict[str, str]:
    """What is secret in Secrets of Kubernetes.

    :param objects: their bodies.
    :returns: where it is, in words, by a part of it.
    """
    found = {}
    for obj in objects:
        for key, value in (obj.get('data') or {}).items():
            for text in texts(value):
                for pattern in (_KEY, _FIELD):
                    for match in pattern.finditer(text):
                        if len(match['secret']) >= _LEAST:
                            found[match['secret'][:_MOST]] = (
                                f'{key} of Secret {obj["metadata"]["name"]}')
    return found


def texts(value):
    """A value of a Secret as a text, if it is one: none or one."""
    try:
        yield base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        # Helm's releases are compressed.
        return


def told(text, secrets_) -> list[str]:
    """Return which secrets a text has, where they are; sorted.

    :param secrets_: as of :func:`secrets`. One that is encoded once more is
        found, too.
    """
    return sorted({
        where for secret, where in secrets_.items()
        if secret in text or any(word in text for word in _encoded(secret))})


def _encoded(secret):
    """Middles of the three forms that base64 gives a text within another."""
    for shift in range(3):
        code = base64.b64encode(b'\0' * shift + secret.encode()).decode()
        # The first and the last groups depend on what is around.
        yield code[4:len(code) - 4]


class Logs:
    """What is written to log files from now on.

    :param patterns: of their paths.
    """

    def __init__(self, patterns):
        self._patterns = patterns
        self._sizes = {path: os.path.getsize(path) for path in self._paths()}

    def _paths(self):
        return sorted({path for pattern in self._patterns
                       for path in glob.glob(pattern)})

    def new(self) -> dict[str, str]:
        """Return the text that came since, by path."""
        found = {}
        for path in self._paths():
            with open(path, encoding='utf-8', errors='replace') as file:
                # A file that is shorter is a new one.
                known = self._sizes.get(path, 0)
                file.seek(known if os.path.getsize(path) >= known else 0)
                found[path] = file.read()
        return found
