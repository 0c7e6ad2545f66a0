# SPDX-License-Identifier: Apache-2.0

"""The matrix as one HTML page of the common look."""

from magnum_capi_tempest.report import html
from magnum_capi_tempest.scorecard import forms


def render(matrix) -> str:
    """The page of a :class:`~.model.Matrix`."""
    return html.page(
        'matrix.html', package='magnum_capi_tempest.scorecard',
        style=('matrix.css',), title=forms.TITLE, matrix=matrix,
        summary=forms.summary(matrix), state=forms.state,
        sections=(('Promises', matrix.promises),
                  ('Operations', matrix.operations)))
