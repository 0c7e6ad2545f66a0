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

"""Takes secrets out of text before anybody else sees it, and counts them.

Logs and test results of OpenStack's CI are public. Everything that this
project attaches to a failure or publishes passes through here. Certificates
and certificate requests are public and stay: they help to find a wrong CA.
Where a secret had several lines, as many lines stay, so that the number of
a line means the same before and after.

Time grows with the length of the text and no faster, whatever the text is:
every repetition in the patterns is possessive or bounded, and a pattern that
starts with one looks back first, so that no run of characters is read from
each of its middles again.
"""

import collections
import dataclasses
import re
import types
import typing

#: What a secret becomes. Not shorter: a reader must see that there was one.
MARK = '<redacted>'

BEARER = 'bearer-token'
BOOTSTRAP = 'bootstrap-token'
COOKIE = 'cookie'
KUBECONFIG = 'kubeconfig-key'
OPENSTACK = 'openstack-secret'
PASSWORD = 'password'
PRIVATE_KEY = 'private-key'
REGISTRY = 'registry-auth'
SECRET = 'secret'
URL = 'url-credentials'
#: Every kind of secret that is told apart.
KINDS = (BEARER, BOOTSTRAP, COOKIE, KUBECONFIG, OPENSTACK, PASSWORD,
         PRIVATE_KEY, REGISTRY, SECRET, URL)


@dataclasses.dataclass(frozen=True)
class Redacted:
    """Text without secrets.

    :param counts: mapping of kind to the number of secrets taken out, kinds
        that occur only.
    """

    text: str
    counts: typing.Mapping[str, int] = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))


#: Ends of names whose value is a secret, and its kind: the first that fits.
_SUFFIXES = (
    ('clouds.yaml', OPENSTACK), ('clouds.yml', OPENSTACK),
    ('cloud.conf', OPENSTACK), ('cloud-config', OPENSTACK),
    ('application-credential-secret', OPENSTACK),
    ('client-key-data', KUBECONFIG), ('value.kubeconfig', KUBECONFIG),
    ('dockerconfigjson', REGISTRY), ('dockercfg', REGISTRY),
    ('identitytoken', REGISTRY), ('registrytoken', REGISTRY),
    ('cookie', COOKIE), ('token', BEARER), ('token-data', BEARER),
    ('bootstrap-token', BOOTSTRAP),
    ('password', PASSWORD), ('passwd', PASSWORD), ('pass', PASSWORD),
    ('passphrase', PASSWORD),
    ('tls.key', PRIVATE_KEY), ('ca.key', PRIVATE_KEY),
    ('sa.key', PRIVATE_KEY), ('etcd.key', PRIVATE_KEY),
    ('proxy.key', PRIVATE_KEY), ('private-key', PRIVATE_KEY),
    ('privatekey', PRIVATE_KEY), ('private-key-pem', PRIVATE_KEY),
    ('private-key-data', PRIVATE_KEY),
    ('certificate-key', SECRET), ('access-key', SECRET),
    ('api-key', SECRET), ('apikey', SECRET), ('secret', SECRET),
)

_ENDS = '|'.join(
    f'(?<={re.escape(suffix)})' for suffix in sorted({
        variant for suffix, _ in _SUFFIXES
        for variant in (suffix, suffix.replace('-', '_'))}))

#: The whole of a name, read once: from where no name goes on to the left.
_NAME = rf'(?<![\w.-])[\w.-]++(?:{_ENDS})'

#: What stands for no value, or for one that another program has hidden.
#: Printed Go structs (``Secret:&v1.SecretVolumeSource{``) have no secret here.
_NO_SECRET = (
    r'''(?!(?:\\{0,4}["'])?(?:<redacted>|<masked>|<nil>|\*{3,}+'''
    r'''(?![^\s,;}\])"']))'''
    r'''|(?:null|None|nil|true|false|on|off|yes|no|""|''|~)(?![^\s,;}\])"'])'''
    r'''|&[\w.]{1,64}\{|\(\*[\w./]{1,64}\)\(|\[|\{|map\[)''')

#: Quoted (also in a quoted text), cut off in the middle, or a bare word.
_VALUE = (
    r'''(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.|'')*+\''''
    r'''|(?P<escaped>\\{1,7}["'])(?:(?!(?P=escaped))[^\n])*+(?P=escaped)'''
    r'''|\\{0,7}["'][^\n]*+'''
    r'''|(?:[^\s,;}\])"'\\]|[,;\\](?=[^\s"'}\]),;\\]))++)''')

#: Between a name and its value; a value may begin on the next line when that
#: line is indented and is no name itself.
_BETWEEN = (
    r'''(?:\\{0,7}["'])?[ \t]{0,16}+[:=][ \t]{0,64}+'''
    r'''(?:\r?\n[ \t]{1,64}+(?![\w."'/-]{1,128}+:(?:\s|$)|-\s))?''')

_BASE64 = 'A-Za-z0-9+/'

#: A line of base64, wrapped as by the program of that name.
_WRAPPED = rf'(?:\r?\n[ \t]{{0,64}}+[{_BASE64}]{{40,}}+={{0,2}})*+' \
    rf'(?:\r?\n[ \t]{{0,64}}+[{_BASE64}]{{2,76}}+={{1,2}})?+'


def _base64(starts):
    return rf'(?:{starts})[{_BASE64}]{{16,}}+={{0,2}}{_WRAPPED}'


#: A line of a wrapped secret: the next line may belong to it.
_WRAPPED_LINE = re.compile(rf'[ \t]*[{_BASE64}]{{40,}}+={{0,2}}\s*')

#: (kind or None when the name tells it, pattern, flags): from the most to
#: the least specific. Group "keep" stays, the rest goes.
RULES = tuple((kind, re.compile(pattern, flags)) for kind, pattern, flags in (
    # PEM blocks with real or escaped line ends (JSON); of one that was cut
    # off all that may belong to it.
    (PRIVATE_KEY,
     r'-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----'
     r'(?:(?:(?!-----)[\s\S])*+-----END [A-Z0-9 ]{0,40}'
     r'PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\\\s]*+)', 0),
    # The same in base64 ("-----BEGIN" in front): Secrets and kubeconfigs.
    # Public certificates too begin so; only keys are told by "PRIVATE KEY"
    # at each of the three offsets that base64 knows.
    (PRIVATE_KEY,
     r'LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,12}'
     r'(?:UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW)'
     rf'[{_BASE64}=]*+{_WRAPPED}', 0),
    # In base64 too: a kubeconfig as Cluster API keeps it ("apiVersion: ",
    # "clusters:"), clouds.yaml ("clouds:"), cloud.conf ("[Global]") and the
    # configuration of Docker ('{"auths":').
    (KUBECONFIG, _base64('YXBpVmVyc2lvbjog|Y2x1c3RlcnM6'), 0),
    (OPENSTACK, _base64('Y2xvdWRzO[ig]|W0dsb2JhbF'), 0),
    (REGISTRY, _base64('eyJhdXRocyI6|eyAiYXV0aHMi|ewogICJhdXRocyI6'), 0),
    # Authorization: Bearer abc; Authorization: Basic abc
    (BEARER,
     r'''(?P<keep>authorization(?:\\{0,7}["'])?[ \t]{0,16}+[:=]'''
     r'''[ \t]{0,64}+\[?(?:\\{0,7}["'])?'''
     r'''(?:(?:bearer|basic|digest|token)[ \t]{1,64}+)?+)'''
     rf'''(?!{MARK}|<masked>|[*{{])[^\s,"'}}\]\\]++''', re.I),
    (BEARER,
     r'(?P<keep>(?<![\w.-])Bearer[ \t]{1,64}+)'
     r'[A-Za-z0-9._~+/-]{20,}+={0,2}', 0),
    # Fernet tokens of Keystone, JSON web tokens of service accounts, and
    # bootstrap tokens of kubeadm, wherever they stand. (The name of an
    # Event, "pod-abc123.17f3...", is none: it has more in front.)
    (BEARER, r'\bgAAAAA[A-Za-z0-9_-]{40,}+={0,2}', 0),
    (BEARER, r'(?<![\w-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+'
             r'\.[A-Za-z0-9_-]*+', 0),
    (BOOTSTRAP, r'(?<![\w.-])[a-z0-9]{6}\.[a-z0-9]{16}(?![\w-])', 0),
    # user:password@host, and a token in the place of the user
    (URL, r'''(?P<keep>://[^/\s:@"'<>]{0,256}+:)[^/\s@"'<>]++(?=@)''', 0),
    (URL, r'''(?P<keep>://)[^/\s:@"'<>]{20,256}+(?=@)''', 0),
    # Docker's "auth": "<base64 of user:password>"
    (REGISTRY,
     r'''(?P<keep>(?<![\w.-])auth(?:\\{0,7}["'])[ \t]{0,16}+:[ \t]{0,64}+'''
     rf'''\\{{0,7}}["'])[{_BASE64}]{{4,}}+={{0,2}}(?=\\{{0,7}}["'])''', 0),
    # YAML block: the name, "|" or ">", then lines that are indented deeper.
    (None,
     rf'(?m)^(?P<keep>(?P<in>[ \t]*+)(?:- )?["\']?(?P<name>{_NAME})["\']?:'
     r'[ \t]{0,64}+)[|>][-+0-9]{0,4}+[ \t]*+\r?\n'
     r'(?:(?P=in)[ \t]++[^\n]*+(?:\n|\Z)|[ \t]*+\r?\n)++', re.I),
    # --name value
    (None,
     rf'(?P<keep>(?P<name>(?<![\w.-])(?=--){_NAME})[ \t]{{1,64}}+)'
     rf'{_NO_SECRET}{_VALUE}', re.I),
    # name = value, "name": "value"
    (None, rf'(?P<keep>(?P<name>{_NAME}){_BETWEEN}){_NO_SECRET}{_VALUE}',
     re.I),
))


def redact(text):
    """Return text without private keys, tokens and passwords.

    :param text: str of any form: log, JSON, YAML, INI, traceback.
    """
    return examine(text).text


def examine(text):
    """Return text without secrets, and how many of which kind there were.

    Doing it twice is doing it once: the second time finds nothing.

    :param text: str of any form: log, JSON, YAML, INI, traceback.
    :returns: a :class:`Redacted`.
    """
    counts = collections.Counter()
    for kind, pattern in RULES:
        def without(match, kind=kind):
            counts[kind or _kind(match['name'])] += 1
            return _without(match)
        text = pattern.sub(without, text)
    return Redacted(text, types.MappingProxyType(dict(counts)))


def blocks(lines, size=1 << 20):
    """Cut a long text into pieces that can be examined one by one.

    No cut goes through a private key, a YAML block or wrapped base64, as
    long as those are shorter than four times ``size``.

    :param lines: iterable of str, each with its line end.
    :param size: characters of a piece, about.
    """
    block, length, in_key, before = [], 0, False, ''
    for line in lines:
        if length >= size and (length >= 4 * size or not (
                in_key or line[:1] in ' \t\r\n-'
                or _WRAPPED_LINE.fullmatch(before))):
            yield ''.join(block)
            block, length = [], 0
        block.append(line)
        length += len(line)
        if 'PRIVATE KEY' in line:
            in_key = line.rfind('-----BEGIN ') > line.rfind('-----END ')
        before = line
    if block:
        yield ''.join(block)


def places(lines):
    """Where secrets are: the number of each line, from 1, and their kinds.

    :param lines: as for :func:`blocks`.
    :returns: iterator of (int, tuple of kinds): of a secret of several
        lines the first one.
    """
    first = 1
    for block in blocks(lines):
        found = examine(block)
        if found.counts:
            pairs = zip(block.split('\n'), found.text.split('\n'))
            for number, (old, new) in enumerate(pairs, first):
                if old != new and MARK in new:
                    yield number, tuple(examine(old).counts) or tuple(
                        found.counts)
        first += block.count('\n')


def _without(match):
    """Keep the name, the quotes and the line ends; put the mark between."""
    whole = match.group()
    kept = match.groupdict().get('keep') or ''
    value = whole[len(kept):]
    quote = re.match(r'''\\{0,7}["']|''', value).group()
    closed = quote and len(value) > len(quote) and value.endswith(quote)
    lines = value.count('\n')
    return f'{kept}{quote}{MARK}{quote if closed else ""}' + '\n' * lines


def _kind(name):
    """Tell what the value of a name is."""
    name = name.lower().replace('_', '-').lstrip('-')
    if name.startswith('os-'):
        return OPENSTACK
    return next(kind for suffix, kind in _SUFFIXES if name.endswith(suffix))
