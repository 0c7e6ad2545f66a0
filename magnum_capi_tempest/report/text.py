# SPDX-License-Identifier: Apache-2.0

"""Text for every format of a report: harmless, short, readable."""

from magnum_capi_tempest.report import model
from magnum_capi_tempest import texts

clean = texts.clean
line = texts.line


def reason(one: str) -> str:
    """A line of a failure's reason, whole: its end says what to do."""
    return line(one, 4000)


def whole(test: model.Test) -> str:
    """Everything that is known about a test, for a file.

    :param test: :class:`~.model.Test`.
    """
    parts = [f'{test.id}\n{test.status} after {duration(test.seconds)}']
    parts += [f'{name}\n{"=" * len(name)}\n{clean(detail.text)}'
              for detail in test.details for name in [line(detail.name)]]
    return '\n\n'.join(parts) + '\n'


def cut(text: str, most: int = 200_000) -> str:
    """Beginning and end of a text that exceeds ``most`` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return (f'{text[:half]}\n\n[... {len(text) - 2 * half} characters '
            f'omitted; the record of the run contains them ...]\n\n'
            f'{text[-half:]}')


def duration(seconds: float | None) -> str:
    """A duration for people: ``0.12 s``, ``7.1 s``, ``3 min 5 s``."""
    if seconds is None:
        return '?'
    if seconds < 1:
        return f'{seconds:.2f} s'
    if seconds < 60:
        return f'{seconds:.1f} s'
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f'{minutes} min {rest} s'
    return f'{minutes // 60} h {minutes % 60} min'
