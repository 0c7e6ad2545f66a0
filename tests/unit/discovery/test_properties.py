# SPDX-License-Identifier: Apache-2.0
"""What holds for all decisions, tried with many of them."""

import random

import hypothesis
from hypothesis import strategies as st
import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve

#: The same examples in every run; a slow machine fails no test.
several = hypothesis.settings(
    max_examples=100, derandomize=True, database=None, deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck))
a_few = hypothesis.settings(several, max_examples=25)

# Few values, so that they meet.
NAMES = st.sampled_from(['a', 'b', 'c', 'd', 'e'])
OSES = st.sampled_from(['ubuntu', 'rocky', 'a', 'a:ubuntu'])
TYPES = st.builds(model.ClusterType, st.sampled_from(['vm', 'bm']), OSES,
                  st.just('kubernetes'))
OFFERS = st.builds(
    model.Offer, NAMES, st.lists(TYPES, max_size=4).map(tuple),
    st.booleans(), st.sampled_from([None, None, None, 'import: x'])
).map(lambda o: model.Offer(o.name, () if o.error else o.types, o.beta,
                            o.error))
FLEETS = st.lists(OFFERS, max_size=5, unique_by=lambda offer: offer.name)
POLICIES = st.builds(
    model.Policy, st.none() | NAMES,
    st.frozensets(NAMES, max_size=2), st.frozensets(NAMES, max_size=3))
IMAGES = st.builds(model.ImageProperties, st.none() | OSES, st.none() | OSES,
                   st.none() | NAMES)
REQUESTS = st.builds(
    model.Request, IMAGES, st.sampled_from(['vm', 'vm', 'bm']),
    st.just('kubernetes'), st.none() | NAMES)

NASTY = st.sampled_from([
    '', '\0', '\r\nERROR forged', '\x1b[2J\x1b]0;x\a', '%s%n%(x)s',
    '{0.__class__}{}', '<script>alert(1)</script>', "'; DROP TABLE x; --",
    '\u202eu', '\ud800', '\u2028', '\U0010ffff' * 1024, 'x' * 4096,
    "'" * 4096, '\\' * 4096, '\n' * 4096, '${jndi:x}', '\x85', '\x7f',
]) | st.text(st.characters(exclude_categories=()), max_size=100)


def named(request):
    """The name that counts: the template's, else the image's."""
    return request.driver or request.image.magnum_driver


def texts(decision):
    """Everything of a decision that people read."""
    yield from (reason.text for reason in decision.reasons)
    if decision.cluster_type:
        yield str(decision.cluster_type)
    if decision.refusal:
        yield str(decision.refusal)


class DecisionsTest(testtools.TestCase):

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS, st.randoms())
    def test_the_order_of_entry_points_does_not_matter(
            self, offers, policy, request, shuffle):
        before = resolve.resolve(request, model.Catalog(offers, policy))
        other = random.Random(shuffle.random()).sample(offers, len(offers))

        self.assertEqual(before, resolve.resolve(
            request, model.Catalog(other, policy)))

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS, OFFERS)
    def test_a_disabled_driver_more_changes_nothing(
            self, offers, policy, request, more):
        offers = [offer for offer in offers if offer.name != more.name]
        policy = model.Policy(
            policy.default_driver, policy.disabled_drivers | {more.name},
            policy.enabled_beta_drivers)

        before = resolve.resolve(request, model.Catalog(offers, policy))
        after = resolve.resolve(request,
                                model.Catalog([*offers, more], policy))

        if named(request) == more.name:
            self.assertEqual((None, None), (before.driver, after.driver))
        else:
            self.assertEqual(before, after)

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS, OFFERS)
    def test_a_driver_of_another_type_changes_no_choice(
            self, offers, policy, request, more):
        wanted = resolve.resolve(request, model.Catalog(
            offers, policy)).cluster_type
        hypothesis.assume(named(request) != more.name)
        offers = [offer for offer in offers if offer.name != more.name]
        more = model.Offer(
            more.name, tuple(t for t in more.types if t != wanted),
            more.beta, more.error)

        before = resolve.resolve(request, model.Catalog(offers, policy))
        after = resolve.resolve(request,
                                model.Catalog([*offers, more], policy))

        self.assertEqual(before.driver, after.driver)
        self.assertEqual(
            before.refusal and before.refusal._replace(hint='', text=''),
            after.refusal and after.refusal._replace(hint='', text=''))

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS)
    def test_who_is_chosen_can_do_it(self, offers, policy, request):
        decision = resolve.resolve(request, model.Catalog(offers, policy))

        if named(request):
            self.assertIn(decision.driver, (named(request), None))
        if decision.driver is not None:
            # Without the catalog, which has the rule as well.
            offer, = [o for o in offers if o.name == decision.driver]
            self.assertIsNone(offer.error)
            self.assertNotIn(offer.name, policy.disabled_drivers)
            if offer.beta:
                self.assertIn(offer.name, policy.enabled_beta_drivers)
            self.assertIn(decision.cluster_type, offer.types)

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS)
    def test_candidates_can_be_chosen(self, offers, policy, request):
        catalog = model.Catalog(offers, policy)
        decision = resolve.resolve(request, catalog)

        for name in decision.refusal.candidates if decision.refusal else ():
            again = resolve.resolve(model.Request(
                request.image, request.server_type, request.coe, name),
                catalog)
            self.assertEqual(name, again.driver)

    @several
    @hypothesis.given(FLEETS, POLICIES, REQUESTS)
    def test_what_is_stored_is_decided_the_same(self, offers, policy,
                                                request):
        catalog = model.Catalog(offers, policy)
        decision = resolve.resolve(request, catalog)
        hypothesis.assume(decision.cluster_type)
        stored = resolve.resolve_stored(
            decision.cluster_type, named(request), catalog)

        self.assertEqual(
            (decision.driver, decision.refusal and decision.refusal.kind),
            (stored.driver, stored.refusal and stored.refusal.kind))


class HostileTest(testtools.TestCase):

    def assert_clean(self, decision, longest):
        for text in texts(decision):
            self.assertTrue(text.isascii() and text.isprintable(),
                            ascii(text))
            self.assertThat(len(text), testtools.matchers.LessThan(longest))

    @several
    @hypothesis.given(NASTY, NASTY, NASTY, st.none() | NASTY, NASTY, NASTY,
                      FLEETS, POLICIES)
    def test_properties_of_images_and_fields_of_templates(
            self, magnum_distro, os_distro, magnum_driver, driver,
            server_type, coe, offers, policy):
        image = model.ImageProperties.of({
            'magnum_distro': magnum_distro, 'os_distro': os_distro,
            'magnum_driver': magnum_driver})

        decision = resolve.resolve(
            model.Request(image, server_type, coe, driver),
            model.Catalog(offers, policy))

        self.assert_clean(decision, 1024)

    @several
    @hypothesis.given(NASTY, st.none() | NASTY, st.lists(
        st.tuples(NASTY, st.lists(NASTY, max_size=3), st.booleans()),
        max_size=4, unique_by=lambda item: item[0]), st.none() | NASTY)
    def test_names_and_types_of_drivers(self, distro, driver, drivers,
                                        default):
        catalog = model.Catalog([
            model.Offer(name, tuple(
                model.ClusterType('vm', os, 'kubernetes') for os in oses),
                beta)
            for name, oses, beta in drivers], model.Policy(default))

        for name in (driver, *(name for name, _, _ in drivers)):
            self.assert_clean(resolve.resolve(model.Request(
                model.ImageProperties.of({'magnum_distro': distro}),
                driver=name), catalog), 4096)

    @a_few
    @hypothesis.given(NASTY)
    def test_the_longest_texts(self, nasty):
        # As many drivers as one likes, and all that can be long is long.
        number = 99
        same = model.ClusterType(nasty, nasty + 'x', nasty)
        catalog = model.Catalog([
            model.Offer(f'{n}{nasty}', (
                same, *(model.ClusterType(f'{m}{nasty}', nasty, nasty)
                        for m in range(n % 2 * 30))), n % 3 == 0)
            for n in range(number)], model.Policy(nasty))

        for name in (None, f'1{nasty}', nasty):
            for server_type in (nasty, 'none'):
                self.assert_clean(resolve.resolve(model.Request(
                    model.ImageProperties(nasty + 'x'), server_type, nasty,
                    name), catalog), 12 * 1024)
