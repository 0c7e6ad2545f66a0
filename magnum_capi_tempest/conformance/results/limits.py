# SPDX-License-Identifier: Apache-2.0

"""How much an archive may make us read, keep and believe.

Results come from a cluster that somebody else may own. Every figure here is
several times what real archives hold (a certified run of v1.34: 120 members,
7144 specs, 2.6 MB of JUnit; 100 nodes with their journals: a few GB), so
that only a mistake or an attack meets one.
"""

import dataclasses

KB = 1 << 10
MB = 1 << 20
GB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bounds of reading; sizes in bytes unless said otherwise.

    :param members: entries of the archive, folders included.
    :param name: length of a member's name.
    :param total: the whole archive, inflated.
    :param ratio: inflated to compressed, looked at once an archive is
        bigger than ``ratio_from`` inflated.
    :param member: one member of those that are read.
    :param document: a JSON document that is parsed.
    :param token: an XML tag, comment or instruction as a whole.
    :param depth: nested XML elements.
    :param words: different names of XML elements or attributes.
    :param cases: test cases of one JUnit file.
    :param title: characters of a test's name.
    :param failure: characters of a failure that are kept, from its start.
    :param output: characters of a test's output that are kept, its end.
    :param names: bytes of all names of one archive.
    :param text: bytes of failures and output that are kept of one archive;
        once they are used up, of later failures a line each, and then
        nothing.
    :param tail: end of the e2e log that is kept.
    :param head: start of the e2e log that is kept.
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
