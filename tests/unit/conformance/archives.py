# SPDX-License-Identifier: Apache-2.0

"""Archives made by hand: small good ones, and what an attacker would send.

A tar header is written here byte by byte, because the archives that matter
are those that no library writes.
"""

import gzip
import io
import json
import tarfile
import zlib

JUNIT = 'plugins/e2e/results/global/junit_01.xml'
LOG = 'plugins/e2e/results/global/e2e.log'
YAML = 'plugins/e2e/sonobuoy_results.yaml'
DEFINITION = 'plugins/e2e/definition.json'
SERVER = 'serverversion.json'
#: What a tar archive ends with.
END = bytes(1024)


def header(name, size=0, kind=b'0', link=b'', prefix=b'', magic=b'ustar\x0000',
           size_field=None):
    """A tar header of 512 bytes with a checksum that is right."""
    if isinstance(name, str):
        name = name.encode()
    field = b'%011o\0' % size if size_field is None else size_field
    block = bytearray(512)
    block[:100] = name[:100].ljust(100, b'\0')
    block[100:148] = (b'0000644\0' + b'0001750\0' + b'0003720\0' + field
                      + b'14717520000\0')
    block[148:156] = b' ' * 8
    block[156:157] = kind
    block[157:257] = link.ljust(100, b'\0')
    block[257:265] = magic
    block[345:500] = prefix.ljust(155, b'\0')
    block[148:156] = b'%06o\0 ' % sum(block)
    return bytes(block)


def entry(name, content=b'', kind=b'0', **kwargs):
    """A header and the content that it announces."""
    return (header(name, len(content), kind, **kwargs) + content
            + bytes(-len(content) % 512))


def pax(*records, kind=b'x'):
    """An extended header of pax: pairs of key and value."""
    content = b''
    for key, value in records:
        record = f' {key}={value}\n'.encode()
        length = len(record) + 1
        while len(str(length)) + len(record) != length:
            length = len(str(length)) + len(record)
        content += str(length).encode() + record
    return entry('PaxHeaders/x', content, kind)


def pack(*entries, end=END):
    """A gzip file of tar entries."""
    return gzip.compress(b''.join(entries) + end, 6, mtime=0)


def by_library(files, fmt=tarfile.PAX_FORMAT):
    """An archive as :mod:`tarfile` writes it, names to contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=fmt) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(out.getvalue(), 6, mtime=0)


def case(name, status='passed', inside='', seconds='1.5'):
    """A test case as Ginkgo v2 writes it; ``name`` is escaped already."""
    return (f'<testcase name="{name}" classname="Kubernetes e2e suite" '
            f'status="{status}" time="{seconds}">{inside}</testcase>')


def junit(*cases, properties=(), attributes=''):
    """A JUnit file with these cases."""
    told = ''.join(f'<property name="{key}" value="{value}"></property>'
                   for key, value in properties)
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>'
            f'<testsuite name="Kubernetes e2e suite" {attributes} '
            f'timestamp="2026-11-21T09:27:54"><properties>{told}'
            f'</properties>{"".join(cases)}</testsuite></testsuites>'
            ).encode()


def log(planned, passed, failed=0, total=5, more=''):
    """An e2e log of a suite that ended."""
    ran = passed + failed
    return (f'Will run {planned} of {total} specs\n{"S" * total}\n\n{more}'
            f'Ran {ran} of {total} Specs in 3.423 seconds\n'
            f'{"FAIL" if failed else "SUCCESS"}! -- {passed} Passed | '
            f'{failed} Failed | 0 Pending | {total - ran} Skipped\n'
            ).encode()


def files(*cases, **kwargs):
    """Members of an archive in which one spec passed, or these cases."""
    return {
        'meta/config.json': b'{"Version":"v0.57.5"}',
        'meta/info.json': b'{"plugins":["e2e"]}',
        'meta/clusterhealth.json': json.dumps({'node_health': {
            'details': [{'name': 'n1', 'healthy': True}]}}).encode(),
        DEFINITION: b'{}',
        LOG: log(1, 1, total=1),
        JUNIT: junit(*(cases or [case('[It] [sig-node] Pods work')]),
                     **kwargs),
        SERVER: b'{"gitVersion":"v1.34.9","gitCommit":"'
                + b'f' * 40 + b'"}',
    }


def good(**changes):
    """Bytes of a small archive; a member set to None is left out."""
    members = files() | changes
    return pack(*(entry(name, content) for name, content in members.items()
                  if content is not None))


def replaced(name, content):
    """The small archive with one other member."""
    return good(**{name: content})


def corrupt(data, at):
    """One bit of a byte turned."""
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def entity_bomb():
    """A billion laughs."""
    entities = ''.join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return (f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "lol">{entities}'
            ']><testsuites><testsuite><testcase name="&l9;"/></testsuite>'
            '</testsuites>').encode()


def deflate_bomb(megabytes):
    """A gzip file of zeros in one member."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = packer.compress(header('plugins/e2e/results/global/e2e.log',
                                 megabytes << 20))
    piece = bytes(1 << 20)
    for _ in range(megabytes):
        out += packer.compress(piece)
    return out + packer.compress(END) + packer.flush()


def hostile():
    """Names of attacks to archives; none of them may be read.

    Small ones: what needs megabytes is in the functional tests.
    """
    spec = case('[It] [sig-a] b')
    whole = good()
    found = {
        'empty file': b'',
        'no gzip': b'PK\3\4' + bytes(600),
        'text': b'hello\n' * 200,
        'gzip of text': gzip.compress(b'hello\n' * 200),
        'gzip of nothing': gzip.compress(b''),
        'gzip within gzip': gzip.compress(whole),
        'wrong checksum of gzip': corrupt(whole, len(whole) - 8),
        'wrong length in gzip': corrupt(whole, len(whole) - 1),
        'garbage behind gzip': whole + b'garbage',
        'second archive behind the first': whole + whole,
        'no end of tar': pack(entry('a', b'b'), end=b''),
        'something behind the end of tar':
            pack(entry('a', b'b'), END, entry('c', b'd')),
        'wrong checksum of tar': pack(corrupt(entry('a', b'b'), 3)),
        'absolute name': pack(entry('/etc/passwd', b'x')),
        'absolute name by pax':
            pack(pax(('path', '/etc/passwd')), entry('a', b'x')),
        'parent folder': pack(entry('../../etc/passwd', b'x')),
        'parent folder within':
            pack(entry('plugins/../../x', b'x')),
        'parent folder by prefix': pack(entry('x', b'x', prefix=b'../..')),
        'parent folder by GNU name': pack(
            entry('././@LongLink', b'../../../x\0', b'L'), entry('a', b'x')),
        'name with NUL by pax':
            pack(pax(('path', 'a\0b')), entry('a', b'x')),
        'name that is not UTF-8': pack(entry(b'\xff\xfe\xfa', b'x')),
        'long name': pack(pax(('path', 'a/' * 600)), entry('a', b'x')),
        'huge extended header':
            pack(header('x', 1 << 30, b'x'), bytes(2048)),
        'malformed pax': pack(entry('x', b'99 path=a\n', b'x'), entry('a')),
        'pax without length': pack(entry('x', b'path=a\n', b'x'),
                                   entry('a')),
        'pax size that is none':
            pack(pax(('size', '1e9')), entry('a', b'x')),
        'pax size beyond the end':
            pack(pax(('size', str(1 << 40))), entry('a', b'x')),
        'global pax name':
            pack(pax(('path', 'b'), kind=b'g'), entry('a', b'x')),
        'sparse by pax':
            pack(pax(('GNU.sparse.major', '1')), entry('a', b'x')),
        'negative size':
            pack(header('a', size_field=b'-0000000001\0'), b'x' * 512),
        'size in words': pack(header('a', size_field=b'many bytes!\0')),
        'binary size beyond all':
            pack(header('a', size_field=b'\xff' + b'\xff' * 11)),
        'cut within a member': pack(header('a', 4096), b'x' * 512, end=b''),
        'two of a name': pack(entry(JUNIT, junit(spec)),
                              entry(JUNIT, junit(spec))),
        'two of a name in other words': pack(
            entry(JUNIT, junit(spec)), entry('./' + JUNIT, junit(spec))),
        'two of a name with slashes': pack(
            entry(JUNIT, junit(spec)),
            entry(JUNIT.replace('/', '//'), junit(spec))),
        'folder and file of a name': pack(
            entry('plugins/e2e', kind=b'5'), entry('plugins/e2e', b'x')),
        'unknown kind': pack(entry('a', b'x', b'Z')),
        'document type': replaced(JUNIT, entity_bomb()),
        'external entity': replaced(
            JUNIT, b'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuites/>'),
        'no XML': replaced(JUNIT, b'hello'),
        'empty JUnit file': replaced(JUNIT, b''),
        'cut XML': replaced(JUNIT, junit(spec)[:-20]),
        'UTF-16': replaced(JUNIT, junit(spec).decode().replace(
            'UTF-8', 'UTF-16').encode('utf-16')),
        'Latin-1': replaced(
            JUNIT, junit(case('[It] caf\xe9')).decode().replace(
                'UTF-8', 'ISO-8859-1').encode('latin-1')),
        'invalid UTF-8': replaced(JUNIT, junit(spec).replace(
            b'[sig-a]', b'[sig-\xff]')),
        'characters that XML forbids': replaced(
            JUNIT, junit(case('[It] a\0b'))),
        'character reference of an escape': replaced(
            JUNIT, junit(case('[It] a&#27;[2Jb'))),
        'deep XML': replaced(JUNIT, b'<a>' * 100 + b'</a>' * 100),
        'many kinds of elements': replaced(
            JUNIT, b'<t>' + b''.join(b'<a%d/>' % n for n in range(500))
            + b'</t>'),
        'many kinds of attributes': replaced(
            JUNIT, b'<t ' + b' '.join(b'a%d=""' % n for n in range(500))
            + b'/>'),
        'case within a case': replaced(
            JUNIT, junit(case('[It] a', inside=case('[It] b')))),
        'name of a novel': replaced(JUNIT, junit(case('[It] ' + 'a' * 9999))),
    }
    for kind, word in ((b'1', 'hard link'), (b'2', 'symbolic link'),
                       (b'3', 'character device'), (b'4', 'block device'),
                       (b'6', 'FIFO'), (b'S', 'sparse file')):
        found[word] = pack(entry('plugins/e2e/results', kind=kind,
                                 link=b'/etc/passwd'))
    return found
