# SPDX-License-Identifier: Apache-2.0


"""Counts specs in the log of a run that is still in progress. Pure.

Ginkgo writes one bullet for every spec that has ended, both in its short and
in its verbose form, and appends the status of a bad one::

    Will run 388 of 7144 specs
    SSSS•SSS•
    • [FAILED] [4.407 seconds]

(ginkgo/v2/reporters/default_reporter.go; in data/sonobuoy the 388 specs of
a parallel run of Kubernetes 1.34.9 are 388 bullets.) Suite nodes have
their kind in brackets instead of the bullet.
"""

import re

_PLANNED = re.compile(r'^Will run (\d+) of \d+ specs', re.MULTILINE)
_BAD = re.compile(
    r'• \[(?:FAILED|PANICKED|INTERRUPTED|ABORTED|TIMEDOUT)\]')


def count(log: str) -> tuple[int, int, int] | None:
    """How many specs will run, have passed, and have failed.

    :param log: of the e2e container, from its beginning.
    :returns: None until the log says how many will run.
    """
    planned = _PLANNED.search(log)
    if not planned:
        return None
    rest = log[planned.end():].partition('\nSummarizing ')[0]
    failed = len(_BAD.findall(rest))
    return int(planned.group(1)), rest.count('•') - failed, failed
