# SPDX-License-Identifier: Apache-2.0

"""The soak: parts with a seed each, and stories from files."""

import dataclasses
import json
import os
import pathlib

import testscenarios
from testtools import content

from tests import proofs
from tests.proofs import case
from tests.proofs.soak import box as box_module
from tests.proofs.soak import hunt
from tests.proofs.soak import stories
from tests.proofs.soak import world as world_module

load_tests = testscenarios.load_tests_apply_scenarios

#: Minutes of a part, in which its stories begin.
PART = 5

#: Maximum minutes for the search for a shorter story that breaks.
SHRINKING = 30


def parts():
    """Scenarios: a seed each, or a story.

    :raises ValueError: the time is too short.
    :raises OSError: a story cannot be read.
    """
    paths = proofs.setting('STORY')
    if paths:
        return [(f'story-{path.stem}', {
            'name': f'story {path.stem}',
            'story': stories.parse(path.read_text())})
            for path in map(pathlib.Path, paths.split(os.pathsep))]
    minutes = int(proofs.setting('MINUTES', '10'))
    if minutes < PART:
        raise ValueError(f'{proofs.PREFIX}MINUTES is {PART} or more')
    first = int(proofs.setting('SEED', '1'))
    return [(f'seed-{seed}', {'name': f'seed {seed}', 'seed': seed})
            for seed in range(first, first + minutes // PART)]


class SoakTest(case.ProofTest):
    """What is there once things are quiet is as a model says."""

    kind = box_module.Box
    columns = ('Part', 'Stories', 'Requests', 'Accepted', 'Faults', 'Judged',
               'Minutes', 'Verdict')
    scenarios = parts()
    story = None

    def test_nothing_breaks(self):
        say = self.box.progress.info
        world = world_module.World(self.box, say=say)
        number = 0

        def play(story):
            nonlocal number
            number += 1
            say(f'{self.name}, story {number}')
            return world.play(story)

        try:
            if self.story:
                outcome = play(self.story)
                found = {self.story: outcome}
                story, why = self.story[:outcome.played], outcome.broken
            else:
                hunting = hunt.Hunt(play, self.seed, PART, SHRINKING)
                hunting.run()
                found = hunting.outcomes
                story, why = hunting.broken or (), hunting.why
        finally:
            world.close()
        self._judge(found, why, story)

    def _judge(self, found, broken, story):
        its = found.values()
        self.addDetail('stories', content.text_content(json.dumps([
            {'steps': list(map(str, steps)), **dataclasses.asdict(outcome)}
            for steps, outcome in found.items()], indent=1)))

        def total(what):
            return sum(getattr(outcome, what) for outcome in its)

        faults = sum(sum(outcome.faults.values()) for outcome in its)
        lines = [f'Clocks: {box_module.AHEAD} s apart' if self.box.clock
                 else 'Clocks: not apart, there is no C compiler']
        if broken:
            lines += [*broken, 'The story:', *map(str, story)]
        self.judge(not broken, (
            self.name, str(len(its)), str(total('requests')),
            str(total('accepted')), str(faults), str(total('judged')),
            f'{total("seconds") / 60:.1f}', 'broken' if broken else 'kept'),
            '\n'.join(lines))
