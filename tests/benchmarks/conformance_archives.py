# SPDX-License-Identifier: Apache-2.0

"""Makes big archives like Sonobuoy's, the same from the same seed.

The shape is that of a run with two plugins on six nodes: a verbose e2e log,
a JUnit file of as many specs as Kubernetes v1.34 has, a journal for each
node, logs of the control plane. Lines are made of the words of such logs
with times, identifiers and addresses that differ, so that they deflate about
as real ones do (real archives of this project: 8 to 17 to 1).
"""

import gzip
import io
import json
import pathlib
import random
import tarfile
from xml.sax import saxutils

MB = 1 << 20
SPECS, RAN = 7144, 424
NODES = 6
_LINES = (
    'I{d} {t} {p} reconciler_common.go:251] "operationExecutor.'
    'VerifyControllerAttachedVolume started for volume \\"kube-api-access-'
    '{i}\\" pod=\\"{n}-{x}\\" (UID: \\"{u}\\")"',
    'I{d} {t} {p} httplog.go:134] "HTTP" verb="GET" URI="/api/v1/namespaces/'
    '{n}-{x}/pods/{n}-{u}" latency="{x}.{p}ms" userAgent="e2e.test/v1.34.9 '
    '(linux/amd64) kubernetes/{i}" srcIP="10.0.{p}.{x}" resp=200',
    'W{d} {t} {p} watcher.go:93] Error while processing event '
    '("/sys/fs/cgroup/kubepods.slice/kubepods-besteffort.slice/pod{u}"): '
    'no such file or directory',
    'Nov 21 {t} worker-{p} containerd[{x}]: time="2026-11-21T{t}Z" '
    'level=info msg="StopPodSandbox for \\"{i}{u}\\" returns successfully"',
    'STEP: Creating a pod to test {n} {u} @ 11/21/26 {t}',
    'Nov 21 {t} worker-{p} kubelet[{x}]: E{d} {t} {p} pod_workers.go:1301] '
    '"Error syncing pod, skipping" err="unmounted volumes=[{i}]" '
    'pod="{n}-{x}/{u}" podUID="{u}"',
)
_NAMES = ('configmap', 'projected', 'statefulset', 'services', 'dns',
          'webhook', 'crd-publish-openapi', 'emptydir', 'job', 'deployment')


class Text:
    """Log text of any length.

    It is cut from a pool of lines: what repeats lies much further apart than
    the 32 KB in which deflate looks.
    """

    def __init__(self, seed, pool=4 * MB):
        self._random = random.Random(seed)
        lines, length = [], 0
        while length < pool:
            lines.append(self.line())
            length += len(lines[-1]) + 1
        self._pool = ('\n'.join(lines) + '\n').encode()

    def line(self):
        r = self._random
        value = r.getrandbits(128)
        hexa = f'{value:032x}'
        return r.choice(_LINES).format(
            d=1121, t=f'{value % 24:02}:{value % 60:02}:{value % 59:02}.'
                      f'{value % 999983:06}',
            p=value % 251, x=value % 9973, n=r.choice(_NAMES),
            i=hexa[:5], u=f'{hexa[:8]}-{hexa[8:12]}-4{hexa[13:16]}-'
                          f'{hexa[16:20]}-{hexa[20:]}')

    def block(self, size):
        """So many bytes of lines."""
        parts, pool = [], self._pool
        while size > 0:
            at = pool.index(b'\n', self._random.randrange(len(pool) // 2))
            part = pool[at + 1:at + 1 + min(size, MB)]
            parts.append(part)
            size -= len(part)
        return b''.join(parts)


def names(required):
    """Names of specs, the required ones first."""
    found = list(required)
    sigs = ('apps', 'node', 'network', 'storage', 'api-machinery', 'auth')
    while len(found) < SPECS:
        n = len(found)
        found.append(f'[sig-{sigs[n % 6]}] {_NAMES[n % 10].title()} '
                     f'[Feature:Number{n % 97}] should behave in the way '
                     f'number {n} of this suite describes it')
    return found


def junit(specs, ran, failed):
    """A JUnit file as Ginkgo v2 writes it.

    :param specs: names.
    :param ran: how many of the first ones ran.
    :param failed: names that failed.
    """
    out = io.StringIO()
    bad = sum(name in failed for name in specs[:ran])
    tests = len(specs) + 4
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n'
              f'  <testsuites tests="{tests}" disabled="{len(specs) - ran}" '
              f'errors="0" failures="{bad}" time="6200.0">\n'
              '      <testsuite name="Kubernetes e2e suite" package='
              f'"/usr/local/bin" tests="{tests}" disabled="0" '
              f'skipped="{len(specs) - ran}" errors="0" failures="{bad}" '
              f'time="6200.0" timestamp="2026-11-21T09:27:54">\n'
              '          <properties>\n')
    for key, value in (('FocusStrings', '\\[Conformance\\]'),
                       ('SkipStrings', ''), ('ParallelTotal', '1'),
                       ('DryRun', 'false')):
        out.write(f'              <property name="{key}" value="{value}">'
                  '</property>\n')
    out.write('          </properties>\n')
    case = ('          <testcase name={} classname="Kubernetes e2e suite" '
            'status="{}" time="{}">')
    for node in ('[ReportBeforeSuite]', '[SynchronizedBeforeSuite]',
                 '[SynchronizedAfterSuite]',
                 '[ReportAfterSuite] Kubernetes e2e suite report'):
        out.write(case.format(f'"{node}"', 'passed', '0.01')
                  + '</testcase>\n')
    text = Text(7, 64 << 10)
    for n, name in enumerate(specs):
        quoted = saxutils.quoteattr('[It] ' + name)
        if n >= ran:
            out.write(case.format(quoted, 'skipped', '0')
                      + '\n              <skipped message="skipped">'
                        '</skipped>\n          </testcase>\n')
        elif name in failed:
            said = saxutils.escape(text.block(3000).decode())
            out.write(case.format(quoted, 'failed', '12.5')
                      + '\n              <failure message="" type="failed">'
                        f'[FAILED] timed out\n{said}</failure>\n'
                        f'              <system-err>{said}</system-err>\n'
                        '          </testcase>\n')
        else:
            out.write(case.format(quoted, 'passed', f'{n % 60}.25')
                      + '</testcase>\n')
    out.write('      </testsuite>\n  </testsuites>\n')
    return out.getvalue().encode()


def summary(specs, ran, failed=()):
    """``sonobuoy_results.yaml`` of the same run."""
    out = ['name: e2e', f'status: {"failed" if failed else "passed"}',
           'meta:', '  type: summary', 'items:', '- name: junit_01.xml',
           f'  status: {"failed" if failed else "passed"}', '  meta:',
           '    file: results/global/junit_01.xml', '    type: file',
           '  items:', '  - name: Kubernetes e2e suite',
           f'    status: {"failed" if failed else "passed"}', '    items:']
    for node in ('[ReportBeforeSuite]', '[SynchronizedBeforeSuite]',
                 '[SynchronizedAfterSuite]',
                 '[ReportAfterSuite] Kubernetes e2e suite report'):
        out += [f"    - name: '{node}'", '      status: passed']
    for n, name in enumerate(specs):
        status = ('skipped' if n >= ran
                  else 'failed' if name in failed else 'passed')
        quoted = name.replace("'", "''")
        out += [f"    - name: '[It] {quoted}'", f'      status: {status}']
    return ('\n'.join(out) + '\n').encode()


def members(total, seed=1, failed=2, required=()):
    """Names and contents of the members, in Sonobuoy's order.

    :param total: bytes of all of them, about.
    :param failed: number of specs that failed.
    :param required: names that certification needs.
    """
    text = Text(seed)
    specs = names(required)
    broken = specs[:failed]
    part = total * 2 // 7
    nodes = [f'worker-{n}' for n in range(NODES)]

    def document(value):
        return json.dumps(value).encode()

    for node in nodes:
        yield f'hosts/{node}/configz.json', document({'kubeletconfig': {}})
    yield 'meta/clusterhealth.json', document({'node_health': {
        'total_nodes': NODES, 'healthy_nodes': NODES,
        'details': [{'name': n, 'healthy': True} for n in nodes]}})
    yield 'meta/config.json', document({'Version': 'v0.57.5'})
    yield 'meta/info.json', document({'plugins': ['e2e', 'systemd-logs']})
    yield 'meta/query-time.json', document([])
    yield 'plugins/e2e/definition.json', document({'Definition': {
        'sonobuoy-config': {'driver': 'Job', 'plugin-name': 'e2e',
                            'result-format': 'junit'},
        'spec': {'name': 'e2e',
                 'image': 'registry.k8s.io/conformance:v1.34.9'}}})
    ends = (f'Ran {RAN} of {SPECS} Specs in 6200.000 seconds\n'
            f'{"FAIL" if failed else "SUCCESS"}! -- {RAN - failed} Passed | '
            f'{failed} Failed | 0 Pending | {SPECS - RAN} Skipped\n').encode()
    yield 'plugins/e2e/results/global/e2e.log', (
        f'Will run {RAN} of {SPECS} specs\n'.encode() + text.block(part)
        + b'\n' + ends)
    yield ('plugins/e2e/results/global/junit_01.xml',
           junit(specs, RAN, broken))
    yield 'plugins/e2e/sonobuoy_results.yaml', summary(specs, RAN, broken)
    yield 'plugins/systemd-logs/definition.json', document({'Definition': {
        'sonobuoy-config': {'driver': 'DaemonSet',
                            'plugin-name': 'systemd-logs',
                            'result-format': 'raw'}}})
    for node in nodes:
        yield (f'plugins/systemd-logs/results/{node}/systemd_logs',
               text.block(total * 12 // 35 // NODES))
    yield 'plugins/systemd-logs/sonobuoy_results.yaml', '\n'.join(
        ['name: systemd-logs', 'status: passed', 'meta:',
         '  type: summary', 'items:'] + [
            f'- name: {node}\n  status: passed\n  meta:\n    type: node\n'
            '  items:\n  - name: systemd_logs\n    status: passed\n'
            f'    meta:\n      file: results/{node}/systemd_logs\n'
            '      type: file' for node in nodes]).encode() + b'\n'
    for pod in ('etcd', 'kube-apiserver', 'kube-controller-manager'):
        yield (f'podlogs/kube-system/{pod}-n1/logs/{pod}.txt',
               text.block(part // 3))
    yield 'resources/cluster/core_v1_nodes.json', document({'items': []})
    yield 'serverversion.json', document({
        'gitVersion': 'v1.34.9', 'gitCommit': 'f' * 40})


def write(path, total, level=6, **kwargs):
    """Write an archive of about ``total`` bytes, inflated."""
    path = pathlib.Path(path)
    with open(path, 'wb') as raw, gzip.GzipFile(
            '', 'wb', compresslevel=level, fileobj=raw, mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode='w|',
                         format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members(total, **kwargs):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1795253268
            tar.addfile(info, io.BytesIO(content))
