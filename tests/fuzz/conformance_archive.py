# SPDX-License-Identifier: Apache-2.0

"""Reads archives that nobody would write, and more of the promising ones.

    tox -e fuzz -- -max_total_time=600 [FILE]

Whatever comes in: a result or the typed error, text without what a terminal
obeys, the same from both inflaters, memory within bounds. The first byte of
an input says which layer the rest is: compressed bytes, the tar archive
within, the JUnit file, the log, Sonobuoy's summary, or a JSON document; so
that mutations get behind the checksums of the outer layers.

The inputs follow coverage: atheris is libFuzzer for Python, and all arguments
are libFuzzer's. An input that breaks something is written to the current
folder (``-artifact_prefix``), and is read again as FILE.
"""

import contextlib
import gzip
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import time
from unittest import mock
import zlib

import atheris

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import junit
from magnum_capi_tempest.conformance import report
from magnum_capi_tempest.conformance import tar
from magnum_capi_tempest.conformance import verdict
from magnum_capi_tempest.report import terminal
from tests.unit.conformance import archives

#: Bounds of an input: small ones find the same and are read faster.
LIMITS = {
    tar: {'MEMBERS': 500, 'TOTAL': 8 << 20, 'RATIO_FROM': 1 << 20},
    archive: {'MEMBER': 4 << 20, 'DOCUMENT': 64 << 10},
    junit: {'TOKEN': 16 << 10, 'CASES': 500, 'NAMES': 32 << 10,
            'TEXT': 64 << 10, 'FAILURE': 500, 'OUTPUT': 500}}
#: Seconds for an input.
SLOW = 10
ERROR = 'plugins/e2e/errors/global/error.json'
_HARMFUL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]')
_JSON = ('meta/clusterhealth.json', 'meta/config.json', 'meta/info.json',
         archives.DEFINITION, archives.SERVER,
         'resources/cluster/core_v1_nodes.json',
         'resources/ns/a/apps_v1_daemonsets.json', ERROR)


def _packed(data):
    return gzip.compress(data, 1, mtime=0)


def _documents(data):
    return archives.good(**dict.fromkeys(_JSON, data))


#: By the first byte of an input: what makes an archive of the rest.
LAYERS = (
    lambda data: data,
    _packed,
    lambda data: _packed(data + archives.END),
    lambda data: archives.replaced(archives.JUNIT, data),
    lambda data: archives.replaced(archives.LOG, data),
    lambda data: archives.good(**{archives.JUNIT: None, archives.LOG: data}),
    lambda data: archives.replaced(archives.YAML, data),
    _documents,
)


class Target:
    """Takes one input after the other and complains.

    :param folder: where the archive of an input is written.
    :raises AssertionError: an input broke a promise.
    """

    def __init__(self, folder):
        self.path = pathlib.Path(folder) / 'a.tar.gz'

    def __call__(self, data):
        begin = time.monotonic()
        kind, data = (data[0] if data else 0) % len(LAYERS), data[1:]
        self._archive(LAYERS[kind](data))
        if time.monotonic() - begin > SLOW:
            raise AssertionError(f'an input took more than {SLOW} s')

    def _archive(self, data):
        self.path.write_bytes(data)
        found = self._read()
        with mock.patch.multiple(tar, _gzip=gzip,
                                 _ERRORS=(OSError, zlib.error)):
            if self._read() != found:
                raise AssertionError(f'the inflaters disagree: {found}')
        there = os.listdir(self.path.parent)
        if there != [self.path.name]:
            raise AssertionError(f'files were written: {there}')

    def _read(self):
        try:
            with contextlib.ExitStack() as stack:
                for module, limits in LIMITS.items():
                    stack.enter_context(mock.patch.multiple(module, **limits))
                result = archive.read(self.path)
        except damage.Damage as e:
            if _HARMFUL.search(str(e)):
                raise AssertionError(f'harmful text: {e!r}') from e
            return None
        self._look_at(result)
        return result

    def _look_at(self, result):
        judged = verdict.judge(result, ('[sig-node] Pods work',))
        if judged.outcome == verdict.PASSED and not result.ran:
            raise AssertionError('passed without a spec')
        shown = report.view(judged)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            terminal.show(shown.run)
        if harmful := _HARMFUL.search(out.getvalue()):
            raise AssertionError(f'harmful output: {harmful}')
        json.dumps(json.loads(report.to_json(shown)), allow_nan=False)


def seeds():
    """Inputs to begin with: what is good, and what is known to be bad."""
    found = []
    for data in (archives.good(), *archives.hostile().values()):
        found.append(b'\0' + data)
        try:
            found.append(b'\1' + gzip.decompress(data))
        except (OSError, EOFError, zlib.error):
            continue
    members = archives.files(
        archives.case('[It] [sig-a] b', 'failed', '<failure message="x">y'
                      '</failure><system-err>z</system-err>'),
        archives.case('[It] c', 'skipped', '<skipped message="skipped - d"/>'
                      ), archives.case('[AfterSuite]'),
        properties=[('FocusStrings', '\\[Conformance\\]')],
        attributes='tests="3" failures="1"')
    found += [b'\3' + members[archives.JUNIT],
              b'\3' + archives.entity_bomb(),
              b'\4' + archives.log(2, 1, 1, 9), b'\5' + archives.log(
                  2, 1, 1, 9, 'Summarizing 1 Failure:\n  [FAIL] [sig-a] B '
                  '[It] c [sig-a]\n\n'),
              b'\6name: e2e\nstatus: failed\nitems:\n- name: a\n  status: '
              b'passed\n  details:\n    x: y\n  items:\n  - name: b\n',
              b'\2' + archives.pax(('path', 'a')) + archives.entry('b', b'c')]
    found += [b'\7' + data for name, data in members.items()
              if name.endswith('.json')]
    found.append(b'\7' + json.dumps({'error': 'x', 'pod': {'status': {
        'containerStatuses': [{'state': {'a': {'reason': 'b'}}}]}}}).encode())
    return found


def main():
    with tempfile.TemporaryDirectory() as folder, \
            tempfile.TemporaryDirectory() as corpus:
        argv = [sys.argv[0], '-max_len=65536', '-timeout=20',
                '-rss_limit_mb=600', '-print_final_stats=1', *sys.argv[1:]]
        if all(word.startswith('-') for word in argv[1:]):
            argv.append(corpus)
            for number, data in enumerate(seeds()):
                (pathlib.Path(corpus) / f'seed-{number}').write_bytes(data)
        pid = os.fork()
        if not pid:
            # It leaves by _exit, past every cleaning up of Python's.
            atheris.instrument_all()
            atheris.Setup(argv, Target(folder))
            atheris.Fuzz()
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise SystemExit(f'An input broke something (exit code {code})')


if __name__ == '__main__':
    main()
