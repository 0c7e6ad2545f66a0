# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.


"""Which tests a mutant is tried with, from what each test was seen to run."""

import dataclasses

from tests.mutation import mutants


@dataclasses.dataclass(frozen=True)
class Measured:
    """What the tests of a room do without a mutant.

    :param seconds: by id of those that pass.
    :param lines: ids by line, by file below the package.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]


def tests_of(place: mutants.Place, text: str, measured: Measured) -> dict:
    """Seconds by test, the fastest first.

    What runs in a function is tried with the tests that reach its statement.
    What runs at import, as constants, decorators and defaults do, may be used
    from anywhere: all tests, those first that reach something in the file.

    :param text: the source of the place.
    """
    by_line = measured.lines.get(place.file, {})
    lines, imported = mutants.statement(text, place.line)
    near = {test for line, tests in by_line.items()
            if imported or line in lines for test in tests}
    found = near | set(measured.seconds) if imported else near
    return {test: measured.seconds[test] for test in sorted(
        found, key=lambda test: (
            test not in near, measured.seconds[test], test))}
