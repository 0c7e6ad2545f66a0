# SPDX-License-Identifier: Apache-2.0


import dataclasses

from magnum_capi import errors
from tests.unit.offline.images import base
from tools.offline.images import plan


def recipes(*made):
    return {r.name: r for r in made}


NODE = base.recipe('node-1.34', kubernetes='v1.34.9', kind='node',
                   set='machine', builder='node', bakes=('node',))
OLD = base.recipe('node-1.33', kubernetes='v1.33.13', kind='node',
                  set='machine', builder='node', bakes=('node',))
PROXY = base.recipe('proxy-1.34', kubernetes='v1.34.9',
                    programs={'/p': 'proxy'})
OLD_PROXY = base.recipe('proxy-1.33', kubernetes='v1.33.13')
PAUSE = base.recipe('pause', programs={'/p': 'pause', '/q': 'pause'})
MANAGER = base.recipe('manager', set='management')
MINIKUBE = base.recipe('kicbase-1.34', kubernetes='v1.34.9', kind='base',
                       set='machine', builder='kicbase')
ALL = recipes(NODE, OLD, PROXY, OLD_PROXY, PAUSE, MANAGER, MINIKUBE)


class TestChoose(base.TestCase):

    def names(self, names, minors=('1.33', '1.34')):
        return [r.name for r in plan.choose(ALL, names, minors)]

    def test_all_of_one_minor_machines_last(self):
        self.assertEqual(
            ['proxy-1.34', 'manager', 'pause', 'kicbase-1.34', 'node-1.34'],
            self.names(None, ('1.34',)))

    def test_a_name_brings_what_it_bakes_of_its_minor(self):
        self.assertEqual(['proxy-1.34', 'pause', 'node-1.34'],
                         self.names(['node-1.34']))

    def test_a_node_has_what_outlives_an_upgrade_to_it(self):
        lasting = dataclasses.replace(OLD_PROXY, outlives=True)
        every = ALL | recipes(lasting)

        for names in (['node-1.34'], None):
            self.assertIn('proxy-1.33', [
                r.name for r in plan.choose(every, names, ('1.34',))])
        without = {n: r for n, r in every.items() if r is not OLD}
        self.assertNotIn(lasting, plan.baked(NODE, without))
        self.assertNotIn('proxy-1.34', [
            r.name for r in plan.baked(OLD, every)])
        self.assertNotIn(lasting, plan.baked(
            dataclasses.replace(MINIKUBE, bakes=('node',)), every))

    def test_a_name_without_minor_is_all_its_minors(self):
        self.assertEqual(['proxy-1.33', 'proxy-1.34'],
                         sorted(self.names(['proxy'])))
        self.assertEqual(['proxy-1.33'], self.names(['proxy'], ('1.33',)))

    def test_unknown_name_and_minor_are_reported(self):
        for names, minors, word in ((['none'], ('1.34',), 'none'),
                                    (None, ('1.99',), '1.99')):
            error = self.assertRaises(errors.UsageError, plan.choose, ALL,
                                      names, minors)
            self.assertIn(word, str(error))


class TestPlan(base.TestCase):

    def test_versions_of_one_program_take_the_same_time(self):
        recipe = base.recipe('node', programs={
            '/a': 'kubelet-1.34', '/b': 'kubelet-1.36', '/c': 'kubelet'})

        found = plan.plan((recipe,), set(recipe.programs.values()),
                          {'node': None}, {'programs': {'kubelet': 188}})

        self.assertEqual(3 * 188, found.seconds)

    def test_counts_what_is_missing(self):
        found = plan.plan(
            (PAUSE, PROXY, MANAGER), {'pause', 'proxy'}, {'manager': None},
            {'programs': {'pause': 5}, 'archives': {
                'proxy': {'seconds': 7, 'mib': 2},
                'pause': {'seconds': 1, 'mib': 1}}})

        self.assertEqual(('pause', 'proxy'), found.programs)
        self.assertEqual((PAUSE, PROXY), found.missing)
        self.assertEqual(5 + 60 + 7 + 1, found.seconds)
        self.assertEqual((3 * 2**20, 2 * 2**20),
                         (found.size, found.scratch))

    def test_what_bakes_needs_room_for_it_twice(self):
        found = plan.plan((NODE,), set(), {}, {'archives': {
            'node': {'seconds': 1, 'mib': 10}}})

        self.assertEqual((10 * 2**20, 20 * 2**20),
                         (found.size, found.scratch))

    def test_what_was_not_measured_counts_with_a_guess(self):
        found = plan.plan((PAUSE,), set(), {}, {})

        self.assertEqual(60 * 2**20, found.size)


class TestKey(base.TestCase):

    def test_changes_with_recipe_and_inputs_only(self):
        parts = {'program /p': '1', 'layer debian': '2'}
        key = plan.key(PAUSE, parts)

        self.assertEqual(key, plan.key(PAUSE, dict(reversed(parts.items()))))
        self.assertNotEqual(key, plan.key(PROXY, parts))
        self.assertNotEqual(key, plan.key(PAUSE, {**parts, 'layer x': '2'}))
