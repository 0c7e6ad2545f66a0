# SPDX-License-Identifier: Apache-2.0
"""Which failures have the same cause? Pure.

Four specs that fail for the same reason are one problem to solve, but their
messages differ in names of pods, addresses and times. These volatile parts are
removed; the rest, together with the line of the test's source, is the
*fingerprint* of a failure.

Messages have the formats of Gomega (``format.Object``, ``Expect ...
occurred``) and of the e2e framework.
"""

import collections
import dataclasses
import re

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest import redact

#: Lines in an excerpt from a log.
EXCERPT = 25
#: Characters of a fingerprint's text, and of the text that it is made from: a
#: message may be a single line of a megabyte.
_WIDTH = 300
_MOST = 2000

# The order matters: a time contains something like a port, a UUID something
# like a number.
_VOLATILE = tuple((re.compile(pattern), replacement) for pattern, replacement
                  in (
    (r'[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}', '<uuid>'),
    # 2026-11-21T09:39:12.359Z, 11/21/26 09:39:12.359, I1121 09:39:08.308498
    (r'\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*(Z|[+-]\d\d:?\d\d)?'
     r'( [+-]\d{4})?( [A-Z]{3,4})?\b', '<time>'),
    (r'\b\d\d/\d\d/\d\d \d\d:\d\d:\d\d[.\d]*', '<time>'),
    (r'\b[IWEF]\d{4} \d\d:\d\d:\d\d[.\d]*(\s+\d+)?', '<time>'),
    (r'\b\d\d:\d\d:\d\d[.\d]*', '<time>'),
    (r'0x[0-9a-fA-F]{4,}|\b[0-9a-f]{12,}\b', '<hex>'),
    (r'\b\d{1,3}(\.\d{1,3}){3}(/\d+)?(:\d+)?\b', '<ip>'),
    # A Go duration: 5m0.003s, 300.000s, 1h2m3s.
    (r'\b(\d+h)?(\d+m)?\d+(\.\d+)?(s|ms|µs)\b', '<duration>'),
    # What Kubernetes appends to generated names: the hash of a template, and
    # five characters without vowels (apimachinery's util/rand).
    (r'(?<=[a-z0-9])(-[0-9bcdf-hj-np-tv-xz]{8,10})?'
     r'-(?=[a-z]*[0-9]|[bcdf-hj-np-tv-xz]{5}\b)[0-9bcdf-hj-np-tv-xz]{5}\b',
     '-<id>'),
    # What the e2e framework appends to names of namespaces.
    (r'(?<=[a-z])-\d{2,}\b', '-<n>'),
    (r'\b\d{5,}\b', '<n>'),
))
_IPV6 = re.compile(r'(?<![\w:.\]])(?=[0-9a-fA-F:]*:[0-9a-fA-F:]*:)'
                   r'[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){2,7}(?![\w:])')

#: First lines that mean nothing on their own; the next ones are added.
_BARE = re.compile(r'(Unexpected error:?|Expected|Timed out after \S+'
                   r'|Told to stop trying after \S+|Error:?)\.?$')
#: ``In [It] at: /go/.../output.go:263 @ 11/21/26 09:39:12.359``
_PLACE = re.compile(r'In \[\w+\] at: (?P<path>\S+?):(?P<line>\d+)\b')
#: A line of Ginkgo v1, ``/go/.../dns.go:12``.
_PLACE_V1 = re.compile(r'^(?P<path>/\S{1,500}\.go):(?P<line>\d+)$', re.M)
#: The framework's time in front of a message, ``Jul 12 08:47:53.571: ``.
_TIME = re.compile(r'^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?: ')
#: ``At 2026-11-21 09:39:08 +0000 UTC - event for NAME: {kubelet n2} ...``,
#: the events of the namespace that kubernetes/test/e2e/framework/debug prints
#: after a failure.
_EVENT = re.compile(
    r'\bAt (?P<at>[\d-]{10} [\d:]{8}) \S{,9} \S{,9} - event for '
    r'(?P<what>\S{,300}: \{(?P<source>\S{,300}) (?P<host>\S{,300})\} .*)')
_ROOTS = ('/test/', '/vendor/', '/pkg/')


@dataclasses.dataclass(frozen=True)
class Fingerprint:
    """What failures with the same cause have in common.

    :param message: without the volatile parts, and without secrets.
    :param place: ``test/e2e/framework/pod/output/output.go:263``, empty if
        the failure does not say.
    """

    message: str
    place: str = ''

    def __str__(self):
        return f'{self.message} ({self.place})' if self.place else \
            self.message


@dataclasses.dataclass(frozen=True)
class Cause:
    """Failures with the same fingerprint.

    :param specs: at least one, in the order of the result.
    :param excerpt: end of the output of the first spec; may be empty.
    """

    fingerprint: Fingerprint
    specs: tuple[model.Spec, ...]
    excerpt: str = ''

    @property
    def sigs(self) -> tuple[str, ...]:
        return tuple(sorted({spec.sig for spec in self.specs}))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes that were involved, according to events."""
        return tuple(sorted({name for spec in self.specs
                             for name in nodes_of(spec)}))


def of(spec, nodes=()) -> Fingerprint:
    """Fingerprint of a spec that failed or did not end.

    :param nodes: names of the cluster's nodes, which are volatile too.
    """
    found = _PLACE.search(spec.failure)
    if not found:
        # The last one: the first is the framework's wrapper.
        found = next(reversed([*_PLACE_V1.finditer(spec.failure)]), None)
    place = f'{_below(found["path"])}:{found["line"]}' if found else ''
    # It is what the log of a CI job shows of a failure.
    message = stable(redact.redact(_headline(spec.failure)[:_MOST]), nodes)
    return Fingerprint(message[:_WIDTH] or _silent(spec), place)


def stable(text, nodes=()) -> str:
    """A text without its volatile parts."""
    # Longest first: "worker-10" must not become "<node>0".
    for node in sorted(filter(None, nodes), key=len, reverse=True):
        text = re.sub(rf'(?<![\w-]){re.escape(node)}(?![\w-])', '<node>',
                      text)
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return ' '.join(_IPV6.sub('<ip>', text).split())


def causes(specs, nodes=()) -> tuple[Cause, ...]:
    """Failures by fingerprint, the most frequent cause first."""
    found = collections.defaultdict(list)
    for spec in specs:
        found[of(spec, nodes)].append(spec)
    return tuple(
        Cause(fingerprint, tuple(members), excerpt(members[0]))
        for fingerprint, members in sorted(
            found.items(), key=lambda item: (-len(item[1]), str(item[0]))))


def by_sig(result) -> dict[str, tuple[int, int]]:
    """Failed and all specs that ran, by SIG, for SIGs with failures."""
    ran = collections.Counter(spec.sig for spec in result.ran)
    failed = collections.Counter(spec.sig for spec in result.failures)
    return {sig: (number, ran[sig]) for sig, number in sorted(
        failed.items(), key=lambda item: (-item[1], item[0]))}


def excerpt(spec, lines=EXCERPT) -> str:
    """The part of a spec's output that leads to its failure.

    It ends with the first line that contains FAILED, since the cleanup
    follows, or with the last line if there is none. Without secrets.
    """
    output = spec.output.rstrip().splitlines()
    for number, line in enumerate(output):
        if '[FAILED]' in line or '[TIMEDOUT]' in line:
            output = output[:number + 1]
            break
    return redact.redact('\n'.join(output[-lines:]))


def events(spec) -> tuple[str, ...]:
    """Events in the namespace of a failed spec, a line each.

    Without secrets.
    """
    found = (_EVENT.search(line) for line in spec.output.splitlines())
    return tuple(f'{one["at"]} {redact.redact(one["what"])}'
                 for one in found if one)[:50]


def nodes_of(spec) -> tuple[str, ...]:
    """Nodes whose kubelet reported events in the spec's namespace."""
    found = (_EVENT.search(line) for line in spec.output.splitlines())
    return tuple(sorted({one['host'] for one in found
                         if one and one['source'] == 'kubelet'
                         and one['host']}))


def slowest(result, number=10) -> tuple[model.Spec, ...]:
    """The slowest specs, slowest first."""
    timed = [spec for spec in result.ran if spec.seconds is not None]
    return tuple(sorted(timed, key=lambda s: -s.seconds)[:number])


def _headline(failure):
    """The words of a failure, without dumped values."""
    lines = [line.strip() for line in failure.splitlines()]
    lines = [_TIME.sub('', re.sub(r'^\[[A-Z]+\]\s*', '', line))
             for line in lines if line and not _PLACE.match(line)
             and not _PLACE_V1.match(line)]
    if not lines:
        return ''
    if not _BARE.match(lines[0]):
        return lines[0]
    # "<*errors.errorString | 0xc000...>:" names a type; its value is in the
    # same line or below.
    worth = [re.sub(r'^<[^>]*>:?\s*', '', line) for line in lines[1:]]
    return ' '.join([lines[0], *[line for line in worth if line][:3]])


def _below(path):
    """A path of the test's source, without the build machine's folders."""
    for root in _ROOTS:
        _, found, rest = path.partition(root)
        if found:
            return root.lstrip('/') + rest
    return path.rpartition('/')[2]


def _silent(spec):
    if spec.status == model.UNFINISHED:
        return 'It began and did not end'
    return f'It {spec.detail or "failed"} without a message'
