# SPDX-License-Identifier: Apache-2.0

"""Inject defects into a copy of the source, and see which tests notice.

The defects themselves are in ``tables``.
"""

import contextlib
import dataclasses
import os
import pathlib
import shutil
import sys
import tempfile
import time

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi_tempest import runmarks
from tests.proofs.driver_mutants import named

#: What a copy needs. Bytecode caches are copied, too: they stay valid for
#: unchanged files.
PARTS = ('magnum-capi', 'magnum_capi_tempest', 'tests', 'charts',
         'constraints', 'drivers', 'setup.cfg', 'requirements.txt')

#: Seconds for the tests of a defect. On an idle machine they take one or two.
LIMIT = 120

#: The same if one never ends.
HANGS = 30

#: Outcome of a test that did not end.
HUNG = 'hung'


@dataclasses.dataclass(frozen=True)
class Trial:
    """The result for a defect.

    :param name: of the defect, or of the run without any.
    :param wanted: allowed outcomes for every test.
    :param outcomes: by id of the test: passed, failed, broken or hung.
    :param problem: why the defect could not be tried.
    """

    name: str
    wanted: tuple[str, ...]
    outcomes: dict = dataclasses.field(default_factory=dict)
    problem: str = ''
    seconds: float = 0.0

    @property
    def as_wanted(self):
        return not self.problem and bool(self.outcomes) and all(
            outcome in self.wanted for outcome in self.outcomes.values())

    def __str__(self):
        """Unexpected outcomes, on one line."""
        if self.as_wanted:
            return ''
        return self.problem or ', '.join(
            f'{test.rpartition(".")[2]} {outcome}'
            for test, outcome in self.outcomes.items()
            if outcome not in self.wanted) or 'there are no tests'


def control(top, tests, scratch=None) -> Trial:
    """Run tests on a copy without a defect: all must pass.

    :param top: folder of the source.
    :param scratch: folder for the copy, and mark of its programs; by default
        the folder of temporary files, without a mark.
    """
    start = time.monotonic()
    with _copied(top, scratch) as copy:
        outcomes, problem = _run(copy, tests, LIMIT * 5, scratch)
    return Trial('without a defect', (named.PASSED,), outcomes, problem,
                 time.monotonic() - start)


def trial(top, folder, defect, limit=None, scratch=None) -> Trial:
    """Try one defect: all of its tests must fail.

    :param folder: base folder of its file, relative to ``top``.
    :param defect: tables.Defect.
    :param limit: seconds, by default LIMIT or HANGS.
    :param scratch: as for :func:`control`.
    """
    start = time.monotonic()
    wanted = (named.FAILED, HUNG) if defect.hangs else (named.FAILED,)
    with _copied(top, scratch) as copy:
        path = copy / folder / defect.file
        try:
            text = defect.applied(path.read_text(encoding='utf-8'))
            compile(text, defect.file, 'exec')
        except (OSError, SyntaxError, ValueError) as e:
            return Trial(defect.name, wanted, problem=str(e))
        path.write_text(text, encoding='utf-8')
        _forget_bytecode(path)
        outcomes, problem = _run(copy, defect.tests, limit or (
            HANGS if defect.hangs else LIMIT), scratch)
    return Trial(defect.name, wanted, outcomes, problem,
                 time.monotonic() - start)


@contextlib.contextmanager
def _copied(top, scratch):
    """Context: a temporary copy of the source."""
    with tempfile.TemporaryDirectory(prefix='driver-mutant-',
                                     dir=scratch) as folder:
        copy = pathlib.Path(folder).resolve()
        for part in PARTS:
            source = pathlib.Path(top) / part
            if source.is_dir():
                shutil.copytree(source, copy / part, symlinks=True)
            elif source.exists():
                shutil.copy2(source, copy / part)
        yield copy


def _forget_bytecode(path):
    # The cache compares size and seconds, and both may be unchanged.
    for cached in (path.parent / '__pycache__').glob(f'{path.stem}.*.pyc'):
        cached.unlink()


def _run(copy, tests, limit, mark):
    """Outcomes by test, and a problem, for example that nothing ran."""
    path = copy / 'outcomes'
    problem, hung = '', False
    try:
        processes.run(
            [sys.executable, '-W', 'ignore', '-m', named.__name__, path,
             *tests], cwd=copy, timeout=limit, merge=True,
            env={**os.environ, 'TMPDIR': str(copy),
                 'PYTHONPATH': f'{copy}{os.pathsep}{copy / "magnum-capi"}',
                 **({runmarks.MARK: str(mark)} if mark else {})})
    except errors.CommandFailed as e:
        hung = e.returncode is None
        problem = '' if hung else e.last_seen or str(e)
    ended = dict(reversed(line.split(' ', 1)) for line
                 in path.read_text().splitlines()) if path.exists() else {}
    outcomes = {}
    for test in tests:
        outcomes[test] = ended.get(test) or (HUNG if hung else named.BROKEN)
        # The tests after it did not begin.
        hung = hung and test in ended
    return outcomes, problem
