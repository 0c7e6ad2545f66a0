# SPDX-License-Identifier: Apache-2.0
"""Drivers next to magnum-capi-helm, the discovery filter, and ``set``."""

import importlib.metadata
import json
import pathlib
import signal

import fixtures
from testtools import matchers

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi import waiting
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import overlay
from magnum_capi_sandbox import drivers
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import releases
from tests.functional import boxes
from tests.functional import cloud

PATIENCE = 600

#: A pure Python package without dependencies that OpenStack does not use.
NEW = 'tomlkit'

#: A driver of --clash that provides the type of the image.
CLASHING = 'k8s_capi_v1'

_PROJECT = '''
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"
[project]
name = "{name}"
version = "{version}"
dependencies = {dependencies}
[project.entry-points."{group}"]
functional_v1 = "magnum_capi_helm.driver:Driver"
[tool.setuptools]
py-modules = []
'''

# Announces itself and waits for its end.
_ENDLESS_BUILD = '''
import pathlib
import signal
pathlib.Path({begun!r}).touch()
signal.pause()
'''


def project(folder, dependencies=(), group='magnum.drivers',
            name='functional-driver', version='1.0'):
    """Write a distribution with a driver; returns its folder."""
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    (folder / 'pyproject.toml').write_text(_PROJECT.format(
        dependencies=json.dumps(dependencies), group=group, name=name,
        version=version))
    return folder


def snapshot(folder):
    """The visible state of a folder: times and sizes by name."""
    return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_size)
            for p in folder.glob('*.dist-info/*')} | {
        str(p): () for p in folder.iterdir()}


class RunningTest(boxes.TestCase):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        temporary = fixtures.TempDir()
        temporary.setUp()
        cls.addClassCleanup(temporary.cleanUp)
        cls.mine = pathlib.Path(temporary.path) / 'mine.conf'
        cls.mine.write_text('[capi_helm]\nnamespace_suffix = x\n')
        source = project(pathlib.Path(temporary.path) / 'driver',
                         [NEW, 'requests>=2', 'magnum-capi-helm'])
        cls.source = source
        cls.one = boxes.Box()
        cls.one.setUp()
        cls.addClassCleanup(cls.one.cleanUp)
        cls.cloud = environment.ensure(progress.Silent())
        cls.before = snapshot(overlay.library(cls.cloud))
        ended = cls.one.up('--clash', '--discovery-filter', '--install',
                           str(source), '--magnum-conf', str(cls.mine))
        if ended.code:
            raise AssertionError(ended.err)
        cls.layout = cls.one.sandbox.layout()
        cls.user = cloud.Cloud(cls.one.sandbox)

    def python(self, code, *arguments):
        """The parsed output of a program in Magnum's environment."""
        return json.loads(processes.run(
            [self.layout.magnum_env / 'bin' / 'python', '-I', '-c', code,
             *arguments], timeout=600))

    def create_template(self, **fields):
        """The answer to a template for Ubuntu."""
        return self.user.magnum('POST', 'clustertemplates',
                                self.user.template_body(**fields))

    def template(self, **fields):
        answer = self.create_template(**fields)
        self.assertEqual(201, answer.status_code, answer.text)
        self.addCleanup(
            self.user.magnum, 'DELETE',
            f'clustertemplates/{answer.json()["uuid"]}')
        return answer.json()

    def set(self, *changes):
        ended = self.one.call('set', *changes)
        self.assert_done(ended)

    def test_drivers_come_after_those_of_the_cloud(self):
        """Installed drivers come last, so that Magnum takes them."""
        names = self.python(
            'import importlib.metadata, json\n'
            'print(json.dumps([e.name for e in importlib.metadata'
            '.entry_points(group="magnum.drivers")]))')
        self.assertEqual('k8s_capi_helm_v1', names[0])
        self.assertThat(names[1:], matchers.MatchesSetwise(*map(
            matchers.Equals, (
                'k8s_capi_alias_v1', 'k8s_capi_beta_v1',
                'k8s_capi_disabled_v1', 'k8s_capi_lenient_v1', CLASHING,
                'functional_v1'))))

    def test_only_what_is_missing_is_installed(self):
        found = importlib.metadata.distributions(
            path=[str(self.layout.drivers)])
        self.assertEqual({
            'functional-driver', 'magnum-capi-clash',
            'magnum-driver-k8s-capi-v1', NEW}, {d.name for d in found})

    def test_the_environment_of_all_sandboxes_is_as_it_was(self):
        self.assertEqual(self.before,
                         snapshot(overlay.library(self.cloud)))

    def test_the_source_is_as_it_was(self):
        self.assertEqual(['pyproject.toml'],
                         [p.name for p in self.source.rglob('*')])

    def test_modules_are_where_they_belong(self):
        places = self.python(
            'import importlib, json, sys\n'
            'print(json.dumps([importlib.import_module(name).__file__'
            ' for name in sys.argv[1:]]))',
            NEW, 'requests', 'magnum_capi_clash')
        self.assertEqual(
            [True, False, True],
            [pathlib.Path(p).is_relative_to(self.layout.drivers)
             for p in places])

    def test_nothing_else_of_the_checkout_is_there(self):
        found = self.python(
            'import importlib.util, json, sys\n'
            'print(json.dumps([bool(importlib.util.find_spec(name))'
            ' for name in sys.argv[1:]]))',
            'magnum_capi', 'magnum_capi_sandbox', 'magnum_capi_tempest',
            'tests', 'testtools')
        self.assertEqual([True, False, False, False, False], found)

    def test_other_services_do_not_have_them(self):
        names = json.loads(processes.run(
            [self.cloud / 'bin' / 'python', '-I', '-c',
             'import importlib.metadata, json\n'
             'print(json.dumps([e.name for e in importlib.metadata'
             '.entry_points(group="magnum.drivers")]))'], timeout=600))
        self.assertEqual(['k8s_capi_helm_v1'], names)

    def test_magnum_capi_runs_as_on_a_magnum_host(self):
        exports = self.one.call('env').out
        out = processes.run(
            ['bash', '-euc', 'eval "$1"; cd /; "$SANDBOX_MAGNUM_CAPI" '
             '--version; ls "$SANDBOX_MAGNUM_CONF" '
             '"$SANDBOX_MAGNUM_CONF_DIR"', 'bash', exports],
            env=self.one.env, timeout=600)
        self.assertThat(out, matchers.StartsWith('magnum-capi '))
        self.assertEqual(['10-magnum.conf', '11-mine.conf'],
                         [line for line in out.split() if '0-' in line
                          or '1-' in line])

    def test_files_are_private(self):
        found = {
            str(p): oct(p.stat().st_mode)
            for top in (self.layout.etc, self.layout.magnum_env)
            for p in top.rglob('*') if p.is_file() and not p.is_symlink()
            and p.is_relative_to(self.one.directory)
            and p.stat().st_mode & 0o077}
        self.assertEqual({}, found)
        self.assertEqual(0, self.layout.drivers.stat().st_mode & 0o077)

    @boxes.LONG
    def test_set_restarts_magnum_and_clusters_survive(self):
        template = self.template(name='kept', driver=CLASHING)
        cluster = self.cluster(template)
        before = self.one.pids()

        self.set(f'drivers.default_driver={CLASHING}')

        after = self.one.pids()
        self.assertNotEqual(before.pop('magnum'), after.pop('magnum'))
        self.assertEqual(before, after)
        path = self.layout.magnum_conf[1] / '90-set.conf'
        self.assertEqual(0o600, path.stat().st_mode & 0o777)
        # Magnum answers with the new value.
        chosen = self.template(name='by-default')
        self.assertEqual(CLASHING, chosen['driver'])
        found = self.user.observe(cluster)
        self.assertEqual('CREATE_COMPLETE', found.status)
        self.assertThat(found.stack_id,
                        matchers.MatchesRegex('c[0-9a-f]{32}$'))
        self.set('drivers.default_driver=')
        self.assertEqual('', path.read_text())
        self.assertEqual(400, self.create_template(
            name='ambiguous-again').status_code)

    def cluster(self, template):
        """The uuid of a new complete cluster, which is deleted later."""
        uuid = self.user.create('kept', cluster_template_id=template['uuid'])
        self.addCleanup(self.user.delete, uuid, PATIENCE)
        self.user.wait_created(uuid, PATIENCE)
        return uuid

    def test_bad_change_changes_nothing(self):
        before = self.one.pids()
        folder = self.layout.magnum_conf[1]
        files = {p: p.read_text() for p in folder.iterdir()}

        ended = self.one.call('set', 'drivers.default_driver=x', 'oops=1')

        self.assertIn("'oops=1'", self.assert_one_line(2, ended))
        self.assertEqual(before, self.one.pids())
        self.assertEqual(files, {p: p.read_text() for p in folder.iterdir()})

    def test_another_wish_is_refused(self):
        line = self.assert_one_line(2, self.one.up('--install', NEW))
        self.assertIn(f'not {NEW}', line)

    @boxes.LONG
    def test_drivers_survive_the_death_of_supervisord(self):
        self.one.kill('supervisord')
        self.assert_done(self.one.up())
        self.assertEqual(201, self.create_template(
            name='survived', driver=CLASHING).status_code)


class RefusedTest(boxes.TestCase):
    """Nothing is left of a start with an impossible option."""

    def setUp(self):
        super().setUp()
        self.one = self.box()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def refused(self, code, *arguments):
        line = self.assert_one_line(code, self.one.up(*arguments))
        self.assert_nothing_left(self.one)
        return line

    def test_requirement_that_does_not_fit_magnum(self):
        source = project(self.folder / 'p', ['requests<2'])
        line = self.refused(1, '--install', str(source))
        self.assertIn('requests<2', line)
        self.assertIn(str(source), line)

    def test_distribution_without_a_driver(self):
        source = project(self.folder / 'p', group='others')
        self.assertIn('It contains no driver', self.refused(
            2, '--install', str(source)))

    def test_folder_that_cannot_be_built(self):
        source = project(self.folder / 'p')
        (source / 'setup.py').write_text('raise SystemExit("no way")')
        self.assertIn('no way', self.refused(1, '--install', str(source)))

    def test_what_magnum_has_already(self):
        have, = {d.version for d in importlib.metadata.distributions(
            path=[str(overlay.library(environment.ensure(
                progress.Silent())))]) if d.name == 'magnum-capi-helm'}
        source = project(self.folder / 'p', name='magnum-capi-helm',
                         version=have)
        self.assertIn('already', self.refused(2, '--install', str(source)))


class CompanionsTest(boxes.TestCase):
    """Companions of a driver, with the real uv and the real Python."""

    _LOOK = """
from importlib import metadata
import json, pkg_resources, setuptools, sys
print(json.dumps({
    'version': metadata.version('setuptools'),
    'module': setuptools.__version__,
    'new': __import__(sys.argv[1]).__name__,
    'magnum': metadata.version('magnum')}))
"""

    def layout(self):
        """A folder, and the layout of a sandbox in it, which is not up."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        layout = layouts.Layout(folder / 'box', '127.77')
        (layout.directory / 'tmp').mkdir(parents=True)
        return folder, layout

    def test_another_version_of_a_driver_takes_the_place_of_the_clouds(self):
        cloud = environment.ensure(progress.Silent())
        _, layout = self.layout()

        drivers.install(layout, cloud, ['magnum-capi-helm==1.3.0'],
                        progress.Silent(), releases.NEWEST)
        overlay.make(layout, cloud)

        self.assertEqual('1.3.0', processes.run(
            [layout.magnum_env / 'bin' / 'python', '-I', '-c',
             'from importlib import metadata; '
             'print(metadata.version("magnum-capi-helm"))'],
            timeout=60).strip())

    def test_a_driver_of_a_url_is_not_taken_for_the_clouds(self):
        cloud = environment.ensure(progress.Silent())
        folder, layout = self.layout()

        error = self.assertRaises(
            errors.MagnumCapiError, drivers.install, layout, cloud,
            [f'magnum-capi-helm @ file://{folder}/none-1.0-py3-none-any.whl'],
            progress.Silent(), releases.NEWEST)
        self.assertIn('Cannot install magnum-capi-helm @', str(error))

    def test_one_of_another_version_takes_the_place_of_the_clouds(self):
        cloud = environment.ensure(progress.Silent())
        before = snapshot(overlay.library(cloud))
        folder, layout = self.layout()

        drivers.install(
            layout, cloud, [str(project(folder / 'driver'))],
            progress.Silent(), releases.NEWEST,
            companions=['setuptools<81', NEW, 'magnum>=23'])
        overlay.make(layout, cloud)

        found = json.loads(processes.run(
            [layout.magnum_env / 'bin' / 'python', '-I', '-W', 'ignore',
             '-c', self._LOOK, NEW], timeout=60))
        self.assertEqual(found['version'], found['module'])
        self.assertLess(int(found['version'].split('.')[0]), 81)
        self.assertEqual(NEW, found['new'])
        self.assertEqual('23', found['magnum'].split('.')[0])
        self.assertEqual(before, snapshot(overlay.library(cloud)))


@boxes.LONG
class KilledTest(boxes.TestCase):

    def test_the_next_up_repairs(self):
        box = self.box()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        begun = folder / 'begun'
        source = project(folder / 'p')
        (source / 'setup.py').write_text(
            _ENDLESS_BUILD.format(begun=str(begun)))
        with box.start('up', '--port-base', str(box.port_base),
                       '--install', str(source)) as process:
            self.addCleanup(process.kill)
            waiting.wait_for(begun.exists, done=bool, timeout=PATIENCE,
                             what='the build to begin')
            process.kill()
        self.assertEqual(-signal.SIGKILL, process.returncode)
        before = box.processes()
        self.assertNotEqual([], before)

        (source / 'setup.py').unlink()
        ended = box.up('--install', str(source))

        self.assert_done(ended)
        self.assertIn('Cleaning up after an interrupted start', ended.err)
        self.assertEqual(set(), set(before) & set(box.processes()))
        self.assertEqual([], list((box.directory / 'tmp').iterdir()))
        self.assertEqual([], [
            p for p in box.directory.iterdir() if p.name.startswith('.')])
        self.assert_done(box.down())
        self.assert_nothing_left(box)
