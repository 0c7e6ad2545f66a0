# SPDX-License-Identifier: Apache-2.0

"""The model, for about a minute; longer with MAGNUM_CAPI_MODEL.

``MAGNUM_CAPI_MODEL=examples=2000,steps=40,seed=7`` plays that many stories of
that many steps, another set for each seed; ``seed=random`` chooses one, and
prints it. ``minutes=120`` goes on with random seeds for so long. ``shrink=no``
leaves a story that fails as it is.
"""

import os
import random
import time

import hypothesis
from hypothesis import database
from hypothesis import stateful
import testtools

from tests.unit.driver.model import machine
from tests.unit.driver.model import world

#: Stories and steps where nothing else is asked for.
EXAMPLES, STEPS = 12, 16


class ModelTest(testtools.TestCase):

    def test_stories(self):
        asked = dict(
            one.split('=') for one in os.environ.get(
                'MAGNUM_CAPI_MODEL', '').split(',') if one)
        if 'minutes' in asked:
            asked['seed'] = 'random'
        end = time.monotonic() + 60 * float(asked.get('minutes', 0))
        self._play(asked)
        while time.monotonic() < end:
            self._play(asked)

    def _play(self, asked):
        seed = asked.get('seed')
        if seed == 'random':
            seed = random.SystemRandom().randrange(10 ** 9)
        settings = hypothesis.settings(
            max_examples=int(asked.get('examples', EXAMPLES)),
            stateful_step_count=int(asked.get('steps', STEPS)),
            derandomize=seed is None, deadline=None,
            database=database.InMemoryExampleDatabase()
            if seed is not None else None,
            suppress_health_check=list(hypothesis.HealthCheck),
            phases=[phase for phase in hypothesis.Phase
                    if phase is not hypothesis.Phase.explain and (
                        phase is not hypothesis.Phase.shrink
                        or asked.get('shrink', 'yes') == 'yes')],
            print_blob=False, report_multiple_bugs=False)
        with world.Estate() as estate:
            played = type('Model', (machine.Model,), {'estate': estate})
            if seed is not None:
                print(f'seed={seed}')
                played = hypothesis.seed(int(seed))(played)
            stateful.run_state_machine_as_test(played, settings=settings)
