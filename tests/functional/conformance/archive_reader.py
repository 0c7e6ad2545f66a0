# SPDX-License-Identifier: Apache-2.0

"""Reads one archive in a separate process and reports the resources used.

    python -m tests.functional.conformance.archive_reader ARCHIVE [BYTES]

BYTES is a soft limit of its memory. Prints a JSON document: the error or the
counts, the peak memory of the process (bytes), and its CPU seconds.
"""

import json
import pathlib
import re
import resource
import sys

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage


def main(path, most=None):
    if most:
        resource.setrlimit(resource.RLIMIT_AS, (int(most), int(most)))
    said = {'error': None, 'counts': None}
    try:
        result = archive.read(path)
        said |= {'counts': result.counts, 'problems': result.problems,
                 'sha256': result.sha256}
    except damage.Damage as e:
        said['error'] = str(e)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps(said | {'rss': memory(),
                             'cpu': used.ru_utime + used.ru_stime}))


def memory():
    """The peak memory of this program, in bytes.

    Not ru_maxrss: a child's value starts with its parent's.
    """
    status = pathlib.Path('/proc/self/status').read_text()
    return int(re.search(r'^VmHWM:\s+(\d+) kB$', status, re.M)[1]) << 10


if __name__ == '__main__':
    main(*sys.argv[1:])
