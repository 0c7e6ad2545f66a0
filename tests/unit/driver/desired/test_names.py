# SPDX-License-Identifier: Apache-2.0

"""Names are one to one, short enough, and Kubernetes takes them."""

import re
import uuid

import hypothesis
from hypothesis import strategies
import testtools

from magnum_capi.driver.desired import names

PROPERTY = hypothesis.settings(
    derandomize=True, database=None, deadline=None, max_examples=100)
UUIDS = strategies.uuids(version=None)
#: What the charts check, and what a DNS label is.
CHART_NAME = re.compile(r'[a-z][a-z0-9-]+[a-z0-9]').fullmatch
DNS_LABEL = re.compile(r'[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?').fullmatch
LOWEST, HIGHEST = uuid.UUID(int=0), uuid.UUID(int=2 ** 128 - 1)


class TestNames(testtools.TestCase):

    def test_names_are_those_of_the_contract(self):
        self.assertEqual('c' + '0' * 32, names.cluster(LOWEST))
        self.assertEqual('g' + '0' * 25, names.node_group(LOWEST))
        self.assertEqual('c' + 'f' * 32, names.cluster(HIGHEST))
        self.assertEqual('gf5lxx1zz5pnorynqglhzmsp33',
                         names.node_group(HIGHEST))
        self.assertEqual(
            ['c0-control-plane', 'c0-g0', 'c0-cloud-credentials', 'c0-ca'],
            [names.control_plane('c0'), names.machine_deployment('c0', 'g0'),
             names.credentials('c0'), names.certificate('c0', 'ca')])

    @PROPERTY
    @hypothesis.given(UUIDS)
    def test_a_clusters_name_leads_back_to_its_uuid(self, value):
        self.assertEqual(value.hex, names.cluster(value).removeprefix('c'))

    @hypothesis.example(LOWEST)
    @hypothesis.example(HIGHEST)
    @PROPERTY
    @hypothesis.given(UUIDS)
    def test_a_node_groups_name_leads_back_to_its_uuid(self, value):
        self.assertEqual(
            value.int, int(names.node_group(value).removeprefix('g'), 36))

    @PROPERTY
    @hypothesis.given(UUIDS, UUIDS)
    def test_names_suit_kubernetes_and_the_charts(self, cluster, group):
        # B.4.1, B.4.2: dashes that a chart and a driver treat differently,
        # names that are too short, too long or not allowed.
        release = names.cluster(cluster)
        joined = names.machine_deployment(release, names.node_group(group))

        self.assertEqual(33 + 1 + 26, len(joined))
        self.assertEqual(1, joined.count('-'))
        for name in (release, joined, names.control_plane(release),
                     names.credentials(release),
                     names.certificate(release, 'proxy')):
            self.assertTrue(DNS_LABEL(name), name)
        self.assertTrue(CHART_NAME(names.node_group(group)))

    def test_a_uuid_may_be_text_in_any_form(self):
        for form in (str(HIGHEST), HIGHEST.hex, str(HIGHEST).upper()):
            self.assertEqual(names.cluster(HIGHEST), names.cluster(form))
        self.assertRaises(ValueError, names.cluster, 'my-cluster')
        self.assertRaises(ValueError, names.node_group, '')


class TestNamespaces(testtools.TestCase):

    def test_ids_that_kubernetes_would_not_take_stay_apart(self):
        # B.4, before 1: to delete characters puts these into one namespace.
        ids = ('A_b', 'a-b', 'ab', 'a b', '-ab', 'ab-', 'a' * 64, 'é')
        found = [names.namespace(project) for project in ids]

        self.assertEqual(len(ids), len(set(found)))
        self.assertEqual([], [n for n in found if not DNS_LABEL(n)])

    def test_nobody_can_name_a_project_like_the_digits_of_another(self):
        other = names.namespace('A_b').removeprefix('magnum-')

        self.assertNotEqual(names.namespace('A_b'), names.namespace(other))

    @PROPERTY
    @hypothesis.given(strategies.text(min_size=1, max_size=70),
                      strategies.from_regex(r'\A[a-z]{1,30}\Z'))
    def test_every_namespace_suits_kubernetes(self, project, prefix):
        self.assertTrue(DNS_LABEL(names.namespace(project, prefix)))

    def test_the_longest_that_stays_readable(self):
        for prefix, longest in (('magnum', 56), ('a' * 30, 32)):
            self.assertEqual(f'{prefix}-{"b" * longest}',
                             names.namespace('b' * longest, prefix))
            self.assertIn(f'{prefix}-h-', names.namespace(
                'b' * (longest + 1), prefix))

    def test_a_prefix_that_does_not_fit_is_refused(self):
        for prefix in ('', '-a', 'Magnum', 'a' * 31):
            self.assertRaises(ValueError, names.namespace, 'ab', prefix)
        self.assertRaises(ValueError, names.namespace, '')


class TestMarks(testtools.TestCase):

    def marks(self, **changes):
        given = {'uuid': str(HIGHEST), 'name': 'dev', 'project_id': 'p1',
                 'user_id': 'u1', **changes}
        return names.cluster_marks(**given)

    def test_an_ldap_user_is_an_annotation(self):
        marks = self.marks(user_id='f' * 64)

        self.assertEqual({names.USER_ID: 'f' * 64}, marks.annotations)
        self.assertNotIn(names.USER_ID, marks.labels)

    @PROPERTY
    @hypothesis.given(strategies.text(min_size=1))
    def test_every_name_is_kept_as_it_is_in_one_of_both(self, name):
        marks = self.marks(name=name)

        self.assertEqual(
            [name], [m[names.CLUSTER_NAME] for m in (
                marks.labels, marks.annotations) if names.CLUSTER_NAME in m])
        for value in marks.labels.values():
            self.assertTrue(re.fullmatch(
                r'[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?', value,
                re.ASCII))
