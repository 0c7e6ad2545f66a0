# SPDX-License-Identifier: Apache-2.0

"""Each thing that has to hold, once broken."""

import dataclasses

import testtools

from tests.proofs.soak import model
from tests.proofs.soak import stories

OLD, NEW = ('t1', 'v1.34.2'), ('t2', 'v1.35.0')


def machines(*uids):
    return tuple(model.Machine(uid, OLD[1]) for uid in uids)


MASTER = model.Group('CREATE_COMPLETE', 1, machines('m'))
WORKERS = model.Group('CREATE_COMPLETE', 2, machines('w1', 'w2'))
SEEN = model.Seen('CREATE_COMPLETE', '', OLD, {
    model.MASTERS: MASTER, model.WORKERS: WORKERS}, credentials=1)


def seen(workers=None, **changes):
    group = dataclasses.replace(WORKERS, **(workers or {}))
    return dataclasses.replace(SEEN, **{'groups': {
        **SEEN.groups, model.WORKERS: group}, **changes})


def asked(request, answer=model.Answer.ACCEPTED):
    """What is expected of a quiet cluster after a request."""
    step, = stories.parse(request)
    return model.asked(model.quiet(SEEN), step, answer, release=NEW)


class ModelTest(testtools.TestCase):

    def test_problems(self):
        for words, expected, state in (
                ([], model.quiet(SEEN), SEEN),
                ([], asked('resize a default-worker 1'), seen({
                    'count': 1, 'machines': machines('w2')})),
                (['lost'], asked('resize a default-worker 1'), SEEN),
                ([], asked('resize a default-worker 1',
                           model.Answer.REFUSED), SEEN),
                (['lost'], asked('upgrade a'), SEEN),
                ([], asked('delete a'), model.Seen()),
                (['lost'], asked('delete a'), SEEN),
                (['left'], asked('delete a'), model.Seen(credentials=1)),
                (['untrue'], dataclasses.replace(
                    model.quiet(SEEN), rolled=True),
                 seen({'machines': machines('w1')})),
                (['unfinished'], model.quiet(SEEN),
                 seen(status='UPDATE_IN_PROGRESS')),
                (['failed, and nothing was broken'], model.quiet(SEEN),
                 seen(status='UPDATE_FAILED')),
                (['replaced'], model.quiet(SEEN),
                 seen({'machines': machines('w1', 'x')}))):
            found = model.problems(expected, state)
            self.assertEqual(words, sorted({
                text.partition(':')[0] for text in found}), found)

    def test_misplaced_secrets(self):
        for number, secret, name in (
                (0, 'application credential', 'c1-cloud-credentials'),
                (0, 'private key', 'c1-ca'),
                (1, 'application credential', 'c1-ca'),
                (1, 'private key', 'c1-g1-user-data')):
            self.assertEqual(number, len(model.misplaced(
                [model.Place('c1', secret, 'Secret', 'ours', name)],
                {'c1': 'ours'})), name)
