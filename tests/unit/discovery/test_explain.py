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


def tell(offers, driver=None, policy=model.Policy(), magnum=23,
         **properties):
    return explain.tell('image x', properties, model.Request(
        model.ImageProperties.of(properties), driver=driver),
        model.Catalog(offers, policy, magnum))


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
            'So the driver is a_drv, for (vm, ubuntu, kubernetes).',
            'A Magnum 23 without the filter does the same.')

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
            'What to do: Set the property magnum_driver of the image, or the '
            "field 'driver' of the cluster template, to one of them.",
            'A Magnum 23 without the filter accepts the template and stores '
            "the driver a_drv with cluster_distro 'ubuntu'.")

    def last(self, story, *lines):
        self.assertEqual(list(lines), story.lines()[-len(lines):])

    def test_another_driver_is_stored(self):
        self.last(
            tell([A, F], magnum_distro='flatcar', os_distro='fedora'),
            'A Magnum 23 without the filter accepts the template and stores '
            "the driver a_drv with cluster_distro 'fedora'.")

    def test_an_earlier_one_stores_no_driver(self):
        self.last(
            tell([A, F], magnum=22, os_distro='ubuntu', driver='a_drv'),
            'A Magnum 22 without the filter accepts the template and stores '
            "no driver, with cluster_distro 'ubuntu': its clusters go to "
            'a_drv, until a driver that Magnum loads later provides their '
            'type.')

    def test_an_earlier_one_stores_the_driver_of_the_image(self):
        self.last(tell([A, B], magnum=20, os_distro='ubuntu',
                       magnum_driver='b_drv'),
                  'A Magnum 20 without the filter does the same.')

    def test_no_os_distro(self):
        self.last(
            tell([A], magnum_distro='ubuntu'),
            'A Magnum 23 without the filter refuses the template: Image '
            "doesn't contain os_distro field.",
            'So does a Magnum with the filter, until os_distro of the image '
            'is set, whatever magnum_distro is.',)

    def test_another_driver_is_asked(self):
        self.last(
            tell([A, B], os_distro='ubuntu', magnum_driver='a_drv'),
            'A Magnum 23 without the filter does the same.',
            'When a cluster of it is created, Magnum asks b_drv whether its '
            'size is valid, with or without the filter.')

    def test_no_other_driver_is_asked(self):
        # As Glance sends it, it is not the very object of the driver.
        self.last(
            tell([A], os_distro='ubuntu', magnum_driver=json.loads(
                '"a_drv"')), 'A Magnum 23 without the filter does the same.')

    def test_the_default_is_the_sole_provider(self):
        # As magnum.conf has it, it is not the very object of the driver.
        self.last(
            tell([A], os_distro='ubuntu', policy=model.Policy(
                default_driver=json.loads('"a_drv"'))),
            'A Magnum 23 without the filter does the same.')

    def test_another_distro_is_stored(self):
        both = model.Offer('a_drv', (UBUNTU, FLATCAR))
        for os_distro, magnum_distro in (('ubuntu', 'flatcar'),
                                         ('flatcar', 'ubuntu')):
            self.last(
                tell([both], os_distro=os_distro,
                     magnum_distro=magnum_distro, magnum_driver='a_drv'),
                'A Magnum 23 without the filter accepts the template and '
                f"stores the driver a_drv with cluster_distro '{os_distro}'.")

    def test_a_driver_that_sorts_before_it_is_stored(self):
        self.assertIn(
            'A Magnum 23 without the filter accepts the template and stores '
            "the driver a_drv with cluster_distro 'flatcar'.",
            tell([A, F], os_distro='flatcar').lines())

    def test_two_properties_that_say_the_same(self):
        self.last(tell([A], **json.loads(
            '{"os_distro": "ubuntu", "magnum_distro": "ubuntu"}')),
            'A Magnum 23 without the filter does the same.')

    def test_one_that_sorts_before_it_is_asked(self):
        self.last(
            tell([B, A], os_distro='ubuntu', magnum_driver='b_drv'),
            'When a cluster of it is created, Magnum asks a_drv whether its '
            'size is valid, with or without the filter.')

    def test_clusters_are_refused(self):
        story = tell([A, BETA], driver='a_drv', os_distro='ubuntu')
        self.assertTrue(story.found)
        self.assertIn('But Magnum refuses clusters of it',
                      story.lines()[-1])

    def test_broken_neighbour(self):
        story = tell([BROKEN, B], os_distro='ubuntu')
        self.assertIn('broken cannot be loaded', '\n'.join(story.lines()))
        self.last(story, 'A Magnum 23 without the filter does the same.')

    def test_every_story_is_data(self):
        for story in (tell([A], os_distro='ubuntu'), tell([A]),
                      tell([A, BETA], os_distro='ubuntu'),
                      tell([A, B], magnum_distro='ubuntu'),
                      tell([BROKEN], driver='broken', os_distro='x')):
            data = story.data()
            self.assertEqual(data, json.loads(json.dumps(data)))
            self.assertEqual(story.decision.driver, data['driver'])
            self.assertEqual(story.found, data['refusal'] is None)
            self.assertEqual(story.same, data['unmodified_magnum']['same'])

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
            'So the driver is a_drv.',
            'A Magnum without the filter gives its new clusters to a_drv.')

    def test_template_without_a_driver(self):
        story = explain.tell_template(stored(), model.Catalog([A, B]))
        self.assertFalse(story.found)
        self.assertIn('It names no driver, its type (vm, ubuntu, '
                      'kubernetes).', story.lines())
        self.assertIn('[drivers]default_driver is not set.', story.lines())
        self.assertIn('So it is refused: (vm, ubuntu, kubernetes) is '
                      'ambiguous', story.lines()[-2])
        self.assertIn('new clusters to b_drv', story.lines()[-1])

    def test_template_of_a_driver_that_is_gone(self):
        story = explain.tell_template(stored(driver='heat'),
                                      model.Catalog([A]))
        self.assertFalse(story.found)
        self.assertIn('and they fail', story.lines()[-1])

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
            'So the driver is a_drv.',
            'A Magnum without the filter does the same.')

    def test_cluster_of_a_driver_that_is_gone(self):
        story = explain.tell_cluster({'uuid': 'c'}, stored(driver='heat'),
                                     model.Catalog([A]))
        self.assertFalse(story.found)
        self.assertIn('not even delete it', story.lines()[-2])

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
                      story.lines()[-2])
        self.assertEqual('A Magnum without the filter accepts it, and gives '
                         'the cluster to b_drv.', story.lines()[-1])

    def test_upgrade_of_what_names_no_driver(self):
        story = self.upgrade(None, None)
        self.assertEqual((True, 'b_drv'), (story.found, story.verdict.driver))
