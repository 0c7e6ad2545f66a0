# SPDX-License-Identifier: Apache-2.0

"""Lets hypothesis generate stories from a seed, and shrink one that breaks."""

import contextlib
import time
from unittest import mock

import hypothesis
from hypothesis import errors as hypothesis_errors
from hypothesis.internal.conjecture import engine
from hypothesis import stateful

from magnum_capi import errors
from tests.proofs.soak import stories

#: Maximum number of rules in a story.
LENGTH = 9


class _Enough(BaseException):
    """Time is up. Not an Exception, as hypothesis catches those."""


class _Fails(AssertionError):
    """The story breaks an invariant."""


class Hunt:
    """The stories of one seed.

    :param play: function that plays a story and returns an outcome with
        ``broken`` and ``played``, the number of its steps.
    :param minutes: no story begins after that.
    :param shrinking: minutes for the search for a shorter story.
    :param clock: for tests.
    :ivar outcomes: by story, in the order of playing.
    :ivar broken: the shortest story that breaks, None if there is none.
    :ivar why: what it breaks.
    """

    def __init__(self, play, seed, minutes, shrinking,
                 clock=time.monotonic):
        self._play, self._seed, self._clock = play, seed, clock
        self._minutes, self._shrinking = minutes, shrinking
        self.outcomes = {}
        self.broken, self.why = None, ()
        self._trouble = self._simplest = None

    def run(self):
        """Play stories until one breaks or time is up.

        :raises MagnumCapiError: the last one could not be played.
        """
        self._end = self._clock() + self._minutes * 60
        number = 0
        with contextlib.suppress(_Enough, _Fails,
                                 hypothesis_errors.FlakyFailure):
            while True:
                number += 1
                self._one(self._seed * 1000 + number)
        if self._trouble:
            raise self._trouble

    def _one(self, seed):
        """Play one story, and shorter ones if it breaks.

        hypothesis begins with the simplest story, which is always the same,
        and continues with stories similar to earlier ones; so each story is
        the second one of its own run.
        """
        self._simplest = None
        machine = hypothesis.seed(seed)(lambda: stories.Machine(self._show))
        settings = hypothesis.settings(
            max_examples=2, stateful_step_count=LENGTH, deadline=None,
            database=None, derandomize=False, report_multiple_bugs=False,
            print_blob=False, verbosity=hypothesis.Verbosity.quiet,
            phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
            suppress_health_check=list(hypothesis.HealthCheck))
        with mock.patch.object(engine, 'MAX_SHRINKING_SECONDS',
                               self._shrinking * 60):
            stateful.run_state_machine_as_test(machine, settings=settings)

    def _show(self, story):
        self._simplest = self._simplest or story
        if story == self._simplest:
            return
        if story not in self.outcomes:
            if self._clock() >= self._end:
                raise _Enough
            self._try(story)
        if self.outcomes[story].broken:
            raise _Fails

    def _try(self, story):
        try:
            outcome = self.outcomes[story] = self._play(story)
        except errors.MagnumCapiError as e:
            self._trouble = e
            raise _Enough from e
        except SystemExit as e:
            # From SIGTERM; hypothesis would take it for a failure.
            raise KeyboardInterrupt from e
        if not outcome.broken:
            return
        if self.broken is None:
            self._end = self._clock() + self._shrinking * 60
        # The steps after the break were not played.
        short = story[:outcome.played]
        if self.broken is None or len(short) <= len(self.broken):
            self.broken, self.why = short, outcome.broken
