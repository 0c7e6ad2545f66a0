# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Takes secrets out of text before anybody else sees it.

Logs and test results of OpenStack's CI are public. Everything that this
project attaches to a failure passes through :func:`redact`. Certificates and
certificate requests are public and stay: they help to find a wrong CA.
"""

import re

#: What a secret becomes. Not shorter: a reader must see that there was one.
MARK = '<redacted>'

#: Names whose value is a secret, in JSON, YAML, INI, headers or options.
_NAMES = (
    r'[\w.-]*pass(?:word|wd|phrase)?',
    r'[\w.-]*secret',
    r'[\w.-]*(?:auth|access|refresh|bearer|id|subject|service|user)[-_]?token',
    r'token(?:-data|_data)?',
    r'[\w.-]*private[-_]?key(?:[-_](?:pem|data))?',
    r'client-key-data',
    r'clouds\.ya?ml',
    r'(?:tls|ca|sa|etcd|proxy)\.key',
    r'set-cookie|cookie',
)

_VALUE = r'''(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[^\s,;}\])"']+)'''

#: (pattern, replacement): from the most to the least specific.
_RULES = tuple((re.compile(pattern, flags), replacement) for (
    pattern, replacement, flags) in (
    # PEM blocks with real or escaped line ends (JSON), cut off ones too.
    (r'-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?'
     r'(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)', MARK, re.S),
    # The same in base64 ("-----BEGIN" in front): Secrets and kubeconfigs.
    # Public certificates too begin so; only keys are told by "PRIVATE KEY"
    # at each of the three offsets that base64 knows.
    (r'LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,12}'
     r'(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)[A-Za-z0-9+/=]*',
     MARK, 0),
    # Authorization: Bearer abc; Authorization: Basic abc
    (r'''(authorization["']?\s*[:=]\s*["']?(?:bearer|basic)?\s*)'''
     r'''[^\s,"'}]+''', r'\1' + MARK, re.I),
    # Fernet tokens of Keystone, JSON web tokens of service accounts, and
    # bootstrap tokens of kubeadm, wherever they stand.
    (r'\bgAAAAA[A-Za-z0-9_-]{40,}={0,2}', MARK, 0),
    (r'\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*', MARK, 0),
    (r'\b[a-z0-9]{6}\.[a-z0-9]{16}\b', MARK, 0),
    # user:password@host
    (r'(://[^/\s:@]+:)[^/\s@]+(?=@)', r'\1' + MARK, 0),
    # YAML block: the name, "|" or ">", then lines that are indented deeper.
    (rf'(?m)^(?P<in>[ \t]*)((?:- )?["\']?(?:{"|".join(_NAMES)})["\']?:\s*)'
     r'[|>][-+0-9]*[ \t]*\n(?:(?P=in)[ \t]+.*(?:\n|\Z)|[ \t]*\n)+',
     r'\g<in>\2' + MARK + '\n', re.I),
    # A kubeconfig in base64, as Cluster API keeps it in Secrets.
    (r'(?:YXBpVmVyc2lvbjog|Y2x1c3RlcnM6)[A-Za-z0-9+/]{40,}={0,2}', MARK, 0),
    # --name value
    (rf'(--(?:{"|".join(_NAMES)})\s+)(?!{MARK}){_VALUE}', None, re.I),
    # name = value, "name": "value"
    (rf"""((?<![\w.-])(?:--)?["']?(?:{'|'.join(_NAMES)})["']?\s*[:=]\s*)"""
     rf'(?!["\']?{MARK}){_VALUE}', None, re.I),
))


def redact(text):
    """Return text without private keys, tokens and passwords.

    :param text: str of any form: log, JSON, YAML, INI, traceback.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(
            _keep_name if replacement is None else replacement, text)
    return text


def _keep_name(match):
    """Replace the value only; nothing and yes or no are no secrets."""
    value = match.group(0)[len(match.group(1)):]
    if value in ('null', 'None', '""', "''", 'true', 'false'):
        return match.group(0)
    quote = value[0] if value[0] in '"\'' else ''
    return f'{match.group(1)}{quote}{MARK}{quote}'
