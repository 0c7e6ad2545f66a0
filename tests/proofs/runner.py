# SPDX-License-Identifier: Apache-2.0

"""Runs the cases of a proof, and leaves nothing behind."""

from concurrent import futures
import contextlib
import signal
import time

from magnum_capi import errors
from magnum_capi_tempest import runmarks
from tests.proofs import proof as proof_module
from tests.proofs import records as records_module
from tests.proofs import tables


class Runner:
    """A run of a proof.

    :param work: proof.Work.
    :param records: records.Records for the observations.
    """

    def __init__(self, proof, work, records):
        self._proof, self._work, self._records = proof, work, records
        self._commit = records_module.commit(proof_module.TOP)
        #: Programs are being killed; later observations do not count.
        self._stopping = False

    def run(self):
        """Run all cases of the work.

        :raises MagnumCapiError: they cannot be run here.
        """
        # Left by a killed run with the same folder.
        runmarks.sweep(self._work.mark)
        controls = [case for case in self._work.cases if case.control]
        others = [case for case in self._work.cases if not case.control]
        with self._proof.open(self._work) as world:
            try:
                if self._proof.jobs > 1:
                    self._beside(world, others)
                    others = []
                for case in (*others, *controls):
                    with self._work.progress.step(
                            f'{self._proof.name}: {case.name}'):
                        self._one(world, case, self._proof.limit)
            finally:
                runmarks.sweep(self._work.mark)

    def _beside(self, world, cases):
        with futures.ThreadPoolExecutor(self._work.args.jobs) as pool:
            runs = [pool.submit(self._one, world, case) for case in cases]
            try:
                for run in futures.as_completed(runs):
                    run.result()
            except BaseException:
                self._stopping = True
                pool.shutdown(wait=False, cancel_futures=True)
                # A thread that waits for a program continues after its end and
                # may start another one.
                while left := [run for run in runs if not run.done()]:
                    runmarks.sweep(self._work.mark)
                    futures.wait(left, timeout=0.5)
                raise

    def _one(self, world, case, limit=None):
        record = records_module.Record(case.name, self._commit)
        began = time.monotonic()
        try:
            with _time_limit(limit):
                for seen in self._proof.run(world, case):
                    if self._stopping:
                        return
                    record.seen.append(seen)
                    record.seconds = round(time.monotonic() - began, 1)
                    self._records.save(record)
                    self._say(self._proof.judge(
                        case, seen, self._work.results))
        except errors.MagnumCapiError as e:
            record.problem = str(e)
        if self._stopping:
            return
        record.ended = True
        record.seconds = round(time.monotonic() - began, 1)
        self._records.save(record)
        if record.problem:
            self._say(tables.rows(self._proof, case, record,
                                  self._work.results)[-1])

    def _say(self, row):
        print(tables.as_text(self._proof, row), flush=True)


@contextlib.contextmanager
def _time_limit(seconds):
    """Limit the duration of a block in the main thread.

    :param seconds: None: no limit.
    :raises WaitTimeout: the limit was reached.
    """
    def give_up(*_args):
        raise errors.WaitTimeout('The case did not end', elapsed=seconds)

    if seconds is None:
        yield
        return
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
