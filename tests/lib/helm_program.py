# SPDX-License-Identifier: Apache-2.0

"""Helm 3 as a program: a module ``subprocess`` that knows only helm.

Revisions are Secrets in the management cluster, as helm's own. Of custom
resources it compares the manifest that was deployed last with the new one, not
with what is there.
"""

import base64
import gzip
import io
import json
import signal
import subprocess as real
import types
import typing

import yaml

from tests.lib import chart
from tests.lib import doors
from tests.lib import kube_api

_KEEP = 'helm.sh/resource-policy'
_OWNER = 'meta.helm.sh/release-name'


class Failed(Exception):
    """Helm's message on standard error."""


class Helm:
    """The program; runs of it write into the management cluster.

    :ivar seconds: that a run takes.
    """

    seconds = 1.0

    def __init__(self, api: kube_api.KubeApi, gates: doors.Doors,
                 clock: typing.Any) -> None:
        self._api = api
        self._doors = gates
        self._clock = clock

    def module(self) -> types.ModuleType:
        made = types.ModuleType('subprocess')
        made.__dict__.update(real.__dict__)
        helm = self

        class Popen(_Process):

            def __init__(self, argv, **options):
                super().__init__(helm, argv, **options)

        def run(argv, *, input=None, timeout=None, check=False,
                capture_output=False, **options):
            if capture_output:
                options |= {'stdout': real.PIPE, 'stderr': real.PIPE}
            if input is not None:
                options['stdin'] = real.PIPE
            process = Popen(argv, **options)
            out, err = process.communicate(input, timeout)
            done = real.CompletedProcess(argv, process.returncode, out, err)
            if check:
                done.check_returncode()
            return done

        made.Popen, made.run = Popen, run
        return made

    def start(self, argv: list[str], stdin: str) -> tuple[int, str, str]:
        """Run a command.

        :returns: exit code, standard output, standard error.
        """
        command, release = argv[0], argv[1]
        if command == 'version':
            return 0, 'v3.20.2', ''
        options = dict(zip(argv, argv[1:]))
        namespace = options['--namespace']

        def fail(kind):
            if kind in ('lost', 'crash-after'):
                # It was killed at its very end.
                return -signal.SIGKILL, '', ''
            if kind == 'slow':
                return 124, '', ''
            if kind == 'many':
                self._half(release, namespace, argv, stdin)
                return -signal.SIGKILL, '', ''
            text = {'refused': 'Kubernetes cluster unreachable: connection '
                               'refused',
                    'error': 'Internal error occurred: a fault',
                    'denied': 'admission webhook "w" denied the request: no',
                    'busy': 'another operation (install/upgrade/rollback) is '
                            'in progress'}[kind]
            return 1, '', f'Error: UPGRADE FAILED: {text}\n'

        return self._doors.passing(
            doors.HELM, f'helm {command} {release}',
            lambda: self._run(command, release, namespace, argv, stdin), fail)

    def _run(self, command, release, namespace, argv, stdin):
        self._clock.sleep(self.seconds)
        try:
            if command == 'upgrade':
                out = self._upgrade(release, namespace, argv, stdin)
            elif command == 'uninstall':
                out = self._uninstall(release, namespace)
            else:
                raise AssertionError(f'unknown: helm {command}')
        except Failed as e:
            return 1, '', f'Error: {e}\n'
        return 0, out, ''

    def _upgrade(self, release, namespace, argv, stdin):
        revisions = self._revisions(release, namespace)
        if revisions and revisions[-1]['status'].startswith('pending'):
            raise Failed('UPGRADE FAILED: another operation (install/upgrade/'
                         'rollback) is in progress')
        values = json.loads(stdin)
        try:
            objects = chart.render(release, namespace, values)
        except chart.Refused as e:
            raise Failed('UPGRADE FAILED: execution error at (sandbox-cluster'
                         f'/templates/x.yaml:1:1): {e}') from None
        manifest = yaml.dump_all(objects, Dumper=_DUMPER)
        number = (revisions[-1]['version'] if revisions else 0) + 1
        record = {'name': release, 'version': number,
                  'namespace': namespace, 'config': values,
                  'manifest': manifest, 'hooks': [], 'info': {},
                  'chart': {'metadata': chart.metadata()}}
        if '--dry-run=server' in argv:
            return json.dumps(record)
        labels = dict(text.split('=') for flag, text in zip(argv, argv[1:])
                      if flag == '--labels')
        if revisions:
            # Helm hands its labels on.
            labels = {**revisions[-1]['labels'], **labels}
        last = next((one for one in reversed(revisions)
                     if one['status'] == 'deployed'), None) or (
            revisions[-1] if revisions else None)
        self._record(record, 'pending-upgrade' if revisions
                     else 'pending-install', labels)
        self._apply(release, namespace, self._manifest(last), objects)
        for one in revisions:
            if one['status'] == 'deployed':
                self._mark(one, 'superseded')
        self._record(record, 'deployed', labels)
        history = int(dict(zip(argv, argv[1:])).get('--history-max', 10))
        for one in self._revisions(release, namespace)[:-history]:
            self._api.delete(one['secret'])
        return json.dumps(record)

    def _half(self, release, namespace, argv, stdin):
        """What a helm leaves that is killed in the middle of an upgrade."""
        if argv[0] != 'upgrade' or '--dry-run=server' in argv:
            return
        revisions = self._revisions(release, namespace)
        if revisions and revisions[-1]['status'].startswith('pending'):
            return
        values = json.loads(stdin)
        objects = chart.render(release, namespace, values)
        number = (revisions[-1]['version'] if revisions else 0) + 1
        self._record({
            'name': release, 'version': number, 'namespace': namespace,
            'config': values, 'hooks': [], 'info': {},
            'manifest': yaml.dump_all(objects, Dumper=_DUMPER),
            'chart': {'metadata': chart.metadata()}},
            'pending-upgrade' if revisions else 'pending-install', {})
        last = next((one for one in reversed(revisions)
                     if one['status'] == 'deployed'), None)
        old = self._manifest(last)
        wanted = [obj for obj in objects if obj['kind'] != 'MachineDeployment']
        self._apply(release, namespace, old, wanted + [
            obj for obj in old if obj['kind'] == 'MachineDeployment'])

    def _uninstall(self, release, namespace):
        revisions = self._revisions(release, namespace)
        if not revisions:
            raise Failed('uninstall: Release not loaded: '
                         f'{release}: release: not found')
        for obj in self._manifest(revisions[-1]):
            annotations = obj['metadata'].get('annotations') or {}
            if annotations.get(_KEEP) == 'keep':
                continue
            found = self._api.get(obj['kind'], namespace,
                                  obj['metadata']['name'])
            if found is not None:
                self._api.delete(found)
        for one in revisions:
            self._api.delete(one['secret'])
        return f'release "{release}" uninstalled\n'

    def _apply(self, release, namespace, old, new):
        before = {_key(obj): obj for obj in old}
        for obj in new:
            known = before.pop(_key(obj), None)
            there = self._api.get(*_key(obj)[:1], namespace, _key(obj)[1])
            obj = kube_api.copied(obj)
            obj['metadata']['namespace'] = namespace
            obj['metadata'].setdefault('annotations', {})[_OWNER] = release
            if there is None:
                obj['apiVersion'] = kube_api.KINDS[obj['kind']][0]
                self._api.write(obj)
            else:
                # Without a record, a manifest is compared with itself.
                patch = _difference(known or obj, obj)
                changed = kube_api.copied(there)
                _merge(changed, patch)
                changed['apiVersion'] = there['apiVersion']
                self._api.write(changed)
        for (kind, name), obj in before.items():
            annotations = obj['metadata'].get('annotations') or {}
            found = self._api.get(kind, namespace, name)
            if found is not None and annotations.get(_KEEP) != 'keep':
                self._api.delete(found)

    # Revisions.

    def _record(self, record, status, labels):
        content = gzip.compress(json.dumps(record).encode())
        name = f'sh.helm.release.v1.{record["name"]}.v{record["version"]}'
        self._api.write({
            'apiVersion': 'v1', 'kind': 'Secret', 'metadata': {
                'name': name, 'namespace': record['namespace'],
                'labels': {**labels, 'owner': 'helm', 'status': status,
                           'name': record['name'],
                           'version': str(record['version'])}},
            'type': 'helm.sh/release.v1', 'data': {
                'release': base64.b64encode(
                    base64.b64encode(content)).decode()}})

    def _mark(self, revision, status):
        secret = kube_api.copied(revision['secret'])
        secret['metadata']['labels']['status'] = status
        self._api.write(secret)

    def _revisions(self, release, namespace):
        found = []
        for secret in self._api.list('Secret', namespace):
            labels = secret['metadata'].get('labels') or {}
            if (labels.get('owner'), labels.get('name')) == ('helm', release):
                found.append({
                    'version': int(labels['version']),
                    'status': labels['status'], 'secret': {
                        **secret, 'kind': 'Secret'},
                    'labels': {key: text for key, text in labels.items()
                               if key not in ('owner', 'name', 'version',
                                              'status')}})
        return sorted(found, key=lambda one: one['version'])

    def _manifest(self, revision):
        if revision is None:
            return []
        data = base64.b64decode(base64.b64decode(
            revision['secret']['data']['release']))
        text = json.loads(gzip.decompress(data))['manifest']
        return [obj for obj in yaml.load_all(text, _LOADER) if obj]


class _Process:
    """subprocess.Popen of a helm, perhaps below ``timeout``."""

    _pids = iter(range(10 ** 6, 10 ** 9))

    def __init__(self, helm, argv, *, stdin=None, stdout=None, stderr=None,
                 text=False, **options):
        self.args = argv
        self._helm = helm
        self._text = text or options.get('encoding') is not None
        self._out, self._err = stdout, stderr
        self.stdin = io.StringIO() if self._text else io.BytesIO()
        self.stdout = self.stderr = None
        self.returncode = None
        self.pid = next(self._pids)
        words = [str(word) for word in argv]
        start = next(i for i, word in enumerate(words)
                     if word.rpartition('/')[2].startswith('helm'))
        self._argv = words[start + 1:]

    def communicate(self, input=None, timeout=None):
        given = input or ''
        if isinstance(given, bytes):
            given = given.decode()
        self.returncode, out, err = self._helm.start(self._argv, given)
        return self._given(self._out, out), self._given(self._err, err)

    def _given(self, where, text):
        if where is None or where == real.DEVNULL:
            return None
        if where == real.PIPE:
            return text if self._text else text.encode()
        where.write(text.encode() if 'b' in getattr(where, 'mode', 'b')
                    else text)
        where.flush()
        return None

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        return self.returncode

    def kill(self):
        """It has ended already."""

    terminate = kill

    def __enter__(self):
        return self

    def __exit__(self, *args):
        return None


_DUMPER = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)
_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)


def _key(obj):
    return obj['kind'], obj['metadata']['name']


def _difference(old, new):
    """The JSON merge patch from one to the other."""
    found = {}
    for key in old.keys() | new.keys():
        if key not in new:
            found[key] = None
        elif isinstance(old.get(key), dict) and isinstance(new[key], dict):
            inside = _difference(old[key], new[key])
            if inside:
                found[key] = inside
        elif key not in old or old[key] != new[key]:
            found[key] = new[key]
    return found


def _merge(into, patch):
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = kube_api.copied(value)
