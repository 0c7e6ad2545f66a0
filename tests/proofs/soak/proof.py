# SPDX-License-Identifier: Apache-2.0

"""The soak: parts with a seed each, and stories from files."""

import dataclasses
import pathlib

from magnum_capi import errors
from tests.proofs import proof
from tests.proofs.soak import box as box_module
from tests.proofs.soak import hunt
from tests.proofs.soak import stories
from tests.proofs.soak import world as world_module

#: Minutes of a part, in which its stories begin.
PART = 5

#: Maximum minutes for the search for a shorter story that breaks.
SHRINKING = 30


class Soak(proof.Proof):
    name = 'soak'
    summary = ('Have several users and faults at three conductors, by stories '
               'that hypothesis makes, and judge by a model what is there '
               'once things are quiet.')
    columns = ('Part', 'Stories', 'Requests', 'Accepted', 'Faults', 'Judged',
               'Minutes', 'Verdict')
    key = ('Part',)
    compared = ('Verdict',)
    docs = proof.DOCS / 'driver-soak.csv'
    port_base = 36000

    def add_options(self, parser):
        parser.set_defaults(profile='full')
        parser.add_argument(
            '--minutes', type=int, default=10, metavar='N',
            help=f'how long, in parts of {PART} (default: 10)')
        parser.add_argument('--seed', type=int, default=1, metavar='N',
                            help='of the first part; each part has the next '
                            'one (default: 1)')
        parser.add_argument('--shrink', type=int, default=SHRINKING,
                            metavar='N', help='minutes for a shorter story '
                            f'once one breaks (default: {SHRINKING})')
        parser.add_argument(
            '--story', type=pathlib.Path, action='append', default=[],
            metavar='FILE', help='play this story, and no others')

    def cases(self, args):
        if args.story:
            return [proof.Case(f'story {path.stem}', data=stories.parse(
                _text(path))) for path in args.story]
        if args.minutes < PART:
            raise errors.UsageError(f'--minutes is {PART} or more')
        return [proof.Case(f'seed {seed}', data=seed) for seed in range(
            args.seed, args.seed + args.minutes // PART)]

    def open(self, work):
        self._shrink = work.args.shrink
        return box_module.Box(work)

    def run(self, box, case):
        world = world_module.World(box, say=lambda text: print(
            text, flush=True))
        number = 0

        def play(story):
            nonlocal number
            number += 1
            print(f'{case.name}, story {number}', flush=True)
            return world.play(story)

        try:
            if isinstance(case.data, tuple):
                outcome = play(case.data)
                found = {case.data: outcome}
                story, why = case.data[:outcome.played], outcome.broken
            else:
                hunting = hunt.Hunt(play, case.data, PART, self._shrink)
                hunting.run()
                found = hunting.outcomes
                story, why = hunting.broken or (), hunting.why
        finally:
            world.close()
        yield {'stories': [
            {'steps': list(map(str, steps)), **dataclasses.asdict(outcome)}
            for steps, outcome in found.items()],
            'broken': why, 'story': list(map(str, story)),
            'clocks': f'{box_module.AHEAD} s apart' if box.clock
            else 'not apart, there is no C compiler'}

    def judge(self, case, seen, results):
        its, broken = seen['stories'], seen['broken']

        def total(what):
            return sum(story[what] for story in its)

        faults = sum(sum(story['faults'].values()) for story in its)
        minutes = f'{total("seconds") / 60:.1f}'
        text = (f'{case.name}: {len(its)} stories, {total("requests")} '
                f'requests, {faults} faults, {total("judged")} times judged, '
                f'{minutes} minutes, clocks {seen["clocks"]}')
        if broken:
            text += ''.join(f'\n    {line}' for line in (
                *broken, 'The story:', *seen['story']))
        return proof.Row(not broken, text, (
            case.name, str(len(its)), str(total('requests')),
            str(total('accepted')), str(faults), str(total('judged')),
            minutes, 'broken' if broken else 'kept'))

    def epilogue(self, found):
        kinds = {}
        for record in found:
            for seen in record.seen:
                for story in seen['stories']:
                    for kind, number in story['faults'].items():
                        kinds[kind] = kinds.get(kind, 0) + number
        return 'Faults: ' + ', '.join(
            f'{kind} {number}' for kind, number in sorted(kinds.items()))


def _text(path):
    try:
        return path.read_text()
    except OSError as e:
        raise errors.UsageError('The story cannot be read', where=path,
                                last_seen=e) from e


PROOF = Soak()
