# SPDX-License-Identifier: Apache-2.0

"""Write the table of typical durations from a recorded run.

``python -m tests.suite_durations RUN.subunit`` with the stream of a whole run
in a sandbox. Only the proportions of the durations matter.
"""

import csv
import pathlib
import sys
import tempfile

from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.workspace import pool
from tests import durations


def seconds(stream) -> dict[str, float]:
    """How long the tests of a recorded run took, with the setup of a class."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'durations.subunit')
        durations.keep(stream, path)
        return {pool.name_of(test.id): test.seconds
                for test in subunit.read(path, title='durations').tests}


def main():
    with open(pool.TYPICAL, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file, lineterminator='\n').writerows((
            ('test', 'seconds'), *sorted(
                (test, round(s)) for test, s in seconds(sys.argv[1]).items()
                if s >= 1 and '(' not in test)))


if __name__ == '__main__':
    main()
