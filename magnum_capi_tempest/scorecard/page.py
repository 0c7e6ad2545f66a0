# SPDX-License-Identifier: Apache-2.0

"""Reports side by side, as an HTML page in the common style."""

from magnum_capi_tempest.report import html
from magnum_capi_tempest.scorecard import forms
from magnum_capi_tempest.scorecard import judge


def render(reports) -> str:
    """The page for some :class:`~.report.Report` objects."""
    return html.page(
        'scorecard.html', package='magnum_capi_tempest.scorecard',
        style=('scorecard.css',), title=forms.TITLE, reports=reports,
        summary=forms.summary(reports), cell=forms.cell, words=forms.words,
        profiles=list(forms.rows(reports)), states=judge.STATES,
        good=all(one.verdict == judge.PASSED for one in reports))
