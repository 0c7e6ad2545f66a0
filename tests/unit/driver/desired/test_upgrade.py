# SPDX-License-Identifier: Apache-2.0

"""Upgrades that cannot work are refused before anything is changed."""

import types

import testtools

from magnum_capi.driver.desired import upgrade
from tests.unit.driver import objects


ROW = types.SimpleNamespace(
    coe='kubernetes', server_type='vm', network_driver='calico',
    external_network_id='public', fixed_network=None, fixed_subnet=None,
    tls_disabled=False, labels={}, image_id='image-1')
PRESENT = upgrade.Template(ROW, 'k8s_capi_v1', 'v1.34.2')


class RefusalsTest(testtools.TestCase):

    def refusals(self, running='v1.34.2', pinned=None, *, driver='k8s_capi_v1',
                 kube_version='v1.35.0', problem='', **row):
        # Rows of two templates share no text.
        return upgrade.refusals(PRESENT, upgrade.Template(
            types.SimpleNamespace(**objects.as_read({**vars(ROW), **row})),
            driver, kube_version, problem), running, pinned or {})

    def to(self, kube_version, running='v1.34.2'):
        return self.refusals(running, kube_version=kube_version)

    def test_a_patch_and_the_next_minor_are_fine(self):
        for version in ('v1.34.2', '1.34.2', 'v1.34.3', 'v1.35.0-rc.1',
                        'v1.35.0'):
            self.assertEqual([], self.to(version), version)
        # What runs counts, not what the old template says.
        self.assertEqual([], self.to('v1.36.0', running='v1.35.1'))

    def test_other_versions(self):
        for running, version, words in (
                *(('v1.34.2', version, 'cannot be downgraded')
                  for version in ('v1.34.1', 'v1.33.9', 'v1.34.2-rc.1')),
                ('v1.34.2', 'v1.36.0', 'upgrade to 1.35 first'),
                ('v1.34.2', 'v2.0.0', 'upgrade to 1.35 first'),
                ('v1.35.0', 'v1.37.0', 'upgrade to 1.36 first'),
                ('v1.2.0', 'v1.4.0', 'upgrade to 1.3 first'),
                # The old template counts when nothing is known.
                (None, 'v1.36.0', 'upgrade to 1.35 first'),
                ('v1.34.2', 'latest', "'latest'"),
                ('unknown', 'v1.35.0', "version of the cluster: 'unknown'"),
                # B.4.16
                ('v1.34.2', None, 'no property kube_version')):
            found, = self.to(version, running)
            self.assertIn(words, found)

    def test_each_field_that_cannot_change(self):
        for field in upgrade.FIXED:
            found, = self.refusals(**{field: 'other'})
            self.assertIn(f'{field} cannot change', found)
        # Magnum hands a living cluster to any driver.
        for driver, shown in (('k8s_capi_helm_v1', '"k8s_capi_helm_v1"'),
                              (None, 'nothing')):
            found, = self.refusals(driver=driver)
            self.assertIn(f'from "k8s_capi_v1" to {shown}', found)

    def test_an_image_that_cannot_be_used(self):
        # B.4.16
        found, = self.refusals(
            kube_version=None, problem='There is no image x')
        self.assertIn('the template: There is no image x', found)

    def test_a_tag_that_is_not_the_image_s(self):
        found, = self.refusals(labels={'kube_tag': 'v1.35.1'})

        self.assertIn('v1.35.1', found)
        self.assertIn('v1.35.0', found)
        self.assertEqual([], self.refusals(labels={'kube_tag': '1.35.0'}))
        # One that is no version is compared as a text.
        for tag, version, count in (
                ('v1.34.9', 'v1.35.0', 1), ('latest', 'v1.35.0', 1),
                ('latest', 'latest', 1), ('lates', 'latest', 2),
                ('main', 'latest', 2)):
            found = self.refusals(
                labels={'kube_tag': tag}, kube_version=version)
            self.assertEqual(count, len(found), found)


class SkewTest(testtools.TestCase):

    def test_workers_may_be_three_minors_older(self):
        for plane, workers, words in (
                ('v1.34.2', 'v1.34.2', ''), ('v1.35.0', 'v1.32.9', ''),
                ('v1.35.0', 'v1.31.9', 'more than 3'),
                # Before 1.28 only two.
                ('v1.29.0', 'v1.27.0', ''),
                ('v1.30.0', 'v1.27.0', 'more than 2'),
                ('v1.31.0', 'v1.28.0', ''),
                ('v1.32.0', 'v1.28.0', 'more than 3'),
                # A whole multiple older.
                ('v1.34.0', 'v1.17.0', 'more than 2'),
                ('v2.1.0', 'v1.1.0', 'different major'),
                ('v1.1.0', 'v2.1.0', 'different major'),
                ('v1.34.2', 'v1.34.3', 'newer'),
                ('v1.34.2', 'v1.35.0', 'newer'),
                ('v1.34.2', 'latest', 'latest')):
            found = upgrade.skew(plane, workers)
            self.assertEqual(bool(words), bool(found), (plane, workers))
            self.assertIn(words, found)
