# SPDX-License-Identifier: Apache-2.0

"""Compares ``unmodified`` with the behaviour of the real Magnum releases.

Each release's own code runs in its environment, with drivers in folders that
look like installed distributions; Glance and the database are replaced.
"""

import functools
import json
import pathlib
import subprocess
import tempfile

import testtools

from magnum_capi.discovery import model
from magnum_capi.discovery import unmodified
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases

#: The first release with [drivers]default_driver.
_NEWEST = 23

_ORACLE = pathlib.Path(__file__).with_name('oracle.py')

A, B, C = 'a_drv', 'b_drv', 'c_drv'
UBUNTU = model.ClusterType('vm', 'ubuntu', 'kubernetes')
FLATCAR = model.ClusterType('vm', 'flatcar', 'kubernetes')
OTHER = model.ClusterType('vm', 'nobody', 'kubernetes')
TYPES = (UBUNTU, FLATCAR, OTHER)

_OFFERS = {
    'one': (model.Offer(B, (UBUNTU,)),),
    'two': (model.Offer(B, (UBUNTU,)), model.Offer(A, (UBUNTU,))),
    'two, reversed': (model.Offer(A, (UBUNTU,)), model.Offer(B, (UBUNTU,))),
    'first does not provide': (
        model.Offer(A, (FLATCAR,)), model.Offer(B, (UBUNTU,))),
    'beta last': (model.Offer(B, (UBUNTU, FLATCAR)),
                  model.Offer(C, (UBUNTU,), beta=True)),
    'beta first': (model.Offer(A, (UBUNTU,), beta=True),
                   model.Offer(B, (UBUNTU,))),
    'three': (model.Offer(C, (UBUNTU,)), model.Offer(A, (FLATCAR, UBUNTU)),
              model.Offer(B, (FLATCAR,))),
}
_POLICIES = {
    'plain': model.Policy(),
    'default b': model.Policy(default_driver=B),
    'default unknown': model.Policy(default_driver='unknown'),
    'default disabled': model.Policy(B, frozenset({B})),
    'a disabled': model.Policy(disabled_drivers=frozenset({A})),
    'all disabled': model.Policy(disabled_drivers=frozenset({A, B, C})),
    'beta enabled': model.Policy(enabled_beta_drivers=frozenset({A, C})),
}

_POISONED = (model.Offer(A, (FLATCAR,)),
             model.Offer(B, error='import: ModuleNotFoundError'),
             model.Offer(C, (UBUNTU,)))


@functools.cache
def catalogs(version):
    """All cases, then one with a broken driver, and its cure."""
    poisoned = model.Catalog(_POISONED)
    return (*(model.Catalog(offers, policy)
              for offers in _OFFERS.values()
              for policy in _POLICIES.values()
              # Earlier releases do not have the option.
              if version == _NEWEST or not policy.default_driver),
            poisoned, unmodified.without_broken(poisoned))


class Answers:
    """All tests for one release."""

    def setUp(self):
        super().setUp()
        *self.cases, self.poisoned, self.cured = catalogs(self.release.version)
        self.real = real(self.release)

    def test_the_same_answers(self):
        for catalog, answers in zip(self.cases, self.real):
            self.assertEqual(self.expected(catalog), answers,
                             (catalog.offers, catalog.policy))

    def test_poison(self):
        """A broken driver: first an error, then a part of the map."""
        found = self.real[-2]
        self.assertEqual((B,), unmodified.fatal_drivers(self.poisoned))
        self.assertEqual('ModuleNotFoundError', found['first'])
        self.assertEqual({'|'.join(FLATCAR): A}, found['map'])

    def test_poison_is_cured(self):
        self.assertEqual(self.expected(self.cured), self.real[-1])

    def expected(self, catalog):
        return expected(catalog, self.release.version)


class Magnum20Test(Answers, testtools.TestCase):
    release = releases.get('20')


class Magnum21Test(Answers, testtools.TestCase):
    release = releases.get('21')


class Magnum22Test(Answers, testtools.TestCase):
    release = releases.get('22')


class Magnum23Test(Answers, testtools.TestCase):
    release = releases.get('23')


@functools.cache
def real(release):
    """Answers of the real Magnum to all cases, from one process."""
    python = environment.ensure(progress.Progress(), release) / 'bin/python'
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [python, '-W', 'ignore', _ORACLE, folder],
            input=json.dumps(list(map(_case, catalogs(release.version)))),
            capture_output=True, text=True, timeout=600)
    if ended.returncode:
        raise AssertionError(ended.stderr)
    return json.loads(ended.stdout)


def _case(catalog):
    return {
        'drivers': [[o.name, [list(t) for t in o.types], o.beta,
                     o.error is not None] for o in catalog.offers],
        'default': catalog.policy.default_driver,
        'disabled': sorted(catalog.policy.disabled_drivers),
        'enabled': sorted(catalog.policy.enabled_beta_drivers),
        'types': TYPES,
        'names': [A, B, C, 'unknown']}


def expected(catalog, version):
    """The answers of unmodified, in the oracle's format."""
    default = {'default': _driver(unmodified.default_driver(catalog))} \
        if version == _NEWEST else {}
    return default | {
        'first': None,
        'map': {'|'.join(t): name
                for t, name in unmodified.type_map(catalog).items()},
        'named': [_driver(unmodified.get_driver(catalog, OTHER, name))
                  for name in (A, B, C, 'unknown')],
        'clusters': [_driver(unmodified.get_driver(catalog, t))
                     for t in TYPES],
    }


def _driver(answer):
    return answer.driver if answer.accepted else 'refused'
