# SPDX-License-Identifier: Apache-2.0

import testtools
from testtools import matchers

from magnum_capi.discovery import explain
from magnum_capi.discovery import model

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
A = model.Offer('a_drv', (UBUNTU,))
B = model.Offer('b_drv', (UBUNTU,))


def image(*offers, **properties):
    return explain.image('image x', properties, model.Request(
        model.ImageProperties.of(properties)), model.Catalog(offers))


class ImageTest(testtools.TestCase):

    def test_none(self):
        found = image(A, B, os_distro='ubuntu')
        self.assertEqual(
            (None, ('a_drv', 'b_drv'),
             '(vm, ubuntu, kubernetes) is ambiguous: it is provided by '
             'a_drv, b_drv.',
             "Set the field 'driver' of the cluster template (--driver), or "
             'the property magnum_driver of the image, to one of them.'),
            (found.driver, found.candidates, found.refusal, found.remedy))
        self.assertEqual(
            ("The image has no magnum_distro; its os_distro is 'ubuntu' "
             '(deprecated: set magnum_distro).',
             'Neither the template nor the image names a driver.',
             '(vm, ubuntu, kubernetes) is provided by a_drv, b_drv.',
             '[drivers]default_driver is not set.'), found.reasons)

    def test_no_os_distro(self):
        for found, remedy in (
                (image(A, magnum_distro='ubuntu'),
                 'Every Magnum refuses the template until os_distro of the '
                 'image is set, even if magnum_distro is.'),
                (image(A), 'Set its properties magnum_distro and os_distro; '
                 'an unmodified Magnum requires the latter.')):
            self.assertEqual(remedy, found.remedy)

    def test_hostile_values_stay_on_their_line(self):
        evil = 'a\n\x1b[31m%s{0}<b>' * 100
        found = image(A, magnum_distro=evil, os_distro=evil,
                      magnum_driver=evil)
        for text in (*found.reasons, found.refusal, found.remedy):
            self.assertTrue(text.isascii() and text.isprintable(), text)


def stored(uuid='u', driver=None, distro='ubuntu'):
    return {'uuid': uuid, 'name': 'n', 'driver': driver, 'server_type': 'vm',
            'cluster_distro': distro, 'coe': 'kubernetes'}


class StoredTest(testtools.TestCase):

    def test_template_that_is_refused(self):
        for found, reasons, refusal, remedy in (
                (stored(), (
                    'It names no driver, its type (vm, ubuntu, kubernetes).',
                    '(vm, ubuntu, kubernetes) is provided by a_drv, b_drv.',
                    '[drivers]default_driver is not set.'), 'is ambiguous',
                 'Use a template that names a driver. '),
                (stored(driver='heat'), (
                    "Its field 'driver' is 'heat', its type (vm, ubuntu, "
                    'kubernetes).',), 'is not installed', '')):
            found = explain.template(found, model.Catalog([A, B]))
            self.assertEqual((None, reasons), (found.driver, found.reasons))
            self.assertIn(refusal, found.refusal)
            self.assertThat(found.remedy, matchers.StartsWith(remedy))

    def test_cluster(self):
        catalog = model.Catalog(
            [A, B], model.Policy(disabled_drivers=frozenset(['a_drv'])))
        for driver, more in (
                ('a_drv', ('The driver a_drv is disabled: it serves existing '
                           'clusters, but new ones are refused.',)),
                ('b_drv', ())):
            self.assertEqual(
                explain.Explanation(
                    'cluster mine (c)', UBUNTU, driver,
                    (f"It has the template n (u). Its field 'driver' is "
                     f"'{driver}', its type (vm, ubuntu, kubernetes).",
                     *more)),
                explain.cluster({'uuid': 'c', 'name': 'mine'},
                                stored(driver=driver), catalog))

    def test_cluster_of_a_driver_that_is_gone(self):
        found = explain.cluster({'uuid': 'c'}, stored(driver='heat'),
                                model.Catalog([A]))
        self.assertIsNone(found.driver)
        self.assertIn('not even delete it', found.refusal)

    def test_upgrade(self):
        for old, new, driver, refusal, remedy in (
                ('a_drv', 'a_drv', 'a_drv', '', None),
                (None, None, 'b_drv', '', None),
                # Names of rows are not the very objects of the catalog.
                (''.join(['b_', 'drv']), None, 'b_drv', '', None),
                ('a_drv', 'b_drv', None,
                 "served by the driver 'a_drv', the template is for 'b_drv'",
                 'Use a template with the driver of the cluster, or make a '
                 'new cluster.')):
            found = explain.upgrade(
                {'uuid': 'c', 'name': 'mine'}, stored('u0', old),
                stored('u1', new), model.Catalog([A, B]))
            self.assertEqual(
                ('upgrade of cluster mine (c) to template n (u1)', driver),
                (found.subject, found.driver))
            self.assertIn(refusal, found.refusal or '')
            self.assertEqual(remedy, found.remedy)
            self.assertEqual(['Current', 'New'], [
                reason.split()[0] for reason in found.reasons[:2]])
