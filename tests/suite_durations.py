# SPDX-License-Identifier: Apache-2.0

"""Write the table of typical durations from a recorded run.

``python -m tests.suite_durations RUN.subunit`` with the stream of a whole run
in a sandbox without a load, in which most of the tests have run.
"""

import csv
import pathlib
import sys
import tempfile

from subunit import v2
import testtools

from magnum_capi_tempest.workspace import durations


class _Seconds(testtools.StreamToDict):

    def __init__(self):
        super().__init__(self._ended)
        self.tests = {}

    def _ended(self, test):
        begin, end = test['timestamps']
        # Tempest appends its attributes to the id.
        name = test['id'].partition('[')[0]
        self.tests[name] = (end - begin).total_seconds()


def seconds(stream) -> dict[str, float]:
    """How long the tests of a recorded run took, with the setup of a class."""
    found = _Seconds()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'durations.subunit')
        durations.keep(stream, path)
        with open(path, 'rb') as f:
            found.startTestRun()
            v2.ByteStreamToStreamResult(f).run(found)
            found.stopTestRun()
    return found.tests


def main():
    rows = sorted((test, round(s)) for test, s in seconds(sys.argv[1]).items()
                  if s >= 1 and '(' not in test)
    with open(durations.TYPICAL, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerows((('test', 'seconds'), *rows))


if __name__ == '__main__':
    main()
