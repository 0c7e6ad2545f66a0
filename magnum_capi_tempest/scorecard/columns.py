# SPDX-License-Identifier: Apache-2.0

"""Columns of the matrix: read from files, or made by running the suite."""

import pathlib

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi_tempest.report import subunit
from magnum_capi_tempest.scorecard import flags
from magnum_capi_tempest.scorecard import model
from magnum_capi_tempest.scorecard import results
from magnum_capi_tempest.scorecard import suite


def lay(records) -> model.Matrix:
    """The matrix of the suite that is installed."""
    return model.build(flags.known(), suite.tests(), suite.operations(),
                       records)


def joined(records) -> list[results.Record]:
    """Records with those of one driver made one, in their order."""
    found = {}
    for kept in records:
        known = found.get(kept.driver)
        found[kept.driver] = results.merged(known, kept) if known else kept
    return list(found.values())


def of_stream(path, driver, declared, facts=None,
              asked=None) -> results.Record:
    """What a recorded run says.

    :param path: subunit version 2 stream.
    :param declared: flags that the driver promises.
    :param asked: flags that were on; the declared ones by default.
    :raises UsageError: it is none, or nothing of this suite ran.
    """
    run = subunit.read(path, title=driver)
    kept = results.record(
        run, driver, declared,
        frozenset(one.name for one in suite.operations()), facts,
        asked)
    if not kept.outcomes:
        raise errors.UsageError(
            'No test of this suite is in the stream', where=path)
    return kept


def of_file(path, driver=None, declared=None) -> results.Record:
    """What a file says: a record (JSON), or a recorded run.

    :param driver: title; that of the record, or the file's name by default.
    :param declared: flags; those of the record, or the defaults.
    """
    path = pathlib.Path(path)
    if path.suffix != '.json':
        return of_stream(path, driver or path.stem,
                         flags.defaults() if declared is None else declared)
    try:
        kept = results.loads(path.read_text(encoding='utf-8'), path)
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('This file cannot be read', where=path,
                                last_seen=e) from e
    return results.renamed(kept, driver, declared)


def write(records, folder) -> list[pathlib.Path]:
    """Keep records: ``matrix-DRIVER.json`` each; returns their paths."""
    written = []
    for kept in records:
        path = pathlib.Path(folder) / f'matrix-{kept.driver}.json'
        with outfile.whole(path) as f:
            f.write(results.dumps(kept).encode())
        written.append(path)
    return written
