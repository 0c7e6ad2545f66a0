# SPDX-License-Identifier: Apache-2.0

"""Upgrades that cannot work are refused before anything is changed."""

import dataclasses

import testtools

from magnum_capi.driver.desired import upgrade
from tests.unit.driver import objects


def image(kube_version='v1.35.0', status='active'):
    return upgrade.Image('image-1', status, kube_version)


PRESENT = upgrade.Template(
    'k8s_capi_v1', image('v1.34.2'),
    network_driver='calico', external_network_id='public')
TARGET = dataclasses.replace(PRESENT, image=image())


class RefusalsTest(testtools.TestCase):

    def refusals(self, running='v1.34.2', groups=(), present=PRESENT,
                 **changes):
        # Rows of two templates share no text.
        return upgrade.refusals(
            present, objects.as_read(dataclasses.replace(TARGET, **changes)),
            running, groups)

    def to(self, kube_version, running='v1.34.2'):
        return self.refusals(running, image=image(kube_version))

    def test_the_next_minor_is_fine(self):
        self.assertEqual([], self.refusals())

    def test_so_are_the_same_version_and_a_patch(self):
        for version in ('v1.34.2', '1.34.2', 'v1.34.3', 'v1.35.0-rc.1'):
            self.assertEqual([], self.to(version), version)

    def test_no_downgrade(self):
        for version in ('v1.34.1', 'v1.33.9', 'v1.34.2-rc.1'):
            found, = self.to(version)
            self.assertIn('cannot be downgraded', found)

    def test_at_most_one_minor(self):
        for running, version, first in (
                ('v1.34.2', 'v1.36.0', '1.35'), ('v1.34.2', 'v2.0.0', '1.35'),
                ('v1.35.0', 'v1.37.0', '1.36'), ('v1.2.0', 'v1.4.0', '1.3')):
            found, = self.to(version, running)
            self.assertIn(f'upgrade to {first} first', found)

    def test_what_runs_counts_not_what_the_old_template_says(self):
        self.assertEqual([], self.to('v1.36.0', running='v1.35.1'))

    def test_the_old_template_counts_when_nothing_is_known(self):
        self.assertEqual(1, len(self.to('v1.36.0', running=None)))

    def test_another_driver(self):
        # Magnum hands a living cluster to any driver.
        found, = self.refusals(driver='k8s_capi_helm_v1')

        self.assertIn('driver cannot change from "k8s_capi_v1" to '
                      '"k8s_capi_helm_v1"', found)

    def test_no_driver_named_is_another_too(self):
        self.assertEqual(1, len(self.refusals(driver=None)))

    def test_each_field_that_cannot_change(self):
        for field in upgrade.FIXED:
            found = self.refusals(**{field: 'other'})
            self.assertEqual(1, len(found), field)
            self.assertIn(f'{field} cannot change', found[0])

    def test_an_image_that_is_gone(self):
        # B.4.16
        found, = self.refusals(image=image(None, status=None))

        self.assertIn('image-1 of the template does not exist', found)

    def test_an_image_that_is_not_ready(self):
        for status in ('queued', 'saving', 'deactivated', 'killed'):
            found, = self.refusals(image=image(status=status))
            self.assertIn(f'is {status}, not active', found)

    def test_an_image_without_a_version(self):
        # B.4.16
        found, = self.refusals(image=image(None))

        self.assertIn('no property kube_version', found)

    def test_a_version_that_is_none(self):
        found, = self.refusals(image=image('latest'))

        self.assertIn("'latest'", found)

    def test_a_tag_that_is_not_the_image_s(self):
        found, = self.refusals(kube_tag='v1.35.1')

        self.assertIn('v1.35.1', found)
        self.assertIn('v1.35.0', found)
        self.assertEqual([], self.refusals(kube_tag='1.35.0'))
        for tag in ('v1.34.9', 'latest'):
            self.assertEqual(1, len(self.refusals(kube_tag=tag)), tag)

    def test_a_tag_that_is_none_is_compared_as_a_text(self):
        for tag, count in (('latest', 1), ('lates', 2), ('main', 2)):
            found = self.refusals(
                kube_tag=tag, image=image('latest'))
            self.assertEqual(count, len(found), found)

    def test_a_running_version_that_is_none_is_told(self):
        found, = self.refusals(running='unknown')

        self.assertIn("version of the cluster: 'unknown'", found)

    def test_all_that_is_wrong_is_told_at_once(self):
        found = self.refusals(driver='x', network_driver='cilium',
                              image=image('v1.33.0', status='queued'))

        self.assertEqual(4, len(found))

    def test_a_pinned_group_that_would_be_left_behind(self):
        group = upgrade.Group('pool', 'v1.31.0', pinned=True)

        found, = self.refusals(groups=(group,))

        self.assertIn('node group pool', found)

    def test_a_group_that_is_upgraded_too_is_not_asked(self):
        group = upgrade.Group('pool', 'v1.31.0')

        self.assertEqual([], self.refusals(groups=(group,)))


class SkewTest(testtools.TestCase):

    def test_workers_may_be_three_minors_older(self):
        self.assertEqual('', upgrade.skew('v1.35.0', 'v1.32.9'))
        self.assertIn('more than 3', upgrade.skew('v1.35.0', 'v1.31.9'))

    def test_before_1_28_only_two(self):
        self.assertEqual('', upgrade.skew('v1.29.0', 'v1.27.0'))
        self.assertIn('more than 2', upgrade.skew('v1.30.0', 'v1.27.0'))
        self.assertEqual('', upgrade.skew('v1.31.0', 'v1.28.0'))
        self.assertIn('more than 3', upgrade.skew('v1.32.0', 'v1.28.0'))

    def test_the_same_version_and_far_older_ones(self):
        self.assertEqual('', upgrade.skew('v1.34.2', 'v1.34.2'))
        # A whole multiple older.
        self.assertIn('more than 2', upgrade.skew('v1.34.0', 'v1.17.0'))

    def test_another_major_version(self):
        for plane, workers in (('v2.1.0', 'v1.1.0'), ('v1.1.0', 'v2.1.0')):
            self.assertIn('different major', upgrade.skew(plane, workers))

    def test_workers_are_never_newer(self):
        for newer in ('v1.34.3', 'v1.35.0'):
            self.assertIn('newer', upgrade.skew('v1.34.2', newer))

    def test_a_version_that_is_none_is_told(self):
        self.assertIn('latest', upgrade.skew('v1.34.2', 'latest'))
