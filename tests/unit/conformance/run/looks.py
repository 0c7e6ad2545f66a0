# SPDX-License-Identifier: Apache-2.0

"""Looks at a run as tests make them up, and a watch that is given them."""

import testtools

from magnum_capi_tempest.conformance.run import completion
from magnum_capi_tempest.conformance.run import sonobuoy
from magnum_capi_tempest.conformance.run import watch

LIMITS = completion.Limits(deadline=3600, stall=600, silence=900, stuck=300,
                           gone=60)
TARBALL = sonobuoy.Tarball('x.tar.gz', 'ab', 1)
AGGREGATOR = watch.Pod('sonobuoy', '', 'Running')
TESTS = watch.Pod('e2e-job', 'e2e', 'Running')
NODES = frozenset(('n1', 'n2'))


def status(word='running', total=0, passed=0, failed=0, tarball=None):
    return sonobuoy.Status(
        word, (sonobuoy.Plugin('e2e', 'global', 'running', '', total, passed,
                               failed),), tarball or sonobuoy.Tarball())


def seen(at, **kwargs):
    return watch.Observation(at, **{
        'status': status(), 'pods': (AGGREGATOR, TESTS), 'nodes': NODES,
        **kwargs})


class TestCase(testtools.TestCase):

    def play(self, *observations, limits=LIMITS):
        state = watch.start(0.0, NODES)
        self.notes = []
        for one in observations:
            self.assertEqual('', state.outcome)
            state = watch.step(state, one, limits)
            self.notes += state.notes
        return state
