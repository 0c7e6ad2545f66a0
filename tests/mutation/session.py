# SPDX-License-Identifier: Apache-2.0

"""A session of cosmic-ray: the mutants of a room, and what came of each."""

import ast
import concurrent.futures
import contextlib
import difflib
import hashlib
import itertools
import json
import pathlib
import warnings

from cosmic_ray import commands
from cosmic_ray import mutating
from cosmic_ray import plugins
from cosmic_ray import work_db
from cosmic_ray import work_item

from tests.mutation import rooms
from tests.mutation import running
from tests.mutation import selection


class Session:
    """The mutants of a room.

    Results hold for the same sources and tests only: after a change there
    is another session.

    :param folder: for the database and what was measured.
    :param every: find all tests that fail, not just one.
    :param jobs: how many mutants to try at once.
    :raises MagnumCapiError: a test fails without a mutant.
    """

    def __init__(self, name: str, room: rooms.Room, folder: pathlib.Path,
                 every: bool = False, jobs: int = 2):
        self._every, self._jobs = every, jobs
        self._processes = running.Processes()
        stem = folder / f'{name}-{_digest()}'
        self._measured = selection.measure(room, stem, self._processes)
        self.db = work_db.WorkDB(f'{stem}{"-all" * every}.sqlite',
                                 work_db.WorkDB.Mode.create)
        if not self.db.num_work_items:
            with contextlib.chdir(rooms.TOP):
                commands.init(room.files(), self.db, {})

    def sample(self, size: int | None, seed: int) -> list:
        """Items and results of the mutants of a sample that are known."""
        results = dict(self.db.results)
        known = ((item, results[item.job_id]) for item in self._ranked(seed)
                 if item.job_id in results and not _skipped(
                     results[item.job_id]))
        return list(itertools.islice(known, size))

    def complete(self, size: int | None, seed: int, say=print):
        """Try the mutants of a sample that have no result yet.

        :param say: gets a line for each.
        """
        ranked = self._ranked(seed)
        while True:
            results = dict(self.db.results)
            todo, number = [], 0
            for item in ranked:
                result = results.get(item.job_id)
                number += result is None or not _skipped(result)
                todo += [] if result else [item]
                if number == size:
                    break
            if not todo:
                return
            self._try_all(todo, say)

    def alarms(self, tests) -> list[str]:
        """Run tests without a mutant; returns those that fail."""
        if not tests:
            return []
        return sorted(self._processes.run(None, {
            test: self._measured.seconds[test] for test in tests},
            every=True)['killers'])

    def _ranked(self, seed):
        """Items in an order that depends on nothing but the seed."""
        def rank(item):
            (spec,) = item.mutations
            return hashlib.sha256(f'{seed} {spec.module_path}:'
                                  f'{spec.operator_name}:{spec.occurrence}'
                                  .encode()).digest()

        return sorted(self.db.work_items, key=rank)

    def _try_all(self, items, say):
        with concurrent.futures.ThreadPoolExecutor(self._jobs) as pool:
            tried = {pool.submit(self._try, item): item for item in items}
            try:
                for future in concurrent.futures.as_completed(tried):
                    item, result = tried[future], future.result()
                    self.db.set_result(item.job_id, result)
                    if not _skipped(result):
                        (spec,) = item.mutations
                        say(f'{result.test_outcome.value:8} '
                            f'{spec.module_path}:{spec.start_pos[0]} '
                            f'{spec.operator_name}')
            except BaseException:
                self._processes.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _try(self, item):
        (spec,) = item.mutations
        path = rooms.TOP / spec.module_path
        text = path.read_text('utf-8')
        try:
            changed = mutating.mutate_code(
                text, plugins.get_operator(spec.operator_name)(),
                spec.occurrence)
        except AttributeError:
            # Of a name with dots in a tuple of exceptions: ExceptionReplacer
            # of cosmic-ray 8.7 expects plain names.
            changed = None
        if changed is None or not is_new(text, changed):
            return work_item.WorkResult(work_item.WorkerOutcome.SKIPPED)
        tests = self._measured.tests_of(
            str(spec.module_path), spec.start_pos[0], text)
        found = self._processes.run((
            rooms.module(str(spec.module_path)), str(path), changed),
            tests, self._every)
        return work_item.WorkResult(
            work_item.WorkerOutcome.NORMAL if tests
            else work_item.WorkerOutcome.NO_TEST,
            json.dumps(found),
            work_item.TestOutcome.KILLED
            if found['killers'] or found['unfinished']
            else work_item.TestOutcome.SURVIVED,
            '\n'.join(difflib.unified_diff(
                text.splitlines(), changed.splitlines(), lineterm='')))


def is_new(text: str, changed: str) -> bool:
    """Whether a changed source is Python, and does something else.

    Annotations do nothing, but for those that end every import.
    """
    try:
        with warnings.catch_warnings():
            # Of "is" with a literal.
            warnings.simplefilter('ignore', SyntaxWarning)
            compile(changed, 'mutant', 'exec', dont_inherit=True)
        return _plain(changed) != _plain(text)
    except (SyntaxError, ValueError):
        return False


def _plain(text):
    """What a source says without its annotations."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ('annotation', 'returns'):
            if getattr(node, name, None):
                setattr(node, name, ast.Constant(None))
    return ast.dump(tree)


def _skipped(result):
    return result.worker_outcome == work_item.WorkerOutcome.SKIPPED


def _digest():
    """Of the sources, the tests, and where they are."""
    found = hashlib.sha256(str(rooms.TOP).encode())
    for folder in ('magnum-capi/magnum_capi', 'magnum_capi_tempest',
                   'tests/unit'):
        for path in sorted((rooms.TOP / folder).rglob('*.py')):
            found.update(f'{path}\n{path.read_text("utf-8")}'.encode())
    return found.hexdigest()[:12]
