# SPDX-License-Identifier: Apache-2.0

import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve

UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
ROCKY = model.ClusterType('vm', 'rocky', 'kubernetes')
FLATCAR = model.ClusterType('vm', 'flatcar', 'kubernetes')
DEBIAN = model.ClusterType('vm', 'debian', 'kubernetes')

OFFERS = (
    model.Offer('helm', (UBUNTU, FLATCAR)),
    model.Offer('clash', (UBUNTU, ROCKY)),
    model.Offer('off', (UBUNTU,)),
    model.Offer('beta', (UBUNTU, DEBIAN), beta=True),
    model.Offer('broken', error='import: ImportError: no'),
    model.Offer('naming', (
        model.ClusterType('vm', 'naming', 'kubernetes'),
        model.ClusterType('vm', 'naming:ubuntu', 'kubernetes'),
        model.ClusterType('vm', 'naming:flatcar', 'kubernetes'))),
)
ON_OFFER = (
    'On offer: (vm, flatcar, kubernetes), (vm, naming, kubernetes), '
    '(vm, naming:flatcar, kubernetes), (vm, naming:ubuntu, kubernetes), '
    '(vm, rocky, kubernetes), (vm, ubuntu, kubernetes).')
CHOOSE = ("Set the field 'driver' of the cluster template (--driver), or the "
          'property magnum_driver of the image, to one of them.')
ASK = 'Ask the operator of this cloud, or choose another driver.'
BOTH = ('clash', 'helm')


def catalog(default=None, beta=(), offers=OFFERS, mode=model.Mode.STRICT):
    return model.Catalog(offers, model.Policy(
        default, frozenset({'off'}), frozenset(beta), mode))


def decide(magnum_distro=None, os_distro=None, magnum_driver=None,
           driver=None, server_type='vm', coe='kubernetes', **kwargs):
    return resolve.resolve(model.Request(
        model.ImageProperties(magnum_distro, os_distro, magnum_driver),
        server_type, coe, driver), catalog(**kwargs))


def steps(decision):
    return [reason.step for reason in decision.reasons]


class ChosenTest(testtools.TestCase):

    def test_each_step(self):
        odd = model.ClusterType('bm', 'ubuntu', 'swarm')
        naming = [model.ClusterType('vm', os, 'kubernetes') for os in (
            'naming', 'naming:ubuntu', 'naming:flatcar')]
        template, image, sole, default = (
            model.Step.TEMPLATE, model.Step.IMAGE, model.Step.SOLE_PROVIDER,
            model.Step.DEFAULT)
        for driver, kind, step, request in (
                ('helm', UBUNTU, template, dict(driver='helm')),
                ('helm', UBUNTU, template, dict(driver=' helm\n')),
                ('helm', UBUNTU, template, dict(
                    driver='helm', magnum_driver='clash')),
                # A blank name is none.
                ('clash', UBUNTU, image, dict(
                    driver=' ', magnum_driver='clash')),
                ('helm', UBUNTU, image, dict(
                    magnum_driver='helm', default='clash')),
                ('helm', FLATCAR, sole, dict(magnum_distro='flatcar')),
                ('helm', FLATCAR, sole, dict(
                    magnum_distro='flatcar', default='clash')),
                ('beta', DEBIAN, sole, dict(
                    magnum_distro='debian', beta=['beta'])),
                ('odd', odd, sole, dict(
                    server_type='bm', coe='swarm',
                    offers=(*OFFERS, model.Offer('odd', (odd,))))),
                ('helm', UBUNTU, default, dict(default='helm')),
                ('clash', UBUNTU, default, dict(default='clash')),
                # Alternative 2 of the specification.
                *(('naming', kind, sole, dict(magnum_distro=kind.os))
                  for kind in naming)):
            decision = decide(**{'magnum_distro': 'ubuntu', **request})
            self.assertEqual(
                (driver, kind, None, step),
                (decision.driver, decision.cluster_type, decision.refusal,
                 steps(decision)[-1]), request)
            self.assertFalse(decision.by_name)


class HibiscusTest(testtools.TestCase):
    """All that is chosen is chosen as before, and one refusal is gone."""

    def decide(self, *args, **kwargs):
        return decide(*args, mode=model.Mode.HIBISCUS, **kwargs)

    def test_the_first_by_name(self):
        for default in (None, 'off', 'naming', 'nobody'):
            for offers in (OFFERS, OFFERS[::-1]):
                decision = self.decide(
                    'ubuntu', default=default, offers=offers)
                self.assertEqual(
                    ('clash', UBUNTU, model.Step.FIRST, True),
                    (decision.driver, decision.cluster_type,
                     steps(decision)[-1], decision.by_name))
                self.assertIn('[k8s_discovery]mode',
                              decision.reasons[-1].text)

    def test_what_is_chosen_otherwise_is_not_by_name(self):
        for distro, how in (
                ('ubuntu', {'driver': 'helm'}),
                ('ubuntu', {'magnum_driver': 'helm'}),
                ('ubuntu', {'default': 'helm'}),
                # The only provider, although another is the first by name.
                ('flatcar', {})):
            decision = self.decide(distro, **how)
            self.assertEqual(('helm', False),
                             (decision.driver, decision.by_name))

    def test_other_refusals_stay(self):
        for how, kind in (
                ({'driver': 'off'}, model.Kind.DISABLED),
                ({'driver': 'beta'}, model.Kind.BETA),
                ({'driver': 'naming'}, model.Kind.MISMATCH),
                ({'magnum_driver': 'nobody'}, model.Kind.UNKNOWN)):
            self.assertEqual(kind, self.decide('ubuntu', **how).refusal.kind)
        self.assertEqual(model.Kind.NOT_SUPPORTED,
                         self.decide('x').refusal.kind)


class DistroTest(testtools.TestCase):

    def test_which_property_counts(self):
        for properties, deprecated, text in (
                (('flatcar', 'ubuntu'), False,
                 "magnum_distro of the image is 'flatcar'"),
                ((None, 'flatcar'), True,
                 "the image has no magnum_distro; its os_distro is 'flatcar' "
                 '(deprecated: set magnum_distro)')):
            decision = decide(*properties)
            self.assertEqual((FLATCAR, deprecated, text), (
                decision.cluster_type, decision.deprecated,
                decision.reasons[0].text))

    def test_neither(self):
        decision = decide(driver='helm')
        self.assertIsNone(decision.cluster_type)
        self.assertEqual(model.Refusal(
            model.Kind.NO_DISTRO,
            'The image does not say which operating system it has',
            'Set its properties magnum_distro and os_distro; an unmodified '
            'Magnum requires the latter.'), decision.refusal)
        self.assertEqual([model.Step.DISTRO], steps(decision))
        self.assertFalse(decision.deprecated)


class RefusedTest(testtools.TestCase):

    #: arguments, kind, candidates, words of the text, hint
    CASES = (
        (dict(driver='nobody'), model.Kind.UNKNOWN, BOTH,
         "The driver 'nobody', named by the cluster template, is not "
         'installed', '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(magnum_driver='nobody'), model.Kind.UNKNOWN, BOTH,
         "'nobody', named by magnum_driver of the image, is not installed",
         '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(driver='HELM'), model.Kind.UNKNOWN, BOTH, "'HELM'",
         '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(driver='off'), model.Kind.DISABLED, BOTH,
         'is disabled by [drivers]disabled_drivers', ASK),
        (dict(driver='beta'), model.Kind.BETA, BOTH,
         'not in [drivers]enabled_beta_drivers', ASK),
        (dict(magnum_driver='broken'), model.Kind.BROKEN, BOTH,
         'cannot be loaded', ASK),
        (dict(magnum_distro='rocky', driver='helm'), model.Kind.MISMATCH,
         ('clash',), 'does not provide (vm, rocky, kubernetes), only (vm, '
         'flatcar, kubernetes), (vm, ubuntu, kubernetes)',
         '(vm, rocky, kubernetes) is provided by clash.'),
        (dict(magnum_distro='windows', magnum_driver='helm'),
         model.Kind.MISMATCH, (), 'does not provide (vm, windows, ',
         f'No usable driver provides (vm, windows, kubernetes). {ON_OFFER}'),
        *((arguments, model.Kind.AMBIGUOUS, BOTH, '(vm, ubuntu, kubernetes) '
           'is ambiguous: it is provided by clash, helm', CHOOSE)
          for arguments in ({}, dict(default='beta'))),
        (dict(beta=['beta']), model.Kind.AMBIGUOUS, ('beta', *BOTH),
         'it is provided by beta, clash, helm', CHOOSE),
        *((arguments, model.Kind.NOT_SUPPORTED, (),
           f'No usable driver provides ({words})', ON_OFFER)
          for words, arguments in (
              ('vm, windows, kubernetes', dict(
                  magnum_distro='windows', default='helm')),
              ('bm, ubuntu, kubernetes', dict(server_type='bm')),
              ('vm, ubuntu, swarm', dict(coe='swarm')),
              # The name of a driver is no operating system of another.
              ('vm, naming:rocky, kubernetes', dict(
                  magnum_distro='naming:rocky')),
              ('vm, helm, kubernetes', dict(magnum_distro='helm')))),
        (dict(magnum_distro='debian'), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (vm, debian, kubernetes)',
         f'{ON_OFFER} It would be provided by beta (beta), if in '
         '[drivers]enabled_beta_drivers.'),
        # A name that fails is not passed over.
        (dict(driver='off', magnum_driver='helm'), model.Kind.DISABLED, BOTH,
         'is disabled by', ASK),
        (dict(offers=()), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides', 'On offer: nothing.'),
    )

    def test_each_kind(self):
        for arguments, kind, candidates, words, hint in self.CASES:
            decision = decide(**{'magnum_distro': 'ubuntu', **arguments})

            self.assertIsNone(decision.driver, arguments)
            refusal = decision.refusal
            self.assertEqual((kind, candidates, hint), (
                refusal.kind, refusal.candidates, refusal.hint), arguments)
            self.assertIn(words, refusal.text)

    def test_types_that_a_driver_repeats_are_reported_once(self):
        decision = decide('windows', driver='twice', offers=[
            model.Offer('twice', (UBUNTU, ROCKY, UBUNTU))])

        self.assertTrue(decision.refusal.text.endswith(
            'only (vm, rocky, kubernetes), (vm, ubuntu, kubernetes)'))

    def test_no_kind_is_left_out(self):
        self.assertEqual(
            set(model.Kind) - {model.Kind.NO_DISTRO},
            {kind for _, kind, *_ in self.CASES})

    def test_a_hostile_property_cannot_be_more_than_a_value(self):
        decision = decide('x\r\nERROR %s {0} <b>\x1b[2J')

        self.assertEqual(
            r'No usable driver provides (vm, x\r\nERROR %s {0} <b>\x1b[2J, '
            'kubernetes)', decision.refusal.text)


class ReasonsTest(testtools.TestCase):

    def test_they_are_reported_in_order(self):
        template, image, sole, default = (
            model.Step.TEMPLATE, model.Step.IMAGE, model.Step.SOLE_PROVIDER,
            model.Step.DEFAULT)
        unnamed = (template,
                   'neither the template nor the image names a driver')
        two = (sole, '(vm, ubuntu, kubernetes) is provided by clash, helm')
        for request, reasons in (
                (dict(driver='helm'), [
                    (template, "the field 'driver' of the template is "
                     "'helm'")]),
                (dict(magnum_driver='helm'), [
                    (template, 'the template names no driver'),
                    (image, "magnum_driver of the image is 'helm'")]),
                (dict(magnum_distro='flatcar'), [
                    unnamed, (sole, '(vm, flatcar, kubernetes) is provided '
                              'by helm only')]),
                (dict(magnum_distro='x'), [
                    unnamed, (sole, '(vm, x, kubernetes) is provided by no '
                              'usable driver')]),
                (dict(default='helm'), [
                    unnamed, two,
                    (default, '[drivers]default_driver is helm')]),
                (dict(), [
                    unnamed, two,
                    (default, '[drivers]default_driver is not set')]),
                (dict(default='off'), [
                    unnamed, two,
                    (default, "[drivers]default_driver is 'off', which is "
                     'none of them')])):
            self.assertEqual(reasons, [*decide(
                **{'magnum_distro': 'ubuntu', **request}).reasons[1:]])


class StoredTest(testtools.TestCase):

    def test_as_for_a_new_one_but_without_an_image(self):
        for kind, named, driver, refusal in (
                (ROCKY, 'helm', None, model.Kind.MISMATCH),
                (UBUNTU, 'helm', 'helm', None),
                (FLATCAR, None, 'helm', None), (FLATCAR, '', 'helm', None),
                (UBUNTU, None, 'clash', None)):
            decision = resolve.resolve_stored(
                kind, named, catalog(default='clash'))
            self.assertEqual(
                (kind, driver, refusal, False),
                (decision.cluster_type, decision.driver,
                 decision.refusal and decision.refusal.kind,
                 decision.deprecated))
            self.assertNotIn(model.Step.DISTRO, steps(decision))
