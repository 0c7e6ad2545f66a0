# SPDX-License-Identifier: Apache-2.0

"""The verdicts on runs: seen, missed, false alarm. Pure."""

import re

from magnum_capi_tempest.report import model
from tests.proofs import tables


def judge(defect, run) -> tuple[bool, str]:
    """Judge the run of a defect's test.

    :param defect: tables.Defect.
    :param run: report.model.Run.
    :returns: whether the test failed because of the defect; the message of
        the failure, or why the defect was not seen.
    """
    found = [test for test in run.tests if test.name == defect.test]
    if len(found) != 1:
        return False, '; '.join(
            ('its test did not run', *map(_described, run.tests)))
    test, = found
    text = tables.plain(test.reason)
    if test.status != model.FAILED:
        return False, f'its test {test.status}' + (f': {text}' if text else '')
    if not re.search(defect.says, ' '.join(test.reason.split())):
        return False, f'its test failed of something else: {text}'
    return True, text


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
            found.append(_described(test))
    # Fixtures of classes.
    found += [_described(test) for test in ended.values()
              if test.status != model.PASSED]
    return found + list(run.problems)


def _described(test):
    return f'{test.name} {test.status}: {tables.plain(test.reason)}'
