# SPDX-License-Identifier: Apache-2.0

import dataclasses
import json
import os
import pathlib
import stat
import threading

import fixtures
from oslo_config import cfg
import testtools
import yaml

from magnum_capi.driver import config
from magnum_capi.driver.desired import charts
from magnum_capi.driver import failures
from magnum_capi.driver.helm import helm
from magnum_capi.driver.helm import helm_errors
from magnum_capi import errors

DEFAULTS = config.Options.read(cfg.ConfigOpts())
CHART = charts.Chart('openstack-cluster', 'https://charts.example', '1.2.3')
DONE = json.dumps({'version': 4, 'config': {'secret': 'geheim'}})


class ArgvTest(testtools.TestCase):

    def test_upgrade(self):
        self.assertEqual(
            ['upgrade', 'c1', 'openstack-cluster', '--repo',
             'https://charts.example', '--version', '1.2.3', '--install',
             '--namespace', 'n', '--history-max', '10', '--timeout', '120s',
             '--output', 'json', '--labels', 'magnum-digest=abc',
             '--labels', 'magnum-found=true',
             '--values', '-'],
            helm.upgrade_argv('c1', CHART, 'n', history=10, timeout=120,
                              digest='abc', adopted=True))

    def test_chart_of_a_registry_and_of_a_folder(self):
        for chart, given in (
                (charts.Chart('oci://r.example/c', None, '1.2.3'),
                 ['oci://r.example/c', '--version', '1.2.3', '--install']),
                # Helm ignores --version for a folder.
                (charts.Chart('/charts/c'), ['/charts/c', '--install'])):
            self.assertEqual(given, self.argv(chart)[2:2 + len(given)])

    def argv(self, chart):
        return helm.upgrade_argv('c1', chart, 'n', history=10, timeout=120)


class _Base(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.temporary = self.useFixture(fixtures.TempDir()).path
        self.useFixture(fixtures.MonkeyPatch(
            'tempfile.tempdir', self.temporary))
        self.environ = {'PATH': f'{self.folder}:{os.environ["PATH"]}',
                        'OS_PASSWORD': 'geheim', 'HOME': '/home/magnum'}
        self.script('exit 0')

    def script(self, text, name='helm', version='echo v3.20.2'):
        """A program; with ``version`` what it does when asked for that."""
        path = self.folder / name
        path.write_text('#!/bin/sh\n'
                        f'[ "$1" = version ] && {{ {version}; exit; }}\n'
                        f'{text}\n')
        path.chmod(0o700)

    def says(self, stderr, code=1):
        (self.folder / 'stderr').write_text(stderr)
        self.script(f'cat {self.folder}/stderr >&2; exit {code}')

    def helm(self, kubeconfig='/etc/magnum/kube.conf', **options):
        return helm.Helm(dataclasses.replace(DEFAULTS, **options),
                         kubeconfig, self.environ)

    def upgrade(self, values=None, **options):
        return self.helm(**options).upgrade(
            'c1', CHART, values or {}, 'n')

    def kept(self, name):
        return (self.folder / name).read_text()


class VersionTest(_Base):

    changed = 0

    def version(self, told):
        self.script(f"echo '{DONE}'", version=told)
        # As if it had been installed at another time.
        self.changed += 1
        os.utime(self.folder / 'helm', ns=(0, self.changed))

    def upgrade(self):
        return self.helm().upgrade('c1', CHART, {}, 'n')

    def test_another_major_version_is_refused_by_name(self):
        self.version('echo v4.2.0')
        e = self.assertRaises(errors.EnvironmentProblem, self.upgrade)
        self.assertIn('helm v4.2.0', str(e))
        self.assertIn(str(self.folder / 'helm'), str(e))
        self.assertIn('helm_binary', str(e))

    def test_a_new_program_at_the_same_place_is_asked(self):
        self.version('echo v4.2.0')
        self.assertRaises(errors.EnvironmentProblem, self.upgrade)
        self.version('echo v3.20.2')
        self.assertEqual(4, self.upgrade())

    def test_what_tells_no_version_is_taken(self):
        for told in ('echo v3.20.2+gabc', 'echo', 'exit 1'):
            self.version(told)
            self.assertEqual(4, self.upgrade(), told)


class RunTest(_Base):

    def test_preview_is_what_an_upgrade_would_apply(self):
        said = json.dumps({'manifest': 'kind: A',
                           'hooks': [{'manifest': 'kind: B'}]})
        self.script(f'echo "$@" > {self.folder}/argv; '
                    f"cat > {self.folder}/in; echo '{said}'")
        found = self.helm().preview('c1', CHART, {'a': 'geheim'}, 'n')
        self.assertEqual([{'kind': 'A'}, {'kind': 'B'}],
                         list(yaml.safe_load_all(found)))
        argv = self.kept('argv')
        # Not "client", which does not know what the cluster serves.
        self.assertIn(' --dry-run=server ', argv)
        self.assertTrue(argv.startswith('upgrade c1 '), argv)
        self.assertEqual({'a': 'geheim'}, json.loads(self.kept('in')))

    def test_values_come_through_standard_input_only(self):
        self.script(f'echo "$@" > {self.folder}/argv; env > '
                    f"{self.folder}/env; cat > {self.folder}/in; "
                    f"echo '{DONE}'")
        self.upgrade({'a': 'geheim'})
        self.assertEqual({'a': 'geheim'}, json.loads(self.kept('in')))
        self.assertNotIn('geheim', self.kept('argv') + self.kept('env'))
        self.assertNotIn('dry-run', self.kept('argv'))
        # In a pod there is no kubeconfig.
        self.upgrade(kubeconfig=None)
        self.assertNotIn('KUBECONFIG', self.kept('env'))

    def test_environment_is_helms_own(self):
        self.script(f"env > {self.folder}/env; pwd > {self.folder}/pwd; "
                    f"echo '{DONE}'")
        self.upgrade()
        env = dict(line.split('=', 1)
                   for line in self.kept('env').splitlines())
        self.assertEqual('/etc/magnum/kube.conf', env['KUBECONFIG'])
        for name in ('HOME', 'HELM_CACHE_HOME', 'HELM_CONFIG_HOME',
                     'HELM_DATA_HOME', 'HELM_PLUGINS'):
            self.assertTrue(env[name].startswith(self.temporary), name)
        self.assertNotIn('OS_PASSWORD', env)
        # A folder openstack-cluster in the working directory would win
        # over the repository.
        self.assertTrue(self.kept('pwd').startswith(self.temporary))

    def test_nothing_is_left(self):
        self.says('Error: x')
        self.assertRaises(helm_errors.HelmFailed, self.upgrade)
        self.assertEqual([], os.listdir(self.temporary))

    def test_missing_helm(self):
        e = self.assertRaises(errors.EnvironmentProblem, self.upgrade,
                              helm_binary='helm-is-not-here')
        self.assertIn('[k8s_capi]/helm_binary', str(e))

    def test_helm_that_hangs_is_killed(self):
        self.script('sleep 60')
        e = self.assertRaises(helm_errors.HelmDisturbed, self.upgrade,
                              helm_timeout=1)
        self.assertEqual('helm did not end in time', e.reason)

    def test_helm_is_bounded_without_magnum(self):
        # What is left of a killed conductor must end before dead_after.
        self.script(f'echo "$@" > {self.folder}/argv; shift 2; exec "$@"',
                    'timeout')
        self.script(f"echo '{DONE}'")
        self.upgrade(helm_timeout=7)
        self.assertTrue(self.kept('argv').startswith('--kill-after=5 7 '))
        for seconds in (7, 120):
            self.assertEqual(seconds + 10, self.helm(
                helm_timeout=seconds).dead_after)

    def test_killed_helm(self):
        # Without "timeout" around it, which turns a signal into 137.
        self.environ['PATH'] = str(self.folder)
        self.script('echo "I1121 18:24:26.7 1 x.go:1] note" >&2; kill -9 $$')
        e = self.assertRaises(helm_errors.HelmDisturbed, self.upgrade)
        self.assertEqual('helm was killed', e.reason)
        self.assertIsInstance(e, failures.TRANSIENT)

    def test_answer_that_is_no_json(self):
        self.script('echo ok')
        self.assertRaises(helm_errors.HelmFailed, self.upgrade)


class UninstallTest(_Base):

    def test_release_that_is_gone(self):
        self.assertTrue(self.helm().uninstall('c1', 'n'))
        self.says('Error: uninstall: Release not loaded: c1: release: not '
                  'found\n')
        self.assertFalse(self.helm().uninstall('c1', 'n'))

    #: Of helm 3.20.2, shortened.
    DEBUG = '''\
uninstall.go:103: 2026-11-26 02:21:03.4 +0000 UTC m=+0.0 [debug] uninstall: \
Deleting c1
client.go:506: 2026-11-26 02:21:03.5 +0000 UTC m=+0.2 [debug] Starting delete \
for "c1" Cluster
uninstall.go:125: 2026-11-26 02:21:03.6 +0000 UTC m=+0.2 [debug] uninstall: \
Failed to delete release: [{details}]
Error: {error}
helm.go:92: 2026-11-26 02:21:03.6 +0000 UTC m=+0.2 [debug] {error}
helm.sh/helm/v3/pkg/action.(*Uninstall).Run
\thelm.sh/helm/v3@v3.20.2/pkg/action/uninstall.go:126
'''

    def test_what_could_not_be_deleted_is_reported(self):
        details = ('clusters.cluster.x-k8s.io "c1" is forbidden: User "magnum"'
                   ' cannot delete resource "clusters" in API group '
                   '"cluster.x-k8s.io"')
        self.says(self.DEBUG.format(
            details=details, error='failed to delete release: c1'))
        e = self.assertRaises(
            helm_errors.HelmFailed, self.helm().uninstall, 'c1', 'n')
        self.assertIs(helm_errors.HelmFailed, type(e))
        self.assertEqual(f'failed to delete release: c1: {details}', e.reason)

    def test_version_that_is_not_served_any_more(self):
        missing = ('[resource mapping not found for name: "c1" namespace: "" '
                   'from "": no matches for kind "Cluster" in version '
                   '"cluster.x-k8s.io/v1beta1"\nensure CRDs are installed '
                   'first, resource mapping not found for name: "c1" '
                   'namespace: "" from "": no matches for kind "Machine" in '
                   'version "cluster.x-k8s.io/v1beta1"\nensure CRDs are '
                   'installed first]')
        self.says(self.DEBUG.format(
            details=f'unable to build kubernetes objects for delete: '
                    f'{missing}', error='failed to delete release: c1'))
        e = self.assertRaises(
            helm_errors.VersionGone, self.helm().uninstall, 'c1', 'n')
        self.assertIn('no matches for kind "Machine" in version', e.reason)
        for text, kind in (
                ('unable to build kubernetes objects from current release '
                 f'manifest: {missing}', helm_errors.VersionGone),
                # What the chart makes now.
                (missing, helm_errors.HelmFailed)):
            self.says(f'Error: UPGRADE FAILED: {text}\n')
            e = self.assertRaises(helm_errors.HelmFailed, self.upgrade)
            self.assertIs(kind, type(e))
        self.assertIn('the chart makes a Cluster of cluster.x-k8s.io/v1beta1, '
                      'which the management cluster does not serve', e.reason)

    def test_logs_of_helm_do_not_hide_what_the_error_is(self):
        for error, kind in (
                ('uninstall: Release not loaded: EOF',
                 helm_errors.HelmDisturbed),
                ('the object has been modified', helm_errors.HelmDisturbed)):
            self.says(self.DEBUG.format(details='', error=error))
            self.assertRaises(kind, self.helm().uninstall, 'c1', 'n')


class CacheTest(_Base):

    def setUp(self):
        super().setUp()
        # Neither the folder nor the one around it is there at first.
        self.cache = self.folder / 'magnum' / 'charts'
        self.script(f'echo "$1" >> {self.folder}/log; if [ $1 = pull ]; then '
                    'while [ "$1" != --destination ]; do shift; done; '
                    'echo x > $2/c-1.2.3.tgz; else '
                    f"echo \"$3\" > {self.folder}/chart; echo '{DONE}'; fi")

    def test_chart_is_fetched_once(self):
        for _ in range(2):
            self.upgrade(chart_cache=str(self.cache))
        self.assertEqual(['pull', 'upgrade', 'upgrade'],
                         self.kept('log').split())
        chart = pathlib.Path(self.kept('chart').strip())
        self.assertEqual(self.cache, chart.parent)
        self.assertEqual([chart], list(self.cache.iterdir()))
        self.assertEqual(0, stat.S_IMODE(self.cache.stat().st_mode) & 0o77)

    def test_other_version_is_another_chart(self):
        self.upgrade(chart_cache=str(self.cache))
        self.helm(chart_cache=str(self.cache)).upgrade(
            'c1', dataclasses.replace(CHART, version='1.2.4'), {}, 'n')
        self.assertEqual(2, len(list(self.cache.iterdir())))


class ErrorsTest(testtools.TestCase):
    """Texts are those of helm 3.20.2, measured."""

    GET = 'Get "https://10.0.0.1:6443/api/v1/namespaces/n/secrets": '

    def failure(self, text, code=1):
        return helm_errors.failure(
            'upgrade', errors.CommandFailed(['helm'], code, text))

    def fails(self, kind, text):
        e = self.failure(text)
        self.assertIs(kind, type(e), text)
        self.assertNotIn('\n', str(e))
        self.assertNotIn('/etc/magnum', str(e))
        for address in ('10.0.0.1', 'charts.example'):
            self.assertNotIn(address, e.reason)
        return e

    def test_words_that_reach_the_user(self):
        # B.4.5: status_reason was empty, or the whole command line.
        for kind, text, reason in (
                (helm_errors.HelmFailed,
                 'WARNING: Kubernetes configuration file is group-readable. '
                 'This is insecure. Location: /etc/magnum/kube.conf\n'
                 'Error: UPGRADE FAILED: execution error at (sandbox-cluster/'
                 'templates/node-groups.yaml:3:14): node group name "x" is '
                 'not allowed: it needs\nat least three characters\n',
                 'node group name "x" is not allowed: it needs at least three '
                 'characters'),
                (helm_errors.HelmFailed,
                 'W1121 18:24:26.732310   31543 warnings.go:107] "Warning: '
                 'Cluster is deprecated"\nError: UPGRADE FAILED: oops\n'
                 'I1121 18:24:27.1 1 x.go:1] bye\n', 'oops'),
                (helm_errors.HelmFailed,
                 'Error: UPGRADE FAILED: cannot read /etc/magnum/kube.conf: '
                 'oops\n', 'cannot read kube.conf: oops'),
                (helm_errors.HelmFailed, '', ''),
                (helm_errors.HelmFailed, 'Error: ' + 'x' * 600, 'x' * 600),
                (helm_errors.HelmFailed, 'Error: ' + 'x' * 601,
                 'x' * 597 + '...')):
            self.assertEqual(reason, self.fails(kind, text).reason)

    def test_refusals_of_the_chart_and_of_webhooks(self):
        for text, told in (
                ('values don\'t meet the specifications of the schema(s) '
                 'in the following chart(s):\nsandbox-cluster:\n- at '
                 '\'/controlPlane/machineCount\': got string, want integer',
                 '/controlPlane/machineCount'),
                ('UPGRADE FAILED: failed to create resource: admission '
                 'webhook "v.c.x-k8s.io" denied the request: spec.version is '
                 'wrong', 'spec.version is wrong')):
            e = self.fails(helm_errors.HelmFailed, f'Error: {text}\n')
            self.assertIn(told, e.reason)

    def test_what_may_pass(self):
        # Words of helm; of Go's net, net/http and x/net/http2; of etcd.
        fetched = 'failed to fetch https://charts.example/index.yaml : '
        not_there = ('looks like "https://charts.example" is not a valid '
                     'chart repository or cannot be reached: ')
        for kind, texts in (
                (helm_errors.HelmDisturbed, (
                    'UPGRADE FAILED: another operation '
                    '(install/upgrade/rollback) is in progress',
                    'UPGRADE FAILED: release: already exists',
                    'INSTALLATION FAILED: cannot re-use a name that is '
                    'still in use')),
                (helm_errors.HelmDisturbed, (
                    'Kubernetes cluster unreachable: Get "https://'
                    '10.0.0.1:6443/version": dial tcp 10.0.0.1:6443: '
                    'connect: connection refused',
                    f'UPGRADE FAILED: {self.GET}read tcp 10.0.0.2:40000->'
                    '10.0.0.1:6443: read: connection reset by peer',
                    f'UPGRADE FAILED: {self.GET}write tcp 10.0.0.2:40000->'
                    '10.0.0.1:6443: write: broken pipe',
                    f'UPGRADE FAILED: {self.GET}http2: client connection '
                    'lost',
                    f'UPGRADE FAILED: {self.GET}http2: server sent GOAWAY '
                    'and closed the connection; LastStreamID=1',
                    f'UPGRADE FAILED: {self.GET}unexpected EOF - error from '
                    'a previous attempt: EOF')),
                (helm_errors.HelmDisturbed, (
                    'INSTALLATION FAILED: Operation cannot be fulfilled on '
                    'clusters.cluster.x-k8s.io "c1": the object has been '
                    'modified; please apply your changes to the latest '
                    'version and try again',
                    'UPGRADE FAILED: create: failed to create: Too many '
                    'requests, please try again later.',
                    'query: failed to query with labels: Internal error '
                    'occurred: etcdserver: leader changed',
                    'UPGRADE FAILED: etcdserver: request timed out',
                    'UPGRADE FAILED: raft proposal dropped',
                    'UPGRADE FAILED: an error on the server ("") has '
                    'prevented the request from succeeding (get secrets)',
                    'UPGRADE FAILED: the server is currently unable to '
                    'handle the request')),
                (helm_errors.HelmDisturbed, (
                    f'{not_there}Get "https://charts.example/index.yaml": '
                    'dial tcp: lookup charts.example',
                    f'{not_there}{fetched}503 Service Unavailable',
                    f'{fetched}429 Too Many Requests',
                    'failed to perform "FetchReference" on source: Get '
                    '"https://charts.example/v2/c/manifests/1.2.3": '
                    'net/http: TLS handshake timeout')),
                # These do not pass.
                (helm_errors.HelmFailed, (
                    f'{fetched}404 Not Found',
                    'chart "c" version "9.9.9" not found in https://charts.'
                    'example repository',
                    'path "/charts/none" not found'))):
            for text in texts:
                self.fails(kind, f'Error: {text}\n')

    def test_exit_code_tells_who_ended_helm(self):
        # 124 and 137 are those of the timeout around it.
        for codes, kind in (
                ((None, 124, 137, -1, -9), helm_errors.HelmDisturbed),
                ((1, 136, 138), helm_errors.HelmFailed)):
            for code in codes:
                self.assertIs(
                    kind, type(self.failure('Error: oops\n', code)))

    def test_what_the_owner_does_not_see_is_in_the_log(self):
        for text, reason, where in (
                ('Kubernetes cluster unreachable: 10.0.0.1',
                 'helm got no answer of the management cluster',
                 'Kubernetes cluster unreachable: 10.0.0.1'),
                ('oops', 'oops', None)):
            e = self.failure(f'Error: {text}\n')
            self.assertEqual((reason, where), (e.reason, e.where))


class BoundTest(_Base):

    def test_no_more_run_at_once_than_the_operator_said(self):
        running = self.folder / 'running'
        running.mkdir()
        self.script(f'cd {running}; echo > $$; ls | wc -l >> ../seen; '
                    f"sleep 0.1; rm $$; echo '{DONE}'")
        threads = [threading.Thread(
            target=self.upgrade, kwargs={'helm_processes': 2})
            for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen = (self.folder / 'seen').read_text().split()
        self.assertEqual((8, '2'), (len(seen), max(seen)))
