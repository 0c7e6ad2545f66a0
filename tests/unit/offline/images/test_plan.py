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


class TestKey(base.TestCase):

    def test_changes_with_recipe_and_inputs_only(self):
        parts = {'program /p': '1', 'layer debian': '2'}
        key = plan.key(PAUSE, parts)

        self.assertEqual(key, plan.key(PAUSE, dict(reversed(parts.items()))))
        self.assertNotEqual(key, plan.key(PROXY, parts))
        self.assertNotEqual(key, plan.key(PAUSE, {**parts, 'layer x': '2'}))
