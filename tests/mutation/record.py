# SPDX-License-Identifier: Apache-2.0


"""What came of mutants: kept line by line, so that a run can be resumed."""

import dataclasses
import hashlib
import json
import math
import pathlib
import re
import tomllib

from tests.mutation import mutants
from tests.mutation import pool
from tests.mutation import rooms

#: Of all mutants that were tried, as many may be called equivalent.
EQUIVALENT_AT_MOST = 0.05

#: For an interval of 95 percent.
_Z = 1.959964


@dataclasses.dataclass(frozen=True)
class Result:
    """What came of a mutant, or of a run of its tests without it.

    :param key: of its place.
    :param outcome: see pool, and NO_TEST, NO_MUTANT.
    :param by: the test that failed.
    :param code: digest of the source that was mutated.
    :param rest: digest of all sources and tests.
    :param control: there was no mutant.
    """

    key: str
    function: str
    line: int
    before: str
    after: str
    outcome: str
    by: str
    seconds: float
    code: str
    rest: str
    control: bool = False

    @property
    def file(self) -> str:
        return self.key.partition(':')[0]

    @property
    def killed(self) -> bool:
        return self.outcome not in (pool.SURVIVED, NO_TEST, NO_MUTANT)


#: No test reaches the line; there is nothing to try.
NO_TEST, NO_MUTANT = 'no test', 'no mutant'


class Record:
    """A file of results, one a line.

    :param path: need not exist.
    """

    def __init__(self, path: pathlib.Path):
        self._path = path
        self._found = {}
        if path.exists():
            for line in path.read_text(encoding='utf-8').splitlines():
                try:
                    self._keep(Result(**json.loads(line)))
                except ValueError:
                    # The run was killed while it wrote it.
                    continue

    def _keep(self, result):
        self._found[result.key, result.control] = result

    def add(self, result: Result):
        self._keep(result)
        with open(self._path, 'a', encoding='utf-8') as file:
            file.write(json.dumps(dataclasses.asdict(result)) + '\n')

    def of(self, place: mutants.Place, code: str, rest: str | None = None,
           control: bool = False) -> Result | None:
        """What is known and still holds.

        The source has to be the same. A survivor is tried again when
        anything else is not.

        :param rest: None: who survived then counts as a survivor.
        """
        result = self._found.get((place.key, control))
        if result is None or result.code != code:
            return None
        if (rest and result.rest != rest and (
                control or result.outcome in (pool.SURVIVED, NO_TEST))):
            return None
        return result

    def last(self, place: mutants.Place) -> Result | None:
        """What was recorded last, whether it holds or not."""
        return self._found.get((place.key, False))


def digest(*texts: str) -> str:
    return hashlib.sha256('\0'.join(texts).encode()).hexdigest()[:12]


def digest_of_all(top: pathlib.Path) -> str:
    """Digest of the package and the tests."""
    return digest(*(f'{path.relative_to(top)}\n{path.read_text("utf-8")}'
                    for folder in (rooms.FOLDER, 'tests')
                    for path in sorted((top / folder).rglob('*.py'))))


@dataclasses.dataclass(frozen=True)
class Equivalent:
    """A mutant that nobody can tell from the original.

    :param file: below the package.
    :param before: what the mutant changes; as in Result.
    :param why: the proof.
    """

    file: str
    before: str
    after: str
    why: str

    def is_of(self, result: Result) -> bool:
        return (self.file, self.before, self.after) == (
            result.file, result.before, result.after)


@dataclasses.dataclass(frozen=True)
class Rule:
    """Mutants of many places that nobody can tell from the original.

    :param change: a regular expression of the changed lines, before and
        after, with a newline between them.
    :param why: the proof.
    """

    change: str
    why: str

    def is_of(self, result: Result) -> bool:
        return bool(re.fullmatch(
            self.change, f'{result.before}\n{result.after}'))


_TABLE = pathlib.Path(__file__).with_name('equivalents.toml')


def equivalents(
        path: pathlib.Path = _TABLE) -> tuple[Rule | Equivalent, ...]:
    """Read the table.

    :raises ValueError: one is without a proof, or there twice.
    """
    with open(path, 'rb') as file:
        table = tomllib.load(file)
    found = (*(Rule(**item) for item in table.get('rule', ())),
             *(Equivalent(**item) for item in table.get('mutant', ())))
    keys = [dataclasses.replace(one, why='') for one in found]
    for one, key in zip(found, keys):
        if not one.why.strip() or keys.count(key) > 1:
            raise ValueError(f'{key}: needs one proof')
    return found


@dataclasses.dataclass(frozen=True)
class Score:
    """Counts of the mutants of a run.

    :param results: of mutants, without controls.
    :param known: what is equivalent.
    """

    results: tuple[Result, ...]
    known: tuple[Rule | Equivalent, ...] = ()

    def count(self, *outcomes: str) -> int:
        return sum(r.outcome in outcomes for r in self.results)

    @property
    def killed(self) -> int:
        return sum(r.killed for r in self.results)

    @property
    def survivors(self) -> list[Result]:
        """Those that are not equivalent."""
        return [r for r in self.results
                if not r.killed and not self.proof(r)]

    @property
    def equivalent(self) -> list[Result]:
        return [r for r in self.results if not r.killed and self.proof(r)]

    @property
    def disproved(self) -> list[Result]:
        """Called equivalent, but a test fails of them."""
        return [r for r in self.results if r.killed and self.proof(r)]

    def proof(self, result: Result) -> str:
        return next((e.why for e in self.known if e.is_of(result)), '')

    @property
    def judged(self) -> int:
        return self.killed + len(self.survivors)

    @property
    def percent(self) -> float:
        return 100 * self.killed / self.judged if self.judged else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Percent, by Wilson, 95 %."""
        low, high = wilson(self.killed, self.judged)
        return 100 * low, 100 * high

    @property
    def too_many_equivalent(self) -> bool:
        return len(self.equivalent) > EQUIVALENT_AT_MOST * len(self.results)


def wilson(hits: int, of: int) -> tuple[float, float]:
    """The interval of a share, both ends from 0 to 1.

    (Wilson, Journal of the American Statistical Association 22, 1927)
    """
    if not of:
        return 0.0, 1.0
    share, square = hits / of, _Z * _Z
    middle = share + square / (2 * of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return tuple(max(0.0, min(1.0, (middle + sign * half) / (
        1 + square / of))) for sign in (-1, 1))
