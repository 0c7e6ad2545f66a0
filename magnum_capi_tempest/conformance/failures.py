# SPDX-License-Identifier: Apache-2.0
"""Which failures have the same cause, and what did they leave? Pure.

Four specs that fail for the same reason are one problem to solve. Failures are
grouped by the place in the test's source and by the first line of the message,
without what differs from run to run: words with digits, and the ends of names
that Kubernetes generates.

Messages have the formats of Gomega (``format.Object``, ``Expect ...
occurred``) and of the e2e framework.
"""

import collections
import collections.abc
import dataclasses
import datetime
import re

from magnum_capi_tempest.conformance import model

#: Lines in an excerpt from a log, and characters of a message.
EXCERPT, _WIDTH = 25, 300

# Patterns are compiled when they are first needed: most runs have no failure.
#: A word with a digit: a time, an address, an id, a name with a number.
_DIGITS = r'[^\s"\'=()\[\]{}]*\d[^\s"\'=()\[\]{}]*'
#: Five characters without vowels (apimachinery's util/rand).
_GENERATED = r'-[bcdfghjklmnpqrstvwxz]{5}\b'
#: First lines that mean nothing on their own; the next ones are added.
_BARE = (r'(Unexpected error:?|Expected|Timed out after \S+'
         r'|Told to stop trying after \S+|Error:?)\.?$')
#: ``In [It] at: /go/.../output.go:263 @ 11/21/26 09:39:12.359``
_PLACE = r'In \[\w+\] at: (?P<path>\S+?):(?P<line>\d+)\b'
#: A line of Ginkgo v1, ``/go/.../dns.go:12``.
_PLACE_V1 = r'(?m)^(?P<path>/\S{1,500}\.go):(?P<line>\d+)$'
#: The framework's time in front of a message, ``Jul 12 08:47:53.571: ``.
_TIME = r'^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?: '
#: ``At 2026-11-21 09:39:08 +0000 UTC - event for NAME: {kubelet n2} ...``,
#: the events of the namespace that kubernetes/test/e2e/framework/debug prints
#: after a failure.
_EVENT = (
    r'\bAt (?P<at>[\d-]{10} [\d:]{8}) \S{,9} \S{,9} - event for '
    r'(?P<what>\S{,300}: \{(?P<source>\S{,300}) (?P<host>\S{,300})\} .*)')
_ROOTS = ('/test/', '/vendor/', '/pkg/')
#: The message of a failure, from Ginkgo, followed by its place and time:
#: "In [It] at: k8s.io/.../output.go:263 @ 11/21/26 09:39:12.338".
_FAILED = r'(?m)^[ \t]*\[(?:FAILED|TIMEDOUT|PANICKED|INTERRUPTED)\]'
_AT = r' @ (\d\d/\d\d/\d\d \d\d:\d\d:\d\d)'
#: "I1121 09:32:52.139217 22 helper.go:125]", of klog: 22 is the process.
_PROCESS = r'(?m)^[ \t]*[IWEF]\d{4} [\d:.]{8,15}[ \t]{1,7}(\d{1,7}) '


@dataclasses.dataclass(frozen=True)
class Cause:
    """Failures with the same place and first line.

    :param message: of the first spec, in one line and without secrets.
    :param place: ``test/e2e/framework/pod/output/output.go:263``, empty if
        the failure does not say.
    :param specs: at least one, in the order of the result.
    """

    message: str
    place: str
    specs: tuple[model.Spec, ...]

    def __str__(self) -> str:
        return f'{self.message} ({self.place})' if self.place else \
            self.message

    @property
    def sigs(self) -> tuple[str, ...]:
        return tuple(sorted({spec.sig for spec in self.specs}))

    @property
    def nodes(self) -> tuple[str, ...]:
        """Nodes whose kubelet reported events in the specs' namespaces."""
        return tuple(sorted({one['host'] for spec in self.specs
                             for one in _events(spec)
                             if one['source'] == 'kubelet' and one['host']}))


def causes(specs: collections.abc.Iterable[model.Spec],
           nodes: collections.abc.Iterable[str] = ()) -> tuple[Cause, ...]:
    """Group failures by their cause, the most frequent one first.

    :param specs: that failed or did not end.
    :param nodes: names of the cluster's nodes, which differ between failures
        of the same cause.
    """
    found: dict[tuple[str, str], list[model.Spec]] = (
        collections.defaultdict(list))
    for spec in specs:
        found[_place(spec), _stable(_first_line(spec), nodes)].append(spec)
    return tuple(Cause(message_of(members[0]), place, tuple(members))
                 for (place, line), members in sorted(
                     found.items(), key=lambda item: (
                         -len(item[1]), item[0])))


def message_of(spec: model.Spec) -> str:
    """The first line of a failure, without secrets."""
    return ' '.join(redacted(_first_line(spec)).split())[:_WIDTH]


def excerpt(spec: model.Spec, lines: int = EXCERPT) -> str:
    """The part of a spec's output that leads to its failure.

    It ends with the first line that contains FAILED, since the cleanup
    follows, or with the last line if there is none. Without secrets.
    """
    output = spec.output.rstrip().splitlines()
    for number, line in enumerate(output):
        if '[FAILED]' in line or '[TIMEDOUT]' in line:
            output = output[:number + 1]
            break
    return redacted('\n'.join(output[-lines:]))


def events(spec: model.Spec) -> tuple[str, ...]:
    """Events in the namespace of a failed spec, a line each.

    Without secrets.
    """
    return tuple(f'{one["at"]} {redacted(one["what"])}'
                 for one in _events(spec))[:50]


def ended_at(spec: model.Spec) -> datetime.datetime | None:
    """When a spec failed, from its output; None if that does not say.

    The JUnit file has only durations.
    """
    failed = re.search(_FAILED, spec.output)
    found = failed and re.search(_AT, spec.output[failed.end():])
    if not found:
        return None
    try:
        # The pod uses UTC, as for the start of the suite.
        return datetime.datetime.strptime(
            found[1], '%m/%d/%y %H:%M:%S').replace(
                tzinfo=datetime.timezone.utc)
    except ValueError:
        return None


def process(spec: model.Spec) -> str:
    """Number of the process that ran a failed spec, empty if unknown."""
    found = re.search(_PROCESS, spec.output)
    return found[1] if found else ''


def by_sig(result: model.Result) -> dict[str, tuple[int, int]]:
    """Failed and all specs that ran, by SIG, for SIGs with failures."""
    ran = collections.Counter(spec.sig for spec in result.ran)
    failed = collections.Counter(spec.sig for spec in result.failures)
    return {sig: (number, ran[sig]) for sig, number in sorted(
        failed.items(), key=lambda item: (-item[1], item[0]))}


def slowest(result: model.Result, number: int = 10
            ) -> tuple[model.Spec, ...]:
    """The slowest specs, slowest first."""
    timed = [(spec.seconds, spec) for spec in result.ran
             if spec.seconds is not None]
    timed.sort(key=lambda pair: -pair[0])
    return tuple(spec for _, spec in timed[:number])


def redacted(text: str) -> str:
    """A text without secrets."""
    # Imported only when needed: most runs have nothing to redact, and it takes
    # as long as reading an archive.
    from magnum_capi_tempest import redact
    return redact.redact(text)


def _events(spec: model.Spec) -> list[re.Match[str]]:
    found = (re.search(_EVENT, line) for line in spec.output.splitlines())
    return [one for one in found if one]


def _place(spec: model.Spec) -> str:
    """Where the test failed, without the build machine's folders."""
    found = re.search(_PLACE, spec.failure)
    if not found:
        # The last one: the first is the framework's wrapper.
        found = next(reversed([*re.finditer(_PLACE_V1, spec.failure)]), None)
    if not found:
        return ''
    path = found['path']
    for root in _ROOTS:
        _, below, rest = path.partition(root)
        if below:
            return f'{root.lstrip("/")}{rest}:{found["line"]}'
    return f'{path.rpartition("/")[2]}:{found["line"]}'


def _first_line(spec: model.Spec) -> str:
    """The words of a failure, without dumped values."""
    lines = [line.strip() for line in spec.failure.splitlines()]
    lines = [re.sub(_TIME, '', re.sub(r'^\[[A-Z]+\]\s*', '', line))
             for line in lines if line and not re.match(_PLACE, line)
             and not re.match(_PLACE_V1, line)]
    if not lines:
        return ('It began and did not end'
                if spec.status == model.UNFINISHED else
                f'It {spec.detail or "failed"} without a message')
    if not re.match(_BARE, lines[0]):
        return lines[0]
    # "<*errors.errorString | 0xc000...>:" names a type; its value is in the
    # same line or below.
    worth = [re.sub(r'^<[^>]*>:?\s*', '', line) for line in lines[1:]]
    return ' '.join([lines[0], *[line for line in worth if line][:3]])


def _stable(text: str, nodes: collections.abc.Iterable[str]) -> str:
    """A line without what differs between failures of the same cause."""
    # A message may be a single line of a megabyte.
    text = text[:2000]
    # Longest first: "worker-b" must not become "#-b".
    for node in sorted(filter(None, nodes), key=len, reverse=True):
        text = re.sub(rf'(?<![\w-]){re.escape(node)}(?![\w-])', '#', text)
    return ' '.join(re.sub(
        _GENERATED, '-#', re.sub(_DIGITS, '#', text)).split())
