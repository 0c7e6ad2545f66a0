# SPDX-License-Identifier: Apache-2.0

"""A list of who may reach an API: refused, or in a part of an object."""

import contextlib
import types
import unittest

import fixtures
import testtools

from magnum_capi import errors
from magnum_capi_tempest.tests.common.management import requested
from magnum_capi_tempest.tests.common import observations
from magnum_capi_tempest.tests.driver import test_cluster_wishes as wishes


def look(found=None, reason=None):
    return requested.Look(observations.Observation(
        {'stack_id': 's', 'status_reason': reason}), found)


class RequestTest(testtools.TestCase):

    def request(self, result):
        """What is made of the result of a wait."""
        def until_there(*args):
            if isinstance(result, Exception):
                raise result
            return result

        self.useFixture(fixtures.MonkeyPatch(
            f'{requested.__name__}.until_there', until_there))

        self.useFixture(fixtures.MonkeyPatch(
            f'{wishes.__name__}.base.management_cluster', lambda path: None))

        class Wished(wishes.ApiServerTest):
            create_class_template = classmethod(lambda cls, **changes: {})
            request_class_cluster = classmethod(lambda cls, template: 'u')
            new_waiter = classmethod(lambda cls: types.SimpleNamespace())
            explained = classmethod(
                lambda cls, clusters: contextlib.nullcontext())

        return wishes.request(Wished)

    def test_its_object_is_there(self):
        self.assertEqual(('', 's', {'spec': {}}),
                         self.request(look({'spec': {}})))

    def test_refused_for_the_label(self):
        found = self.request(errors.WaitAborted('w', state=look(
            reason='api_master_lb_allowed_cidrs: not with ovn')))

        self.assertIn('not with ovn', found.refused)

    def test_failed_for_another_reason(self):
        self.assertRaises(errors.WaitAborted, self.request, errors.WaitAborted(
            'w', state=look(reason='no flavor')))

    def test_complete_without_one(self):
        self.assertRaises(unittest.SkipTest, self.request, look())


class AllowedTest(testtools.TestCase):

    def test_who_may_pass(self):
        for part, found in (
                (None, []), ({}, []), ({'apiServerLoadBalancer': None}, []),
                ({'apiServerLoadBalancer': {'allowedCIDRs': ['a']}}, ['a'])):
            self.assertEqual(found, wishes.allowed(part))
