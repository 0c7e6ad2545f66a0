# SPDX-License-Identifier: Apache-2.0


import json
import re
import tarfile
from unittest import mock

import fixtures

from magnum_capi import errors
from magnum_capi import progress
from magnum_capi_tempest import toolchain
from tests.unit.offline.images import base
from tools.offline.images import archive
from tools.offline.images import build
from tools.offline.images import inventory
from tools.offline.images import layer
from tools.offline.images import layers
from tools.offline.images import recipes

PROXY = base.recipe(
    'proxy-1.34', kubernetes='v1.34.9', base='debian',
    programs={'/bin/proxy': 'etcd'}, modes={'/bin/proxy': '4755'},
    texts={'/etc/x': 'x'}, directories={'/tmp': '1777'},
    links={'/proxy': 'bin/proxy'},
    extract={'/certificates': 'debian:/etc/certificates'})
PAUSE = base.recipe('pause')
NODE = base.recipe('node-1.34', kubernetes='v1.34.9', kind='node',
                   set='machine', builder='node', bakes=('node',))
OTHER = base.recipe('pause-1.33', kubernetes='v1.33.13')


class TestBuild(base.TestCase):

    def setUp(self):
        super().setUp()
        self.home = self.folder() / 'images'
        self.program = self.folder() / 'etcd'
        self.program.write_bytes(b'program')
        below = self.folder() / 'debian.tar'
        layer.write(below, [layer.Entry('/etc/certificates', b'CA')])
        self.below = archive.layer(below)
        self.made = []
        self.patch(recipes, 'load', {r.name: r for r in (
            PROXY, PAUSE, NODE, OTHER)})
        self.patch(toolchain, 'ensure', {'etcd': self.program})
        self.patch(toolchain, 'missing', {'etcd'})
        self.patch(layers, 'ensure', self.below)
        self.builder = mock.Mock()
        self.builder.make.side_effect = self.bake
        self.useFixture(fixtures.MockPatchObject(
            build, 'BUILDERS', {'node': self.builder}))
        self.patch(build, '_sources', {})
        self.lines = []
        self.progress = progress.Progress(patience=9)
        self.progress.info = self.lines.append

    def patch(self, where, name, value):
        patcher = mock.patch.object(where, name, return_value=value)
        self.addCleanup(patcher.stop)
        return patcher.start()

    def bake(self, order, out, progress):
        self.made.append(order)
        self.assertEqual([], list(order.work.iterdir()))
        (order.work / 'rest').write_text('')
        archive.write(out, archive.config(order.recipe, [self.below], 'x'),
                      [self.below], order.recipe.references)

    def build(self, *names, minors=('1.34',)):
        return build.build(self.home, names or None, minors, self.progress)

    def files(self, name):
        """Members of the last layer of an archive, by path."""
        with tarfile.open(inventory.read(self.home)[name].path) as tar:
            entry, = json.load(tar.extractfile('manifest.json'))
            with tarfile.open(fileobj=tar.extractfile(
                    entry['Layers'][-1])) as inner:
                return len(entry['Layers']), {
                    i.name: (oct(i.mode), inner.extractfile(i).read()
                             if i.isreg() else i.linkname or None)
                    for i in inner}

    def there(self):
        """Names of the files, without digests."""
        return [re.sub('-[0-9a-f]{12}', '', file.name)
                for file in sorted(self.home.iterdir())]

    def written(self):
        """When each archive was written."""
        return {file: file.stat().st_mtime_ns
                for file in self.home.glob('*.tar')}

    def test_an_archive_has_what_its_recipe_says(self):
        self.build('proxy-1.34')

        self.assertEqual((2, {
            'bin': ('0o755', None), 'bin/proxy': ('0o4755', b'program'),
            'certificates': ('0o644', b'CA'), 'etc': ('0o755', None),
            'etc/x': ('0o644', b'x'), 'proxy': ('0o777', 'bin/proxy'),
            'tmp': ('0o1777', None)}), self.files('proxy-1.34'))

    def test_builders_get_what_they_bake_and_leave_nothing(self):
        self.build()

        order, = self.made
        self.assertEqual({'pause', 'proxy-1.34'},
                         {a.name for a in order.archives})
        self.assertEqual(self.below.file, order.layers('machine'))
        self.assertEqual(
            ['lock', 'node-1.34.tar', 'pause.tar', 'proxy-1.34.tar'],
            self.there())

    def test_what_is_up_to_date_is_not_made_again(self):
        self.build()
        before = self.written()
        self.lines.clear()
        toolchain.missing.return_value = set()
        self.build()

        self.assertIn('3 image archives: all exist', self.lines[0])
        self.assertEqual(before, self.written())
        self.assertEqual(1, len(self.made))

    def test_another_program_makes_only_what_has_it(self):
        pause = self.build()['pause'].path
        before = self.written()
        self.program.write_bytes(b'newer program')
        self.build()

        self.assertEqual(
            b'newer program', self.files('proxy-1.34')[1]['bin/proxy'][1])
        self.assertEqual({(pause, before[pause])},
                         before.items() & self.written().items())
        self.assertEqual(2, len(self.made), 'it bakes the changed one')
        # The old ones have gone.
        self.assertEqual(
            ['lock', 'node-1.34.tar', 'pause.tar', 'proxy-1.34.tar'],
            self.there())

    def test_a_lost_archive_is_made_again(self):
        path = self.build('pause')['pause'].path
        path.write_bytes(b'half')
        found = self.build('pause')['pause']

        self.assertEqual((path, None), (found.path, found.fault()))

    def test_after_a_failure_only_the_rest_is_made(self):
        self.builder.make.side_effect = errors.EnvironmentProblem('no disk')
        self.assertRaises(errors.EnvironmentProblem, self.build)
        self.assertEqual({'pause', 'proxy-1.34'},
                         set(inventory.read(self.home)))
        self.assertEqual([], list(self.home.glob('tmp-*')))

        self.builder.make.side_effect = self.bake
        self.lines.clear()
        self.build()
        self.assertEqual(
            ['image node-1.34'],
            [x.split(':')[0] for x in self.lines if x.startswith('image ')])

    def test_a_killed_ones_rest_goes(self):
        (self.home / 'tmp-dead').mkdir(parents=True)
        self.build('pause')

        self.assertEqual(['lock', 'pause.tar'], self.there())

    def test_what_no_recipe_makes_any_more_goes(self):
        self.build('pause', 'pause-1.33', minors=('1.33', '1.34'))
        del recipes.load.return_value['pause-1.33']
        self.assertEqual({'pause'}, set(self.build('pause')))

        self.assertEqual(['lock', 'pause.tar'], self.there())

    def test_archives_of_others_stay(self):
        self.build('pause')
        (self.home / 'mine.tar').write_text('mine')
        self.build('pause')

        self.assertEqual('mine', (self.home / 'mine.tar').read_text())

    def test_a_folder_of_something_else_is_left_alone(self):
        self.home.mkdir()
        (self.home / 'pause.tar').write_text('mine')

        self.assertRaises(errors.UsageError, self.build, 'pause')
        self.assertEqual(['pause.tar'],
                         [f.name for f in self.home.iterdir()])

    def test_a_builder_that_makes_no_archive_is_reported(self):
        self.builder.make.side_effect = \
            lambda order, out, progress: out.write_bytes(b'no')

        error = self.assertRaises(errors.EnvironmentProblem, self.build)
        self.assertIn('node-1.34', str(error))
        self.assertNotIn('node-1.34', inventory.read(self.home))

    def test_says_first_what_it_will_take(self):
        self.build()

        self.assertIn('3 image archives, 3 of them missing; 1 programs',
                      self.lines[0])

    def test_a_folder_that_cannot_be_is_reported_in_one_line(self):
        (self.home.parent / 'file').write_text('')
        error = self.assertRaises(
            errors.EnvironmentProblem, build.build,
            self.home.parent / 'file' / 'x', None, ('1.34',), self.progress)

        self.assertIn(inventory.VARIABLE, error.hint)
