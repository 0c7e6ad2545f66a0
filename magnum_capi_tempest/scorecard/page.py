# SPDX-License-Identifier: Apache-2.0

"""Reports side by side, as an HTML page in the common style; and a badge."""

import html as quoting

from magnum_capi_tempest.report import html
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge

_COLOURS = {judge.PASSED: '#2e7d32', judge.FAILED: '#c62828',
            judge.UNTESTED: '#6d6d6d'}

#: Width of a character in the badge, and of the margins of a half, in pixels.
_CHARACTER, _MARGINS = 6.6, 12


def render(reports) -> str:
    """The page for some :class:`~.report.Report` objects."""
    return html.page(
        'scorecard.html', package='magnum_capi_tempest.scorecard',
        style=('scorecard.css',), title=forms.TITLE, reports=reports,
        summary=forms.summary(reports), cell=forms.cell, words=forms.words,
        profiles=list(forms.rows(reports)), states=judge.STATES,
        good=all(one.verdict == judge.PASSED for one in reports))


def badge(report) -> str:
    """An SVG: the driver, its verdict, and the kind of its nodes."""
    passed = sum(one.core[judge.PASSED] for one in report.profiles.values())
    core = sum(sum(one.core.values()) for one in report.profiles.values())
    said = f'{report.verdict}, core {passed}/{core}'
    if report.nodes != 'server':
        said += f', nodes simulated ({report.nodes})'
    left, right = (round(len(word) * _CHARACTER + _MARGINS)
                   for word in (report.name, said))
    name, said = quoting.escape(report.name), quoting.escape(said)
    return f'''\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" \
role="img" aria-label="{name}: {said}">
<title>{name}: {said}</title>
<rect width="{left}" height="20" fill="#444"/>
<rect x="{left}" width="{right}" height="20" fill="\
{_COLOURS[report.verdict]}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" \
text-anchor="middle">
<text x="{left / 2}" y="14" textLength="{left - _MARGINS}">{name}</text>
<text x="{left + right / 2}" y="14" textLength="{right - _MARGINS}">{said}\
</text>
</g>
</svg>
'''
