# SPDX-License-Identifier: Apache-2.0

"""The verdicts on runs: seen, missed, false alarm. Pure."""

import dataclasses
import re

from magnum_capi_tempest.report import model
from tests.proofs import tables

COLUMNS = ('Defect', 'What the driver does', 'Test', 'It fails with',
           'Seconds')


@dataclasses.dataclass(frozen=True)
class Trial:
    """The result for a defect.

    :param defect: tables.Defect.
    :param seen: whether its test failed because of this defect.
    :param text: message of the failure, or why the defect was not seen.
    :param seconds: of the test, including cleanup.
    """

    defect: object
    seen: bool
    text: str
    seconds: float = 0.0

    def cells(self) -> tuple[str, ...]:
        """Texts of :data:`COLUMNS`."""
        return (self.defect.name, self.defect.does, self.defect.test,
                self.text if self.seen else f'MISSED: {self.text}',
                f'{self.seconds:.0f}')

    def as_text(self) -> str:
        """For a terminal."""
        return (f'{self.seconds:4.0f} s  {self.defect.name}: '
                f'{self.defect.short}\n                 {self.text}')


def judge(defect, run) -> Trial:
    """Judge the run of a defect's test.

    :param defect: tables.Defect.
    :param run: report.model.Run.
    """
    found = [test for test in run.tests if test.name == defect.short]
    if len(found) != 1:
        others = '; '.join(map(_told, run.tests))
        return Trial(defect, False, 'its test did not run'
                     + (f', but {others}' if others else ''), run.seconds)
    test, = found
    text = tables.plain(test.reason)
    if test.status != model.FAILED:
        return Trial(defect, False, f'its test {test.status}'
                     + (f': {text}' if text else ''), run.seconds)
    if not re.search(defect.says, ' '.join(test.reason.split())):
        return Trial(defect, False, f'its test failed of something else: '
                     f'{text}', run.seconds)
    return Trial(defect, True, text, run.seconds)


def false_alarms(wanted, run) -> list[str]:
    """Unexpected results with a driver without a defect.

    :param wanted: ids of tests that it must pass.
    :param run: report.model.Run.
    :returns: one line each.
    """
    ended = {test.name: test for test in run.tests}
    found = []
    for name in sorted('.'.join(id_.split('.')[-2:]) for id_ in wanted):
        test = ended.pop(name, None)
        if test is None:
            found.append(f'{name} did not run')
        elif test.status != model.PASSED:
            found.append(_told(test))
    # Fixtures of classes.
    found += [_told(test) for test in ended.values()
              if test.status != model.PASSED]
    return found + list(run.problems)


def _told(test):
    return f'{test.name} {test.status}: {tables.plain(test.reason)}'
