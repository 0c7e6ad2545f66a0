# SPDX-License-Identifier: Apache-2.0

"""Record what releases of Magnum answer instead of good refusals.

``python -m tests.known_answers 1.11=STREAM... 1.12=STREAM...`` writes the
table of :mod:`magnum_capi_tempest.tests.common.negative.known_answers`: the
columns named, from the subunit streams of runs of the suite. Streams of
several profiles are united. Columns that are not named stay as they are.
"""

import argparse
import csv
import json
import re

from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.tests.common.negative import known_answers

#: Name of the detail, :data:`.refusals.ANSWERS`; that module wants Tempest.
ANSWERS = 'answers that are no refusals'


def recorded(stream):
    """Yield ((where, kind, value), status) of a stream of subunit."""
    for test in subunit.read(stream, title='').tests:
        for detail in test.details:
            if detail.name.startswith(ANSWERS):
                for line in detail.text.splitlines():
                    *key, status = json.loads(line)
                    yield tuple(key), status


def write(path, columns):
    """Write a table: {column: {key: status}}."""
    names = sorted(columns, key=lambda v: [int(n) for n in v.split('.')])
    keys = sorted({key for column in columns.values() for key in column})
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow((*known_answers.KEY, *names))
        writer.writerows(
            (*key, *(columns[name].get(key, '') for name in names))
            for key in keys)


def _column(text):
    name, _, stream = text.partition('=')
    if not re.fullmatch(r'\d+\.\d+', name) or not stream:
        raise argparse.ArgumentTypeError(f'{text} is not MICROVERSION=STREAM')
    return name, stream


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog='python -m tests.known_answers', description=__doc__)
    parser.add_argument('streams', metavar='MICROVERSION=STREAM', nargs='+',
                        type=_column)
    args = parser.parse_args(argv)
    path = known_answers.MEASURED
    found = {}
    for name, stream in args.streams:
        found.setdefault(name, {}).update(recorded(stream))
    write(path, {
        **(known_answers.columns(path) if path.exists() else {}), **found})


if __name__ == '__main__':
    main()
