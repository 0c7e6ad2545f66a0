# SPDX-License-Identifier: Apache-2.0
"""Writes results and comparisons to files."""

from magnum_capi_tempest.conformance.reports import comparison_forms
from magnum_capi_tempest.conformance.reports import page
from magnum_capi_tempest.conformance.reports import presentation
from magnum_capi_tempest import report
from magnum_capi_tempest.report import json_
from magnum_capi_tempest.report import junit
from magnum_capi_tempest.report import markdown
from magnum_capi_tempest.report import subunit_stream

#: The format that people open.
PAGE = 'report.html'


def to_json(result, verdict, reruns=(), ended=None) -> str:
    """The JSON report: that of every run, plus a part on conformance.

    :param ended: :class:`~.rerun.Ended`, if the failures have just been
        rerun.
    """
    more = {} if ended is None else {'rerun': {
        'exit_code': ended.exit_code,
        'deviations': list(ended.deviations),
        'broken': list(ended.broken)}}
    return json_.render(
        presentation.run(result, verdict, reruns), **more,
        conformance=presentation.document(result, verdict, reruns))


def to_markdown(result, verdict, reruns=()) -> str:
    return markdown.render(presentation.run(result, verdict, reruns))


def write(folder, result, verdict, reruns=()):
    """Write a result to a folder in every format.

    :returns: dict of file name to path.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    run = presentation.run(result, verdict, reruns)
    return report.write_files(folder, {
        PAGE: page.render(result, verdict, reruns),
        'report.md': markdown.render(run),
        'report.json': to_json(result, verdict, reruns),
        'junit.xml': junit.render(run),
        'report.subunit': subunit_stream.render(run),
    })


def write_comparison(folder, comparison):
    """Like :func:`write`, for a comparison."""
    return report.write_files(folder, {
        'comparison.html': page.render_comparison(comparison),
        'comparison.md': comparison_forms.to_markdown(comparison),
        'comparison.json': comparison_forms.to_json(comparison),
    })
