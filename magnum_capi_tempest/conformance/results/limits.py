# SPDX-License-Identifier: Apache-2.0

"""Limits of what an archive may make us read and keep.

Results may come from a cluster of an untrusted third party. Every limit is
several times what real archives contain (a certified run of v1.34: 120
members, 7144 specs, 2.6 MB of JUnit; 100 nodes with their journals: a few GB),
so that only a mistake or an attack exceeds one.
"""

import dataclasses

KB = 1 << 10
MB = 1 << 20
GB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits for reading; sizes in bytes unless stated otherwise.

    :param members: entries of the archive, including folders.
    :param name: length of a member's name.
    :param total: the whole archive, uncompressed.
    :param ratio: uncompressed to compressed, checked once an archive exceeds
        ``ratio_from`` uncompressed.
    :param member: a member that is read.
    :param document: a JSON document that is parsed.
    :param token: a whole XML tag, comment or instruction.
    :param depth: nested XML elements.
    :param words: distinct names of XML elements or attributes.
    :param cases: test cases of one JUnit file.
    :param title: characters of a test's name.
    :param failure: characters of a failure to keep, from its start.
    :param output: characters of a test's output to keep, around its failure
        or from its end.
    :param names: bytes of all names in one archive.
    :param text: bytes of failures and output to keep from one archive; when
        they are used up, later failures get a line each, and then nothing.
    :param tail: end of the e2e log to keep.
    :param head: start of the e2e log to keep.
    """

    members: int = 100_000
    name: int = 1024
    total: int = 16 * GB
    ratio: int = 200
    ratio_from: int = 64 * MB
    member: int = 2 * GB
    document: int = MB
    token: int = MB
    depth: int = 32
    words: int = 100
    cases: int = 50_000
    title: int = 2048
    failure: int = 16_000
    output: int = 16_000
    names: int = 8 * MB
    text: int = 12 * MB
    tail: int = MB
    head: int = 256 * KB


DEFAULT = Limits()
