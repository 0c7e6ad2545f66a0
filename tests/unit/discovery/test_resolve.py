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

    def assert_chosen(self, driver, cluster_type, step, decision):
        self.assertEqual(
            (driver, cluster_type, None),
            (decision.driver, decision.cluster_type, decision.refusal))
        self.assertEqual(step, steps(decision)[-1])

    def test_the_template_names_it(self):
        decision = decide('ubuntu', driver='helm')

        self.assert_chosen('helm', UBUNTU, model.Step.TEMPLATE, decision)

    def test_blanks_around_its_name_do_not_count(self):
        self.assertEqual('helm', decide('ubuntu', driver=' helm\n').driver)

    def test_a_blank_name_is_none(self):
        decision = decide('ubuntu', driver=' ', magnum_driver='clash')

        self.assert_chosen('clash', UBUNTU, model.Step.IMAGE, decision)

    def test_the_template_goes_before_the_image(self):
        decision = decide('ubuntu', magnum_driver='clash', driver='helm')

        self.assert_chosen('helm', UBUNTU, model.Step.TEMPLATE, decision)

    def test_the_image_names_it(self):
        decision = decide('ubuntu', magnum_driver='helm', default='clash')

        self.assert_chosen('helm', UBUNTU, model.Step.IMAGE, decision)

    def test_only_one_provides_the_type(self):
        decision = decide('flatcar')

        self.assert_chosen('helm', FLATCAR, model.Step.SOLE_PROVIDER,
                           decision)

    def test_the_only_provider_goes_before_the_default(self):
        decision = decide('flatcar', default='clash')

        self.assert_chosen('helm', FLATCAR, model.Step.SOLE_PROVIDER,
                           decision)

    def test_the_default_decides_among_providers(self):
        for default in BOTH:
            decision = decide('ubuntu', default=default)

            self.assert_chosen(default, UBUNTU, model.Step.DEFAULT, decision)

    def test_a_beta_driver_that_is_enabled(self):
        decision = decide('debian', beta=['beta'])

        self.assert_chosen('beta', DEBIAN, model.Step.SOLE_PROVIDER, decision)

    def test_server_type_and_coe_count(self):
        kind = model.ClusterType('bm', 'ubuntu', 'swarm')

        decision = decide('ubuntu', server_type='bm', coe='swarm', offers=(
            *OFFERS, model.Offer('odd', (kind,))))

        self.assert_chosen('odd', kind, model.Step.SOLE_PROVIDER, decision)


class HibiscusTest(testtools.TestCase):
    """All that is chosen is chosen as before, and one refusal is gone."""

    def setUp(self):
        super().setUp()
        self.mode = model.Mode.HIBISCUS

    def test_the_first_by_name(self):
        for default in (None, 'off', 'naming', 'nobody'):
            decision = decide('ubuntu', mode=self.mode, default=default)
            self.assertEqual(
                ('clash', UBUNTU, model.Step.FIRST),
                (decision.driver, decision.cluster_type, steps(decision)[-1]))
            self.assertTrue(decision.by_name)
            self.assertIn('[k8s_discovery]mode', decision.reasons[-1].text)

    def test_the_order_of_what_is_installed_does_not_count(self):
        self.assertEqual('clash', decide(
            'ubuntu', mode=self.mode, offers=OFFERS[::-1]).driver)

    def test_what_is_chosen_otherwise_is_not_by_name(self):
        for how in ({'driver': 'helm'}, {'magnum_driver': 'helm'},
                    {'default': 'helm'}):
            decision = decide('ubuntu', mode=self.mode, **how)
            self.assertEqual(('helm', False),
                             (decision.driver, decision.by_name))
        # The only provider, although another is the first by name.
        self.assertEqual(('helm', False), (
            decide('flatcar', mode=self.mode).driver,
            decide('flatcar', mode=self.mode).by_name))

    def test_other_refusals_stay(self):
        for how, kind in (
                ({'driver': 'off'}, model.Kind.DISABLED),
                ({'driver': 'beta'}, model.Kind.BETA),
                ({'driver': 'naming'}, model.Kind.MISMATCH),
                ({'magnum_driver': 'nobody'}, model.Kind.UNKNOWN)):
            self.assertEqual(kind, decide(
                'ubuntu', mode=self.mode, **how).refusal.kind)
        self.assertEqual(model.Kind.NOT_SUPPORTED,
                         decide('x', mode=self.mode).refusal.kind)


class DistroTest(testtools.TestCase):

    def test_magnum_distro_goes_before_os_distro(self):
        decision = decide('flatcar', 'ubuntu')

        self.assertEqual(FLATCAR, decision.cluster_type)
        self.assertFalse(decision.deprecated)
        self.assertEqual("magnum_distro of the image is 'flatcar'",
                         decision.reasons[0].text)

    def test_os_distro_is_deprecated(self):
        decision = decide(None, 'flatcar')

        self.assertEqual(('helm', FLATCAR, True), (
            decision.driver, decision.cluster_type, decision.deprecated))
        self.assertEqual(
            "the image has no magnum_distro; its os_distro is 'flatcar' "
            "(deprecated: set magnum_distro)", decision.reasons[0].text)

    def test_neither(self):
        decision = decide(driver='helm')

        self.assertIsNone(decision.cluster_type)
        self.assertEqual(model.Refusal(
            model.Kind.NO_DISTRO,
            'The image does not say which operating system it has',
            'Set its property magnum_distro, and os_distro for a Magnum that '
            'insists on it.'), decision.refusal)
        self.assertEqual([model.Step.DISTRO], steps(decision))
        self.assertFalse(decision.deprecated)


class NamingTest(testtools.TestCase):
    """Alternative 2 of the specification."""

    def test_os_is_the_name_of_a_driver(self):
        self.assertEqual('naming', decide(None, 'naming').driver)

    def test_os_is_a_driver_and_a_distro(self):
        for distro in ('naming:ubuntu', 'naming:flatcar'):
            self.assertEqual('naming', decide(None, distro).driver)

    def test_the_driver_does_not_get_any_distro(self):
        self.assertEqual(model.Kind.NOT_SUPPORTED,
                         decide('naming:rocky').refusal.kind)

    def test_the_name_of_a_driver_is_no_type_of_others(self):
        self.assertEqual(model.Kind.NOT_SUPPORTED,
                         decide('helm').refusal.kind)


class RefusedTest(testtools.TestCase):

    TEMPLATE = 'by the cluster template,'
    IMAGE = 'by magnum_driver of the image,'
    #: arguments, kind, candidates, text, hint
    CASES = (
        (dict(driver='nobody'), model.Kind.UNKNOWN, BOTH,
         f"The driver 'nobody', named {TEMPLATE} is not installed",
         '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(magnum_driver='nobody'), model.Kind.UNKNOWN, BOTH,
         f"The driver 'nobody', named {IMAGE} is not installed",
         '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(driver='HELM'), model.Kind.UNKNOWN, BOTH,
         f"The driver 'HELM', named {TEMPLATE} is not installed",
         '(vm, ubuntu, kubernetes) is provided by clash, helm.'),
        (dict(driver='off'), model.Kind.DISABLED, BOTH,
         f"The driver 'off', named {TEMPLATE} is disabled by "
         "[drivers]disabled_drivers", ASK),
        (dict(magnum_driver='off'), model.Kind.DISABLED, BOTH,
         f"The driver 'off', named {IMAGE} is disabled by "
         "[drivers]disabled_drivers", ASK),
        (dict(driver='beta'), model.Kind.BETA, BOTH,
         f"The driver 'beta', named {TEMPLATE} is a beta driver and not in "
         "[drivers]enabled_beta_drivers", ASK),
        (dict(magnum_driver='beta'), model.Kind.BETA, BOTH,
         f"The driver 'beta', named {IMAGE} is a beta driver and not in "
         "[drivers]enabled_beta_drivers", ASK),
        (dict(driver='broken'), model.Kind.BROKEN, BOTH,
         f"The driver 'broken', named {TEMPLATE} is installed but cannot be "
         "loaded", ASK),
        (dict(magnum_driver='broken'), model.Kind.BROKEN, BOTH,
         f"The driver 'broken', named {IMAGE} is installed but cannot be "
         "loaded", ASK),
        (dict(magnum_distro='rocky', driver='helm'), model.Kind.MISMATCH,
         ('clash',),
         f"The driver 'helm', named {TEMPLATE} does not provide (vm, rocky, "
         "kubernetes), only (vm, flatcar, kubernetes), (vm, ubuntu, "
         "kubernetes)", '(vm, rocky, kubernetes) is provided by clash.'),
        (dict(magnum_distro='windows', magnum_driver='helm'),
         model.Kind.MISMATCH, (),
         f"The driver 'helm', named {IMAGE} does not provide (vm, windows, "
         "kubernetes), only (vm, flatcar, kubernetes), (vm, ubuntu, "
         "kubernetes)",
         f'No usable driver provides (vm, windows, kubernetes). {ON_OFFER}'),
        (dict(), model.Kind.AMBIGUOUS, BOTH,
         '(vm, ubuntu, kubernetes) is ambiguous: it is provided by clash, '
         'helm', CHOOSE),
        (dict(default='beta'), model.Kind.AMBIGUOUS, BOTH,
         '(vm, ubuntu, kubernetes) is ambiguous: it is provided by clash, '
         'helm', CHOOSE),
        (dict(beta=['beta']), model.Kind.AMBIGUOUS, ('beta', *BOTH),
         '(vm, ubuntu, kubernetes) is ambiguous: it is provided by beta, '
         'clash, helm', CHOOSE),
        (dict(magnum_distro='windows', default='helm'),
         model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (vm, windows, kubernetes)', ON_OFFER),
        (dict(server_type='bm'), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (bm, ubuntu, kubernetes)', ON_OFFER),
        (dict(coe='swarm'), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (vm, ubuntu, swarm)', ON_OFFER),
        (dict(magnum_distro='debian'), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (vm, debian, kubernetes)',
         f'{ON_OFFER} It would be provided by beta (beta), if in '
         '[drivers]enabled_beta_drivers.'),
        (dict(offers=()), model.Kind.NOT_SUPPORTED, (),
         'No usable driver provides (vm, ubuntu, kubernetes)',
         'On offer: nothing.'),
    )

    def test_each_kind(self):
        for arguments, kind, candidates, text, hint in self.CASES:
            decision = decide(**{'magnum_distro': 'ubuntu', **arguments})

            self.assertIsNone(decision.driver, arguments)
            self.assertEqual(model.Refusal(kind, text, hint, candidates),
                             decision.refusal, arguments)

    def test_types_that_a_driver_repeats_are_told_once(self):
        decision = decide('windows', driver='twice', offers=[
            model.Offer('twice', (UBUNTU, ROCKY, UBUNTU))])

        self.assertTrue(decision.refusal.text.endswith(
            'only (vm, rocky, kubernetes), (vm, ubuntu, kubernetes)'))

    def test_no_kind_is_left_out(self):
        self.assertEqual(
            set(model.Kind) - {model.Kind.NO_DISTRO},
            {kind for _, kind, *_ in self.CASES})

    def test_a_name_that_fails_is_not_passed_over(self):
        decision = decide('flatcar', driver='off', magnum_driver='helm')

        self.assertEqual(model.Kind.DISABLED, decision.refusal.kind)

    def test_a_hostile_property_cannot_be_more_than_a_value(self):
        decision = decide('x\r\nERROR %s {0} <b>\x1b[2J')

        self.assertEqual(
            r'No usable driver provides (vm, x\r\nERROR %s {0} <b>\x1b[2J, '
            'kubernetes)', decision.refusal.text)


class ReasonsTest(testtools.TestCase):

    def test_the_whole_chain(self):
        self.assertEqual((
            (model.Step.DISTRO, "magnum_distro of the image is 'ubuntu'"),
            (model.Step.TEMPLATE,
             'neither the template nor the image names a driver'),
            (model.Step.SOLE_PROVIDER,
             '(vm, ubuntu, kubernetes) is provided by clash, helm'),
            (model.Step.DEFAULT, '[drivers]default_driver is helm'),
        ), decide('ubuntu', default='helm').reasons)

    def test_of_the_image(self):
        self.assertEqual((
            (model.Step.TEMPLATE, 'the template names no driver'),
            (model.Step.IMAGE, "magnum_driver of the image is 'helm'"),
        ), decide('ubuntu', magnum_driver='helm').reasons[1:])

    def test_of_the_template(self):
        self.assertEqual((
            (model.Step.TEMPLATE, "the field 'driver' of the template is "
             "'helm'"),
        ), decide('ubuntu', driver='helm').reasons[1:])

    def test_of_the_only_provider(self):
        self.assertEqual(
            '(vm, flatcar, kubernetes) is provided by helm only',
            decide('flatcar').reasons[-1].text)

    def test_of_no_provider(self):
        self.assertEqual(
            (model.Step.SOLE_PROVIDER,
             '(vm, x, kubernetes) is provided by no usable driver'),
            decide('x').reasons[-1])

    def test_of_a_default_that_does_not_help(self):
        for default, text in (
                (None, '[drivers]default_driver is not set'),
                ('off', "[drivers]default_driver is 'off', which is none of "
                 'them')):
            self.assertEqual((model.Step.DEFAULT, text), decide(
                'ubuntu', default=default).reasons[-1])


class StoredTest(testtools.TestCase):

    def test_the_driver_is_checked(self):
        decision = resolve.resolve_stored(ROCKY, 'helm', catalog())

        self.assertEqual(model.Kind.MISMATCH, decision.refusal.kind)

    def test_the_driver_is_kept(self):
        decision = resolve.resolve_stored(UBUNTU, 'helm',
                                          catalog(default='clash'))

        self.assertEqual(('helm', UBUNTU, False), (
            decision.driver, decision.cluster_type, decision.deprecated))

    def test_none_is_stored(self):
        for driver in (None, ''):
            decision = resolve.resolve_stored(FLATCAR, driver, catalog())

            self.assertEqual('helm', decision.driver)

    def test_nothing_is_said_about_an_image(self):
        decision = resolve.resolve_stored(UBUNTU, None, catalog())

        self.assertNotIn(model.Step.DISTRO, steps(decision))
