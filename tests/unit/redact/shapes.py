# SPDX-License-Identifier: Apache-2.0
"""Texts with a secret in them, as programs write them."""

import base64
import configparser
import gzip
import io
import json
import re
import shlex
import string
import urllib.parse
from xml.sax import saxutils

from hypothesis import strategies
import yaml

#: Names of secrets, in the spellings that programs have.
NAMES = (
    'password', 'adminPass', 'admin_pass', 'ADMIN_PASSWORD', 'user-password',
    'OS_PASSWORD', 'passwd', 'pwd', 'db_pwd', 'passphrase', 'passPhrase',
    'token', 'auth_token', 'X-Auth-Token', 'accessToken', 'id_token',
    'secret', 'clientSecret', 'client_secret', 'secret_key', 'secretKey',
    'SECRET_KEY', 'access-key', 'secretAccessKey', 'apiKey', 'api_key',
    'certificateKey', 'certificate-key', 'fernet_key', 'fernetKey',
    'encryption_key', 'private_key', 'privateKey', 'Set-Cookie',
    'application_credential_secret', 'applicationCredentialSecret')
#: Those that stand in headers.
HEADERS = ('X-Auth-Token', 'X-Subject-Token', 'x-service-token',
           'Authorization', 'Cookie', 'Set-Cookie', 'X-Api-Key')

#: Nobody can tell such a secret from an object of Go or YAML.
_OBJECT = re.compile(r'[\[(]*\{[A-Za-z]\w*:')
_LETTERS = string.ascii_letters + string.digits
#: What people and generators put into passwords.
_MARKS = '!#$%&()*+,-./:;<=>?@[]^_{|}~'


def _some(alphabet, first='', least=9, most=40):
    """Secrets of an alphabet; of what is no word in any language."""
    return strategies.tuples(
        strategies.sampled_from('bcdfghjkmpqrvwxz' + first),
        # strategies.text() would also try constants of this project, so that
        # other examples ran whenever one is added.
        strategies.lists(strategies.sampled_from(alphabet), min_size=least,
                         max_size=most).map(''.join),
        strategies.sampled_from('23456789')).map(''.join).filter(
            lambda secret: not _OBJECT.match(secret))


#: Of letters and digits: what a program makes.
plain = _some(_LETTERS)
#: With brackets and punctuation, for syntaxes that end with a blank.
marked = _some(_LETTERS + '[]{}()!#$%*+-./:?@^_~', '[({<@.')
#: With blanks, for syntaxes that end with the line.
spaced = _some(_LETTERS + _MARKS + '     ', '[({<@.')
#: Anything, for syntaxes that quote.
quoted = _some(_LETTERS + _MARKS + ' \'"\\\n\t\xe4', '[({<@.')


def _of_yaml(data, **options):
    return yaml.safe_dump(data, **options)


def _of_ini(name, value):
    parser = configparser.RawConfigParser()
    parser.optionxform = str
    parser['section'] = {'user': 'bob', name: value}
    out = io.StringIO()
    parser.write(out)
    return out.getvalue()


def _in_shell(value):
    return shlex.quote(value.replace('\n', ' '))


#: Functions of a name and a quoted secret.
QUOTED = {
    'json': lambda n, v: json.dumps({'user': 'bob', n: v, 'id': 7}),
    'json in lines': lambda n, v: json.dumps({'a': {n: v, 'z': 1}}, indent=2),
    'json in json': lambda n, v: json.dumps(
        {'body': json.dumps({n: v, 'z': 1})}),
    'json in json in json': lambda n, v: json.dumps(
        {'body': json.dumps({'in': json.dumps({n: v, 'z': 1})})}),
    'json in bytes': lambda n, v: repr(json.dumps({n: v}).encode()),
    'json in a repr': lambda n, v: repr({'body': json.dumps({n: v, 'z': 1})}),
    'json list': lambda n, v: json.dumps({n: [v], 'z': ['a']}),
    'json list in lines': lambda n, v: json.dumps({n: [v, v]}, indent=1),
    'json pair': lambda n, v: json.dumps({'name': n, 'value': v}),
    'json pair in lines': lambda n, v: json.dumps(
        [{'name': n, 'value': v}], indent=4),
    'json flag': lambda n, v: json.dumps(['x', f'--{n}', v, '--debug']),
    'json flag in lines': lambda n, v: json.dumps(
        ['x', f'--{n}', v, '--debug'], indent=1),
    'json joined flag': lambda n, v: json.dumps(['x', f'--{n}={v}', 'y']),
    'json environment': lambda n, v: json.dumps({'Env': [f'{n}={v}', 'A=b']}),
    'repr': lambda n, v: repr({'user': 'bob', n: v, 'id': 7}),
    'repr of bytes': lambda n, v: repr({n: v.encode(), 'id': 7}),
    'repr, all bytes': lambda n, v: repr({n.encode(): v.encode()}),
    'repr of an array': lambda n, v: repr({n: bytearray(v.encode())}),
    'arguments of a call': lambda n, v: f'Client(user="x", {n}={v!r}, a=1)',
    'flag': lambda n, v: repr(['openstack', f'--{n}', v, 'server']),
    'flag of bytes': lambda n, v: repr([b'x', f'--{n}'.encode(), v.encode()]),
    'flag in a tuple': lambda n, v: repr(('openstack', f'--{n}', v)),
    'joined flag': lambda n, v: repr(['openstack', f'--{n}={v}', 'server']),
    'pair': lambda n, v: repr((n, v)),
    'pairs': lambda n, v: repr([('Accept', '*/*'), (n, v), ('Via', 'x')]),
    'pairs of bytes': lambda n, v: repr([(n.encode(), v.encode())]),
    'items': lambda n, v: repr({n: v}.items()),
    'yaml': lambda n, v: _of_yaml({'a': {n: v, 'z': 1}}),
    'yaml, flow': lambda n, v: _of_yaml(
        {n: v.replace('\\', '/'), 'z': 1}, default_flow_style=True),
    'yaml, literal': lambda n, v: _of_yaml({'a': [{n: v, 'z': 1}]},
                                           default_style='|'),
    'yaml, folded': lambda n, v: _of_yaml({'a': {n: v, 'z': 'y'}},
                                          default_style='>'),
    'yaml, double': lambda n, v: _of_yaml({n: v}, default_style='"'),
    'yaml, single': lambda n, v: _of_yaml({n: v}, default_style="'"),
    'yaml, narrow': lambda n, v: _of_yaml({'a': {n: v, 'z': 1}}, width=20),
    'yaml in json': lambda n, v: json.dumps(
        {'data': _of_yaml({'a': {n: v, 'z': 1}})}),
    'yaml in bytes': lambda n, v: repr(_of_yaml({'z': 1, n: v}).encode()),
    'yaml pair': lambda n, v: _of_yaml(
        {'env': [{'name': n, 'value': v}, {'name': 'A', 'value': 'b'}]}),
    'yaml flag': lambda n, v: _of_yaml({'args': ['x', f'--{n}', v, '-v']}),
    'yaml joined flag': lambda n, v: _of_yaml({'args': [f'--{n}={v}', 'x']}),
    'shell': lambda n, v: f'export {n}={_in_shell(v)}\n',
    'shell, double': lambda n, v: f'declare -x {n}={json.dumps(v)}\n',
    'command': lambda n, v: (
        f'openstack --{n} {_in_shell(v)} server list'),
    'command, joined': lambda n, v: f'openstack --{n}={_in_shell(v)} -v',
    'assignment': lambda n, v: f'os.environ[{n!r}] = {v!r}',
    'hash': lambda n, v: f"{n} => {json.dumps(v)}, user => 'x'",
    'attribute': lambda n, v: f'<x {n}={json.dumps(v)} a="b"/>',
    'url': lambda n, v: f'mysql://bob:{urllib.parse.quote(v, "")}@host/db',
}

#: Functions of a name and a secret that ends with its line.
SPACED = {
    'line': lambda n, v: f'a: b\n{n}: {v}\nc: d\n',
    'indented': lambda n, v: f'a:\n  {n}: {v}\n  c: d\n',
    'in a list': lambda n, v: f'a:\n- {n}: {v}\n  c: d\n',
    'below': lambda n, v: f'{n}:\n    {v.replace(": ", ":")}\nc: d',
    'ini': _of_ini,
    'ini, joined': lambda n, v: f'user=bob\n{n}={v}\nhost=x\n',
    'commented out': lambda n, v: f'# {n} = {v}\n',
    'behind a log': lambda n, v: f'2026-01-01 INFO [pod/x] {n}: {v}',
    'header': lambda n, v: f'GET / HTTP/1.1\r\n{n}: {v}\r\nHost: x\r\n',
    'curl': lambda n, v: f'curl -H "{n}: {v}" http://x',
    'lines in json': lambda n, v: json.dumps(
        {'data': f'a: b\n{n}: {v}\nc: d\n', 'z': 1}),
    'lines in bytes': lambda n, v: repr(f'[a]\n{n} = {v}\nb = c\n'.encode()),
    'table': lambda n, v: (
        f'| id      | 7 |\n| {n:<12} | {v.replace("|", "x"):<50} |\n'),
    'environment': lambda n, v: f'"Environment={n}={v}"',
    'element': lambda n, v: f'<a><{n}>{saxutils.escape(v)}</{n}></a>',
}

#: Functions of a name and a secret without blanks, amid other text.
MARKED = {
    'in a phrase': lambda n, v: f'connect with {n}={v} to the host',
    'in arguments': lambda n, v: f'openstack --{n} {v} server list',
    'in joined arguments': lambda n, v: f'openstack --{n}={v} server list',
    'in an object': lambda n, v: f'{{user: bob, {n}: {v}, id: 7}}',
    'in a call': lambda n, v: f'Client(user=bob, {n}={v}, id=7) failed',
    'of a struct': lambda n, v: f'&{{Name:x {n}:{v} User:bob}}',
    'of a map': lambda n, v: f'map[Accept:[a] {n}:[{v}]]',
    'of a trace': lambda n, v: f'+ {n}={v} openstack server list',
}

#: Functions of the name of a header and what it has, with a scheme.
OF_HEADERS = (
    lambda n, v: json.dumps({n: v}), lambda n, v: json.dumps({n: [v]}),
    lambda n, v: repr((n, v)), lambda n, v: repr([n.encode(), v.encode()]),
    lambda n, v: repr({n: v.encode()}), lambda n, v: f"-H '{n}: {v}' x",
    lambda n, v: f'map[{n}:[{v}] Accept:[x]]',
    lambda n, v: repr(['Accept', '*/*', n, v]))

#: Functions of a name and a secret that encode them.
ENCODED = {
    'json': lambda n, v: json.dumps({'user': 'bob', n: v}),
    'yaml': lambda n, v: _of_yaml({'user': 'bob', n: v}),
    'kubeconfig': lambda n, v: _of_yaml(
        {'apiVersion': 'v1', 'kind': 'Config', 'users': [
            {'name': 'admin', 'user': {'token': v}}]}),
    'kubeconfig in json': lambda n, v: json.dumps(
        {'kind': 'Config', 'users': [{'user': {'token': v}}]}),
    'cloud-config': lambda n, v: (
        f'#cloud-config\nchpasswd:\n  list: |\n    root:{v}\n'),
    'template': lambda n, v: (
        '## template: jinja\n#cloud-config\nwrite_files:\n'
        f'- path: /x\n  content: {v}\n'),
    'settings': lambda n, v: f'[Global]\nusername=bob\nx={v}\n',
    'clouds': lambda n, v: _of_yaml({'clouds': {'x': {'auth': {n: v}}}}),
    'docker': lambda n, v: json.dumps({'auths': {'x': {n: v}}}),
}

#: Functions of the bytes of a document.
ENCODINGS = {
    'base64': lambda d: base64.b64encode(d).decode(),
    'base64 for URLs': lambda d: base64.urlsafe_b64encode(d).decode(),
    'base64 in lines': lambda d: base64.encodebytes(d).decode(),
    'base64 of base64': lambda d: base64.b64encode(
        base64.b64encode(d)).decode(),
    'packed': lambda d: base64.b64encode(gzip.compress(d)).decode(),
    'release': lambda d: base64.b64encode(base64.b64encode(
        gzip.compress(d))).decode(),
    'in a path': lambda d: 'data/' + base64.b64encode(d).decode(),
}

#: Functions of an encoded text: where it stands.
AROUND = {
    'alone': lambda t: t,
    'json': lambda t: json.dumps({'value': t}),
    'yaml': lambda t: _of_yaml({'data': {'value': t}}),
    'block': lambda t: 'data:\n  value: |\n' + ''.join(
        f'    {line}\n' for line in t.split('\n')) + 'kind: Secret\n',
    'bytes': lambda t: repr({'user_data': t.encode()}),
    'log': lambda t: f'2026-01-01 INFO read {t}\n',
}
