# SPDX-License-Identifier: Apache-2.0

import dataclasses
import json
import os

from magnum_capi import errors
from magnum_capi_tempest.toolchain import go
from magnum_capi_tempest.toolchain import gomod
from magnum_capi_tempest.toolchain import pins
from tests.unit.toolchain import base
from tools.offline import pins as offline

MODULE = pins.Module('example.org/m', 'v1.2.3', 'h1:zip')
KUBERNETES = pins.Module('k8s.io/kubernetes', 'v1.36.5', 'h1:zip')


def edits(module, required=(), replaced=(), **fields):
    """Without those that every module gets."""
    found = gomod.edits(
        {'Require': [{'Path': p, 'Version': v} for p, v in required],
         'Replace': [{'Old': {'Path': old}, 'New': new}
                     for old, new in replaced]},
        module, **fields)
    assert found[:3] == ['-module=build.invalid', '-toolchain=none',
                         f'-require={module.name}']
    return found[3:]


class TestEdits(base.TestCase):

    def test_nothing_to_replace(self):
        self.assertEqual([], gomod.edits({}, MODULE)[3:])

    def test_modules_of_the_same_repository(self):
        for module, published in ((KUBERNETES, 'v0.36.5'),
                                  (MODULE, 'v1.2.3')):
            for placeholder in ('v0.0.0',
                                'v0.0.0-00010101000000-000000000000'):
                self.assertEqual(
                    ['-dropreplace=k8s.io/api',
                     f'-replace=k8s.io/api=k8s.io/api@{published}'],
                    edits(module, [('k8s.io/api', placeholder)],
                          [('k8s.io/api', {'Path': './staging/api'})]))

    def test_that_name_a_real_version_or_are_not_required(self):
        """As etcd's: a folder replaces what it names, and what it forbids."""
        self.assertEqual(
            ['-dropreplace=example.org/api', '-dropreplace=example.org/all'],
            edits(MODULE, [('example.org/api', 'v1.2.3')],
                  [('example.org/api', {'Path': '../api'}),
                   ('example.org/all', {'Path': './FORBIDDEN'})]))

    def test_authors_forks_stay(self):
        self.assertEqual([], edits(MODULE, [('example.org/a', 'v1.0.0')], [
            ('example.org/a', {'Path': 'example.org/fork',
                               'Version': 'v1.0.1'})]))

    def test_our_own(self):
        self.assertEqual(
            ['-replace=example.org/a=example.org/a@v1.0.0'],
            edits(MODULE, replace=('example.org/a@v1.0.0',)))


class TestWrite(base.TestCase):
    """With an executable that stands for go."""

    def setUp(self):
        super().setUp()
        self.source = self.folder / 'source'
        self.source.mkdir()
        (self.source / 'go.mod').write_text('module example.org/m\n')
        (self.source / 'go.sum').write_text('example.org/d v1.0.0 h1:d=\n')
        for file in self.source.iterdir():
            file.chmod(0o444)
        self.patch(go, 'module_files', lambda *args: self.source)
        self.go = base.script(
            self.folder / 'go', f'''
if [ "$3" = -json ]; then
    echo '{json.dumps({})}'
else
    for last; do :; done
    echo 'module build.invalid' > "$last"
fi''')

    def write(self, **fields):
        return gomod.write(
            MODULE, pins.Build('m', '1.2.3', '.', MODULE, **fields),
            self.folder / 'made', self.go, dict(os.environ), self.progress)

    def made(self, name):
        return (self.folder / 'made' / name).read_text()

    def test_authors_hashes_and_its_own(self):
        self.assertEqual('module build.invalid\n', self.write())
        self.assertEqual(
            'example.org/d v1.0.0 h1:d=\n'
            'example.org/m v1.2.3 h1:zip\n'
            # printf 'module example.org/m\n' > go.mod; sha256sum go.mod |
            # openssl sha256 -binary | base64
            'example.org/m v1.2.3/go.mod '
            'h1:oLYEV31HsMvpZPijnIFN1mguDFwUXZ84V7yozKlxX3M=\n',
            self.made('go.sum'))

    def test_our_own_sources(self):
        self.write(folder='go/openstack-providers')

        self.assertIn('package main\n', self.made('main.go'))

    def test_dependencies_that_nobody_pinned(self):
        go_mod = self.write()
        made = self.folder / 'made'
        gomod.require_unchanged(made, go_mod, MODULE)
        (made / 'go.mod').write_text(
            f'{go_mod}\nrequire example.org/new v9.9.9\n')
        error = self.assertRaises(
            errors.EnvironmentProblem, gomod.require_unchanged, made,
            go_mod, MODULE)

        self.assertIn('example.org/m@v1.2.3', str(error))
        self.assertIn('require example.org/new v9.9.9', str(error))


class TestSums(base.TestCase):

    def test_as_in_a_real_go_sum(self):
        folder = offline.load().programs['runc-nores'].build.path
        text = (folder / 'go.sum').read_text()
        h1 = text.split()[2]
        module = pins.Module('github.com/moby/sys/capability', 'v0.4.0', h1)

        self.assertEqual(text, gomod.sums(
            module, b'module github.com/moby/sys/capability\n\ngo 1.21\n'))
        self.assertNotEqual(text, gomod.sums(
            dataclasses.replace(module, h1='h1:x'), b'module x\n'))
