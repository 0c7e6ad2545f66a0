# SPDX-License-Identifier: Apache-2.0

"""Run some tests, and record how each of them ended.

A separate program for the current folder: ``python -m
tests.proofs.driver_mutants.named FILE TEST...``. FILE gets a line for each
test as it ends, so that results before a hanging test are not lost.
"""

import pathlib
import sys
import unittest

import magnum_capi

PASSED, FAILED, BROKEN = 'passed', 'failed', 'broken'


def main(path, tests):
    if not pathlib.Path(magnum_capi.__file__).is_relative_to(
            pathlib.Path.cwd()):
        # An installed package would hide the changed one.
        raise SystemExit('the package of this folder is not the one that is '
                         'imported')
    with open(path, 'w', buffering=1, encoding='utf-8') as file:
        for test in tests:
            file.write(f'{outcome(test)} {test}\n')


def outcome(test):
    """PASSED, FAILED, or BROKEN: it could not be run, or was skipped."""
    try:
        suite = unittest.defaultTestLoader.loadTestsFromName(test)
    except Exception:
        return BROKEN
    if any(type(case).__module__ == 'unittest.loader' for case in suite):
        # A failed import.
        return BROKEN
    result = unittest.TestResult()
    suite.run(result)
    if result.testsRun != 1 or result.skipped:
        return BROKEN
    return PASSED if result.wasSuccessful() else FAILED


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
