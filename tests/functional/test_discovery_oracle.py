# SPDX-License-Identifier: Apache-2.0

"""Is magnum23 what Magnum 23 does? The real one answers the same questions.

Its own code runs in the cloud's Python, with drivers in folders that look
like installed distributions; only Glance and the database are replaced.
"""

import functools
import json
import pathlib
import subprocess
import tempfile

import testtools

from magnum_capi.discovery import magnum23
from magnum_capi.discovery import model
from magnum_capi import progress
from magnum_capi_tempest.sandbox import environment

_ORACLE = pathlib.Path(__file__).with_name('discovery_oracle.py')

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
#: (properties of the image, driver, cluster_distro) of templates.
_TEMPLATES = (
    ({'os_distro': 'ubuntu'}, None, None),
    ({'os_distro': 'flatcar'}, None, None),
    ({'os_distro': 'nobody'}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': A}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': B}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': f' {B} '}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': ''}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': 'unknown'}, None, None),
    ({'os_distro': 'ubuntu', 'magnum_driver': A}, B, None),
    ({'os_distro': 'ubuntu'}, C, None),
    ({'os_distro': 'ubuntu'}, f'{B} ', None),
    ({'os_distro': 'ubuntu'}, B, 'flatcar'),
    ({'os_distro': 'ubuntu'}, None, 'nobody'),
    ({'os_distro': 'fedora', 'magnum_distro': 'ubuntu'}, None, None),
    ({'magnum_distro': 'ubuntu'}, B, None),
    ({'magnum_distro': 'ubuntu'}, B, 'ubuntu'),
    ({'os_distro': ' '}, None, None),
    ({}, None, None),
)


_CATALOGS = tuple(model.Catalog(offers, policy)
                  for offers in _OFFERS.values()
                  for policy in _POLICIES.values())
_POISONED = model.Catalog((
    model.Offer(A, (FLATCAR,)),
    model.Offer(B, error='import: ModuleNotFoundError'),
    model.Offer(C, (UBUNTU,))))
_CURED = magnum23.without_broken(_POISONED)


class OracleTest(testtools.TestCase):

    def test_the_same_answers(self):
        answers = real()
        for catalog in _CATALOGS:
            self.assertEqual(expected(catalog), answers[catalog],
                             (catalog.offers, catalog.policy))

    def test_poison(self):
        """A broken driver: an error first, then a part of the map."""
        found = real()[_POISONED]
        self.assertEqual((B,), magnum23.poisoned_by(_POISONED))
        self.assertEqual('ModuleNotFoundError', found['first'])
        self.assertEqual({'|'.join(FLATCAR): A}, found['map'])

    def test_poison_is_cured(self):
        self.assertEqual(expected(_CURED), real()[_CURED])


@functools.cache
def real():
    """{catalog: answers of the real Magnum}; one process for all of them."""
    catalogs = (*_CATALOGS, _POISONED, _CURED)
    python = environment.ensure(progress.Progress()) / 'bin/python'
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [python, '-W', 'ignore', _ORACLE, folder],
            input=json.dumps(list(map(_case, catalogs))),
            capture_output=True, text=True, timeout=600)
    if ended.returncode:
        raise AssertionError(ended.stderr)
    return dict(zip(catalogs, json.loads(ended.stdout), strict=True))


def _case(catalog):
    return {
        'drivers': [[o.name, [list(t) for t in o.types], o.beta,
                     o.error is not None] for o in catalog.offers],
        'default': catalog.policy.default_driver,
        'disabled': sorted(catalog.policy.disabled_drivers),
        'enabled': sorted(catalog.policy.enabled_beta_drivers),
        'types': TYPES, 'templates': _TEMPLATES,
        'names': [A, B, C, 'unknown']}


def expected(catalog):
    """What magnum23 says, in the words of the oracle."""
    templates = []
    for properties, driver, distro in _TEMPLATES:
        a = magnum23.create_template(catalog, properties, driver=driver,
                                     distro=distro)
        templates.append([a.driver, a.distro] if a.accepted
                         else _refused(a))
    default = magnum23.default_driver(catalog)
    return {
        'first': None,
        'map': {'|'.join(t): name
                for t, name in magnum23.type_map(catalog).items()},
        'default': _driver(default),
        'named': [_driver(magnum23.get_driver(catalog, OTHER, name))
                  for name in (A, B, C, 'unknown')],
        'templates': templates,
        'clusters': [_driver(magnum23.create_cluster(catalog, t))
                     for t in TYPES],
    }


def _driver(answer):
    return answer.driver if answer.accepted else _refused(answer)


def _refused(answer):
    return f'refused: {answer.status}'
