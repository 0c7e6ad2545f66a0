# SPDX-License-Identifier: Apache-2.0

"""What came of the runs: seen, missed, false alarm. Pure."""

import csv
import dataclasses
import io
import re

from magnum_capi_tempest.report import model

COLUMNS = ('Defect', 'What the driver does', 'Test', 'It fails with',
           'Seconds')

#: Characters of a reason that a table shows.
_LONGEST = 220

_UUID = re.compile(r'\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b')
_RELEASE = re.compile(r'\bc?[0-9a-f]{32}\b')
_PORT = re.compile(r'\b127(\.\d+){3}\b(:\d+)?')


@dataclasses.dataclass(frozen=True)
class Trial:
    """What came of a defect.

    :param defect: tables.Defect.
    :param seen: its test failed, and of this defect; None: not tried.
    :param text: what the test said, or why it was not seen.
    :param seconds: of the test, clean-up included.
    """

    defect: object
    seen: bool | None
    text: str
    seconds: float = 0.0


def judge(defect, run) -> Trial:
    """Judge the run of a defect's test.

    :param defect: tables.Defect.
    :param run: report.model.Run.
    """
    found = [test for test in run.tests if test.name == defect.short]
    if len(found) != 1:
        others = '; '.join(f'{test.name} {test.status}: {plain(test.reason)}'
                           for test in run.tests)
        return Trial(defect, False, 'its test did not run'
                     + (f', but {others}' if others else ''), run.seconds)
    test, = found
    text = plain(test.reason)
    if test.status != model.FAILED:
        return Trial(defect, False, f'its test {test.status}'
                     + (f': {text}' if text else ''), run.seconds)
    if not re.search(defect.says, ' '.join(test.reason.split())):
        return Trial(defect, False, f'its test failed of something else: '
                     f'{text}', run.seconds)
    return Trial(defect, True, text, run.seconds)


def false_alarms(wanted, run) -> list[str]:
    """What is not as it must be with a driver without a defect.

    :param wanted: ids of tests that it has to pass.
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
            found.append(f'{name} {test.status}: {plain(test.reason)}')
    # Fixtures of classes.
    found += [f'{test.name} {test.status}: {plain(test.reason)}'
              for test in ended.values() if test.status != model.PASSED]
    return found + list(run.problems)


def plain(text) -> str:
    """A text on one line, without what is different each time."""
    for pattern, word in ((_UUID, '<uuid>'), (_RELEASE, '<id>'),
                          (_PORT, '<address>')):
        text = pattern.sub(word, text)
    text = ' '.join(text.split())
    return text if len(text) <= _LONGEST else f'{text[:_LONGEST - 1]}…'


def as_csv(trials) -> str:
    """The table for the documentation."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator='\n')
    writer.writerow(COLUMNS)
    for trial in trials:
        defect = trial.defect
        writer.writerow((
            defect.name, defect.does, defect.test, trial.text if trial.seen
            else 'not tried' if trial.seen is None
            else f'MISSED: {trial.text}',
            '' if trial.seen is None else f'{trial.seconds:.0f}'))
    return stream.getvalue()


def as_text(trial) -> str:
    """A trial for a terminal."""
    defect = trial.defect
    return (f'{"seen" if trial.seen else "MISSED":6} {trial.seconds:4.0f} s  '
            f'{defect.name}: {defect.short}\n              {trial.text}')
