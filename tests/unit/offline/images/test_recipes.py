# SPDX-License-Identifier: Apache-2.0


from magnum_capi import errors
from tests.unit.offline.images import base
from tools.offline.images import build
from tools.offline.images import layers
from tools.offline.images import recipes
from tools.offline.management import __main__ as management
from tools.offline import pins

RELEASES = {'1.34': {'minor': '1.34', 'kubernetes': '1.34.9', 'etcd': '3.6'}}
SMALL = {'references': ['example.org/x:{etcd}'], 'version': '{etcd}'}


class TestParse(base.TestCase):

    def test_one_for_each_minor_filled_in(self):
        found, = recipes.parse({'etcd': {
            **SMALL, 'minors': ['1.34'], 'command': ['-{minor}', '{other}'],
            'programs': {'/bin/{etcd}': 'etcd-{minor}'}}}, RELEASES)

        self.assertEqual('etcd-1.34', found.name)
        self.assertEqual(('example.org/x:3.6',), found.references)
        self.assertEqual(('v1.34.9', '1.34'), (found.kubernetes, found.minor))
        self.assertEqual({'/bin/3.6': 'etcd-1.34'}, found.programs)
        self.assertEqual(('-1.34', '{other}'), found.command)

    def test_without_minors_there_is_one(self):
        found, = recipes.parse({'x': {**SMALL, 'texts': {'/a': '{etcd}'}}},
                               RELEASES)

        self.assertEqual(('x', None, None),
                         (found.name, found.kubernetes, found.minor))
        self.assertEqual({'/a': '{etcd}'}, found.texts)

    def test_layers_of_a_recipe(self):
        for fields, wanted in (
                ({}, ()), ({'base': 'debian'}, ('debian',)),
                ({'applets': True}, ('debian',)),
                ({'extract': {'/a': 'machine:/b'}}, ('machine',))):
            self.assertEqual(wanted, base.recipe(**fields).layers())

    def test_what_cannot_be_is_refused_in_one_line(self):
        for fields in ({'kind': 'strange'}, {'set': 'x'}, {'references': []},
                       {'references': ['example.org:80/x']},
                       {'unknown': 1}, {'minors': ['1.99']},
                       {'programs': {'bin/x': 'x'}}):
            error = self.assertRaises(
                errors.EnvironmentProblem, recipes.parse,
                {'x': {**SMALL, **fields}}, RELEASES, 'file.toml')
            self.assertIn('file.toml', str(error))

    def test_a_name_is_a_file_name(self):
        self.assertRaises(errors.EnvironmentProblem, recipes.parse,
                          {'../x': SMALL}, RELEASES)


class TestFiles(base.TestCase):
    """The real recipes."""

    def setUp(self):
        super().setUp()
        self.recipes = recipes.load()

    def test_programs_are_pinned(self):
        programs = {p for r in self.recipes.values()
                    for p in r.programs.values()}
        programs |= {s.partition(':')[0] for r in self.recipes.values()
                     for s in r.sources_of.values()}

        self.assertEqual(set(), programs - set(pins.load().programs))

    def test_programs_of_nodes_are_of_use(self):
        """minikube runs those of its own machine."""
        programs = {p for r in self.recipes.values()
                    for p in r.programs.values()}
        programs |= {f'{name}-1.34' for name in management._PROGRAMS}

        self.assertEqual(set(), {
            name for name in pins.load().programs
            if name.rpartition('-')[2] in ('1.34', '1.35', '1.36')}
            - programs)

    def test_layers_builders_and_sources_are_there(self):
        for recipe in self.recipes.values():
            for name in recipe.layers():
                self.assertIn(name, layers.known(), recipe.name)
            self.assertIn(recipe.builder, (None, *build.BUILDERS))
            for source in recipe.sources:
                self.assertTrue((recipes.FOLDER.parent / source).exists())

    def test_no_name_is_that_of_two_images_of_one_node(self):
        for minor in recipes.minors():
            names = [x for r in self.recipes.values()
                     if r.minor in (None, minor) for x in r.references]
            self.assertEqual(len(set(names)), len(names))

    def test_nodes_have_two_minors_and_minikube_one(self):
        self.assertEqual(('1.35', '1.36'), recipes.minors())
        self.assertEqual(['1.34'], [
            r.minor for r in self.recipes.values() if r.kind == 'base'])

    def test_every_minor_has_the_same_images(self):
        found = {}
        for recipe in self.recipes.values():
            if recipe.minor and recipe.kind == 'image':
                found.setdefault(recipe.minor, set()).add(recipe.title)

        self.assertEqual(found['1.35'], found['1.36'])
        self.assertEqual({'conformance'}, found['1.36'] - found['1.34'])

    def test_control_plane_is_of_its_release(self):
        """The tag says what is in it."""
        programs = pins.load().programs
        for minor in recipes.minors():
            version = programs[f'kubelet-{minor}'].version
            for name in ('kube-apiserver', 'kube-controller-manager',
                         'kube-scheduler', 'kube-proxy', 'conformance'):
                recipe = self.recipes[f'{name}-{minor}']
                self.assertEqual(f'v{version}', recipe.kubernetes)
                self.assertTrue(
                    recipe.references[0].endswith(f'/{name}:v{version}'))

    def test_etcd_and_coredns_are_those_of_their_release(self):
        for name in ('registry.k8s.io/etcd:3.6.8-0',
                     'registry.k8s.io/coredns/coredns:v1.14.2'):
            title = name.partition('/')[2].partition(':')[0].split('/')[0]
            recipe = self.recipes[f'{title}-1.36']
            self.assertEqual((name,), recipe.references)
            self.assertEqual({f'{title}-1.36'}, {*recipe.programs.values()})
