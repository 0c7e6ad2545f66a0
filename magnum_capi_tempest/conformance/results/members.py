# SPDX-License-Identifier: Apache-2.0

"""Yields the two files of the e2e tests unchanged, byte by byte.

For what passes them on: a submission to CNCF, a published copy. :mod:`reading`
interprets them.
"""

import contextlib
import pathlib
import re

from magnum_capi_tempest.conformance.results import archive
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import limits as bounds

LOG, JUNIT = 'e2e.log', 'junit_01.xml'
NAMES = (LOG, JUNIT)
_MEMBER = re.compile(
    r'plugins/e2e/results/global/(e2e\.log|junit_01\.xml)')


def each(source):
    """Iterate over the files: pairs of name and iterator of pieces.

    The whole archive is read, so exhausting the iterator proves that it is
    intact.

    :param source: path of a Sonobuoy archive, or of a folder with the two
        files, as written by Hydrophone.
    :raises Damage: one is missing, or the archive is broken or not safe.
    """
    source = pathlib.Path(source)
    missing = set(NAMES)
    limits = bounds.DEFAULT
    pairs = _folder(source) if source.is_dir() else _archive(source, limits)
    with contextlib.closing(pairs):
        for name, size, pieces in pairs:
            if size > limits.member:
                raise damage.Damage(f'{name} has {size} bytes, more than '
                                    f'{limits.member}', where=source)
            if name not in missing:
                raise damage.Damage(f'There are two files {name}',
                                    where=source)
            missing.discard(name)
            yield name, pieces
    if missing:
        raise damage.Damage(
            f'There is no {" and no ".join(sorted(missing))}', where=source,
            hint='The e2e tests write both when they complete')


def _archive(source, limits):
    try:
        stream = open(source, 'rb')
    except OSError as e:
        raise damage.Damage(f'Cannot read the record: {e.strerror}',
                            where=source) from e
    with stream:
        walk = archive.Walk(archive.Content(stream, source, limits), source,
                            limits)
        for member in walk:
            if match := _MEMBER.fullmatch(member.name):
                yield match[1], member.size, walk.content()


def _folder(source):
    for name in NAMES:
        file = source / name
        if file.is_file():
            with open(file, 'rb') as stream:
                yield name, file.stat().st_size, iter(
                    lambda stream=stream: stream.read(archive.PIECE), b'')
