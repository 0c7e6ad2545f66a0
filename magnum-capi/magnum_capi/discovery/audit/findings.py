# SPDX-License-Identifier: Apache-2.0
"""The kinds of findings and their severities, in one table.

A finding that the paste filter cures is an error without the filter if a user
gets an unintended driver, and at most a warning with it. Those that no filter
can cure have one severity: ``broken``, ``beta-wins``, ``image-no-os-distro``,
``image-other-os-distro`` and ``shadowed``.
"""

import collections.abc
import enum
import typing

from magnum_capi.discovery import model
from magnum_capi.discovery import paste


class Severity(enum.Enum):
    """Severities, the worst first."""

    ERROR = 'error'
    WARNING = 'warning'
    INFO = 'info'


class Finding(typing.NamedTuple):
    """One thing that an operator should know.

    :param code: a key of :data:`RULES`.
    :param subject: what it is about, with its kind: ``driver x``.
    :param text: sentences without the last full stop.
    :param remedy: the same.
    """

    severity: Severity
    code: str
    subject: str
    text: str
    remedy: str


class Draft(typing.NamedTuple):
    """A finding without its severity."""

    code: str
    subject: str
    text: str
    remedy: str


_ERROR, _WARNING, _INFO = Severity
_NOTHING = None

#: {code: (severity without the filter, severity with it)}; None: no finding.
RULES: dict[str, tuple[Severity | None, Severity | None]] = {
    # The installation.
    'filter-misplaced': (_ERROR, _ERROR),
    'broken': (_ERROR, _ERROR),
    'duplicate-name': (_ERROR, _ERROR),
    'provides-nothing': (_WARNING, _WARNING),
    'beta-wins': (_ERROR, _ERROR),
    'shadowed': (_WARNING, _WARNING),
    'clash': (_ERROR, _WARNING),
    'clash-by-name': (_ERROR, _WARNING),
    'clash-with-default': (_WARNING, _INFO),
    'without-filter': (_ERROR, _NOTHING),
    'default-unusable': (_ERROR, _WARNING),
    'beta': (_INFO, _INFO),
    'unknown-in-option': (_WARNING, _WARNING),
    'os-names-other-driver': (_WARNING, _WARNING),
    # Images meant for Magnum: they have one of its properties.
    'image-no-os-distro': (_ERROR, _ERROR),
    # Correct for drivers that do not read os_distro, which is not visible.
    'image-other-os-distro': (_INFO, _INFO),
    'image-no-distro': (_WARNING, _WARNING),
    'image-ambiguous': (_ERROR, _WARNING),
    'image-not-supported': (_WARNING, _WARNING),
    'image-names-unknown': (_WARNING, _WARNING),
    'image-names-disabled': (_ERROR, _WARNING),
    'image-names-beta': (_ERROR, _WARNING),
    'image-names-broken': (_WARNING, _WARNING),
    'image-names-mismatch': (_ERROR, _WARNING),
    # All other images, grouped.
    'images-ambiguous': (_WARNING, _INFO),
    'images-deprecated': (_INFO, _INFO),
    # Templates.
    'template-ambiguous': (_ERROR, _WARNING),
    'template-not-supported': (_WARNING, _WARNING),
    'template-names-unknown': (_ERROR, _ERROR),
    'template-names-disabled': (_ERROR, _WARNING),
    'template-names-beta': (_ERROR, _WARNING),
    'template-names-broken': (_ERROR, _ERROR),
    'template-names-mismatch': (_ERROR, _WARNING),
    'template-distro': (_ERROR, _WARNING),
    'template-image-gone': (_WARNING, _WARNING),
    # What loses its driver if one is disabled.
    'cluster-stranded': (_ERROR, _ERROR),
    'template-stranded': (_ERROR, _ERROR),
}

#: Ends of the codes of refusals, after ``image`` or ``template``.
_CODES = {
    model.Kind.NO_DISTRO: 'no-distro',
    model.Kind.UNKNOWN: 'names-unknown',
    model.Kind.DISABLED: 'names-disabled',
    model.Kind.BETA: 'names-beta',
    model.Kind.BROKEN: 'names-broken',
    model.Kind.MISMATCH: 'names-mismatch',
    model.Kind.AMBIGUOUS: 'ambiguous',
    model.Kind.NOT_SUPPORTED: 'not-supported',
}
#: What an operator can do about a named driver; users have to ask.
_REMEDIES = {
    model.Kind.DISABLED: 'Take it out of [drivers]disabled_drivers, or name '
                         'another driver',
    model.Kind.BETA: 'Add it to [drivers]enabled_beta_drivers, or name '
                     'another driver',
    model.Kind.BROKEN: 'Repair it, or name another driver',
}


def refused(prefix: str, subject: str, refusal: model.Refusal,
            more: str = '') -> Draft:
    """A finding about a refusal.

    :param prefix: of the code.
    :param more: sentence that is added to the remedy.
    """
    remedy = _REMEDIES.get(refusal.kind) or refusal.hint.rstrip('.')
    return Draft(f'{prefix}-{_CODES[refusal.kind]}', subject, refusal.text,
                 f'{remedy}. {more}' if more else remedy)


def judged(drafts: collections.abc.Iterable[Draft],
           position: paste.Position | None) -> tuple[Finding, ...]:
    """Findings, the worst first, each once; then by code and subject.

    :param position: of the filter; None: unknown, taken for absent.
    """
    column = int(position is paste.Position.IN_PLACE)
    order = list(Severity)
    found = {Finding(severity, *draft) for draft in drafts
             if (severity := RULES[draft.code][column]) is not None}
    return tuple(sorted(
        found, key=lambda f: (order.index(f.severity), f[1:])))
