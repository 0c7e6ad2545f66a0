# SPDX-License-Identifier: Apache-2.0

import json

import testtools

from magnum_capi.discovery import explain
from magnum_capi.discovery import model

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
FLATCAR = model.ClusterType('vm', 'flatcar', 'kubernetes')
A = model.Offer('a_drv', (UBUNTU,))
B = model.Offer('b_drv', (UBUNTU,))
F = model.Offer('f_drv', (FLATCAR,))
BETA = model.Offer('z_beta', (UBUNTU,), beta=True)
BROKEN = model.Offer('broken', error='import: x')


def tell(offers, driver=None, policy=model.Policy(), **properties):
    return explain.tell('image x', properties, model.Request(
        model.ImageProperties.of(properties), driver=driver),
        model.Catalog(offers, policy))


class StoryTest(testtools.TestCase):

    def check(self, story, found, *lines):
        self.assertEqual((found, list(lines)), (story.found, story.lines()))

    def test_sole_provider(self):
        self.check(
            tell([A], magnum_distro='ubuntu', os_distro='ubuntu'), True,
            'This is about image x.',
            "The magnum_distro of the image is 'ubuntu'.",
            'Neither the template nor the image names a driver.',
            '(vm, ubuntu, kubernetes) is provided by a_drv only.',
            'So the driver is a_drv, for (vm, ubuntu, kubernetes).')

    def test_ambiguous(self):
        self.check(
            tell([A, B], os_distro='ubuntu'), False,
            'This is about image x.',
            "The image has no magnum_distro; its os_distro is 'ubuntu' "
            '(deprecated: set magnum_distro).',
            'Neither the template nor the image names a driver.',
            '(vm, ubuntu, kubernetes) is provided by a_drv, b_drv.',
            '[drivers]default_driver is not set.',
            'So there is no driver. (vm, ubuntu, kubernetes) is ambiguous: '
            'it is provided by a_drv, b_drv.',
            "What to do: Set the field 'driver' of the cluster template "
            '(--driver), or the property magnum_driver of the image, to one '
            'of them.')

    def last(self, story, *lines):
        self.assertEqual(list(lines), story.lines()[-len(lines):])

    def test_no_os_distro(self):
        self.last(
            tell([A], magnum_distro='ubuntu'),
            'So the driver is a_drv, for (vm, ubuntu, kubernetes).',
            'Every Magnum refuses the template until os_distro of the image '
            'is set, whatever magnum_distro is.')

    def test_every_story_is_data(self):
        for story in (tell([A], os_distro='ubuntu'), tell([A]),
                      tell([A, BETA], os_distro='ubuntu'),
                      tell([A, B], magnum_distro='ubuntu'),
                      tell([BROKEN], driver='broken', os_distro='x')):
            data = story.data()
            self.assertEqual(data, json.loads(json.dumps(data)))
            self.assertEqual(story.decision.driver, data['driver'])
            self.assertEqual(story.found, data['refusal'] is None)

    def test_hostile_values_stay_on_their_line(self):
        evil = 'a\n\x1b[31m%s{0}<b>' * 100
        story = tell([A], magnum_distro=evil, os_distro=evil,
                     magnum_driver=evil)
        for line in story.lines():
            self.assertTrue(line.isascii() and line.isprintable(), line)


def stored(uuid='u', driver=None, distro='ubuntu'):
    return {'uuid': uuid, 'name': 'n', 'driver': driver, 'server_type': 'vm',
            'cluster_distro': distro, 'coe': 'kubernetes'}


class StoredTest(testtools.TestCase):

    def check(self, story, found, *lines):
        self.assertEqual((found, list(lines)), (story.found, story.lines()))
        self.assertEqual(story.verdict.driver, story.data()['driver'])
        json.dumps(story.data())

    def test_template(self):
        self.check(
            explain.tell_template(stored(driver='a_drv'),
                                  model.Catalog([A, B])), True,
            'This is about template n (u).',
            "Its field 'driver' is 'a_drv', its type (vm, ubuntu, "
            'kubernetes).',
            'So the driver is a_drv.')

    def test_template_without_a_driver(self):
        story = explain.tell_template(stored(), model.Catalog([A, B]))
        self.assertFalse(story.found)
        self.assertIn('It names no driver, its type (vm, ubuntu, '
                      'kubernetes).', story.lines())
        self.assertIn('[drivers]default_driver is not set.', story.lines())
        self.assertIn('So it is refused: (vm, ubuntu, kubernetes) is '
                      'ambiguous', story.lines()[-1])

    def test_template_of_a_driver_that_is_gone(self):
        story = explain.tell_template(stored(driver='heat'),
                                      model.Catalog([A]))
        self.assertFalse(story.found)
        self.assertIn('is not installed', story.lines()[-1])

    def test_cluster(self):
        self.check(
            explain.tell_cluster({'uuid': 'c', 'name': 'mine'},
                                 stored(driver='a_drv'), model.Catalog(
                [A, B], model.Policy(disabled_drivers=frozenset(['a_drv'])))),
            True,
            'This is about cluster mine (c).',
            "It is of the template n (u). Its field 'driver' is 'a_drv', its "
            'type (vm, ubuntu, kubernetes).',
            'The driver a_drv is disabled: it serves existing clusters, but '
            'new ones are refused.',
            'So the driver is a_drv.')

    def test_cluster_of_a_driver_that_is_gone(self):
        story = explain.tell_cluster({'uuid': 'c'}, stored(driver='heat'),
                                     model.Catalog([A]))
        self.assertFalse(story.found)
        self.assertIn('not even delete it', story.lines()[-1])

    def upgrade(self, *drivers, offers=(A, B)):
        return explain.tell_upgrade(
            {'uuid': 'c', 'name': 'mine'},
            *(stored(f'u{number}', driver)
              for number, driver in enumerate(drivers)),
            model.Catalog(offers))

    def test_upgrade(self):
        story = self.upgrade('a_drv', 'a_drv')
        self.assertEqual((True, 'a_drv'), (story.found, story.verdict.driver))

    def test_upgrade_to_another_driver(self):
        story = self.upgrade('a_drv', 'b_drv')
        self.assertFalse(story.found)
        self.assertIn('So it is refused: The cluster is served by the driver '
                      "'a_drv', the template is for 'b_drv'.",
                      story.lines()[-1])

    def test_upgrade_of_what_names_no_driver(self):
        story = self.upgrade(None, None)
        self.assertEqual((True, 'b_drv'), (story.found, story.verdict.driver))
