# SPDX-License-Identifier: Apache-2.0

"""One sandbox: the test of each defect, then rounds without a defect."""

from magnum_capi import errors
from magnum_capi_sandbox import infrastructure as infrastructures
from tests.proofs import proof
from tests.proofs.suite_defects import box as box_module
from tests.proofs.suite_defects import tables
from tests.proofs.suite_defects import verdicts
from tests.proofs import tables as proof_tables


class SuiteDefects(proof.Proof):
    name = 'suite-defects'
    summary = ('Run the Tempest suite against drivers with seeded defects, '
               'and see that the test of each fails, and of nothing else.')
    words = 'seen', 'MISSED'
    columns = verdicts.COLUMNS
    key = ('Defect',)
    compared = ('Test',)
    docs = proof.DOCS / 'suite-defects.csv'
    port_base = 27000
    #: Most of the time is spent waiting.
    jobs = 4
    infrastructure = infrastructures.MEMORY

    def add_options(self, parser):
        parser.add_argument(
            '--patience', type=float, default=1.0, metavar='X',
            help='wait X times as long, on a machine that is busy '
            '(default: 1)')
        parser.add_argument(
            '--rounds', type=int, default=3, metavar='N',
            help='how often the same tests have to pass with '
            f'{" and ".join(box_module.HEALTHY)} (default: 3)')
        parser.add_argument('--only-rounds', action='store_true',
                            help='try no defect')

    def cases(self, args):
        """A case for each defect, then one for each healthy run.

        :raises UsageError: a number is too small.
        """
        if args.rounds < 0 or args.patience < 1:
            raise errors.UsageError('patience is 1 or more, rounds 0 or more')
        defects = [proof.Case(defect.name, f'{defect.does} ({defect.short})',
                              data=defect) for defect
                   in tables.of(self.infrastructure)]
        rounds = [proof.Case(f'{driver}-{turn}', 'without a defect',
                             control=True, data=(driver, turn))
                  for turn in range(1, args.rounds + 1)
                  for driver in box_module.HEALTHY]
        return [*(case for case in defects if not args.only_rounds), *rounds]

    def open(self, work):
        return box_module.Box(work, self.infrastructure)

    def run(self, box, case):
        if case.control:
            yield self._healthy(box, *case.data)
            return
        problem = ''
        try:
            box.try_defect(case.data)
        except errors.CommandFailed as e:
            problem = proof_tables.plain(str(e))
        yield {'problem': problem}

    def _healthy(self, box, driver, turn):
        kept = box_module.kept_by(box.not_promised(driver), box.defects)
        path = box.try_healthy(driver, kept, turn)
        return {'stream': str(path.relative_to(box.results)),
                'wanted': tables.tests(kept)}

    def judge(self, case, seen, results):
        if case.control:
            return self._judge_healthy(case.name, seen, results)
        defect = case.data
        trial = verdicts.Trial(defect, False, seen['problem'])
        if not seen['problem']:
            trial = verdicts.judge(defect, box_module.read(
                box_module.stream(results, defect), defect.name))
        return proof.Row(trial.seen, trial.as_text(), trial.cells())

    def _judge_healthy(self, name, seen, results):
        found = verdicts.false_alarms(
            seen['wanted'], box_module.read(
                results / seen['stream'], name))
        return proof.Row(not found, '\n  '.join((
            f'{name}: {len(seen["wanted"])} tests, {len(found)} false alarms',
            *found)))


PROOF = SuiteDefects()
