# SPDX-License-Identifier: Apache-2.0

"""JSON, for programs. The names in it are an interface: add, never rename."""

import json

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

#: Increased when a name changes its meaning.
VERSION = 1


def render(run: model.Run, **more: object) -> str:
    """The run as JSON text.

    :param more: additional entries by name; they must be valid in JSON.
    """
    return dumps({
        'version': VERSION,
        'title': run.title,
        'ok': run.ok,
        'verdict': run.verdict,
        'started': run.started.isoformat() if run.started else None,
        'seconds': round(run.seconds, 3),
        'passed': run.passed,
        'failed': sum(not test.of_class for test in run.failures),
        'counts': run.counts,
        'classes': run.classes,
        'facts': dict(run.facts),
        'problems': list(run.problems),
        'sections': {s.title: list(s.lines) for s in run.sections},
        'tests': [{
            'name': test.name,
            'id': test.id,
            'status': test.status,
            'seconds': test.seconds,
            'reason': text.cut(test.reason, 10_000),
            'tags': list(test.tags),
        } for test in run.tests],
    } | more)


def dumps(document: object) -> str:
    """JSON text in the style of all our files."""
    return json.dumps(document, indent=1, ensure_ascii=False) + '\n'
