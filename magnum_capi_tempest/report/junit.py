# SPDX-License-Identifier: Apache-2.0

"""JUnit XML, for CI systems that display test results.

Source of the format: the schema of Jenkins' xUnit plugin; only what every
reader supports is used. XML 1.0 has no control characters, not even escaped,
so text passes through :func:`~.text.clean`.
"""

from xml.etree import ElementTree

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text


def render(run: model.Run) -> str:
    """The run as an XML document."""
    counts = run.counts
    # A reader that only counts must not consider this run green.
    verdict = not run.ok and not run.failures
    totals = {
        'tests': len(run.tests) + verdict,
        'failures': len(run.failures),
        'errors': int(verdict),
        'skipped': counts.get(model.SKIPPED, 0),
        'time': f'{run.seconds:.3f}',
    }
    texts_ = {key: str(value) for key, value in totals.items()}
    root = ElementTree.Element('testsuites', texts_)
    suite = ElementTree.SubElement(
        root, 'testsuite', texts_, name=text.line(run.title))
    if run.started:
        suite.set('timestamp', run.started.isoformat())
    if run.facts:
        properties = ElementTree.SubElement(suite, 'properties')
        for key, value in run.facts.items():
            ElementTree.SubElement(
                properties, 'property', name=text.line(key),
                value=text.clean(value))
    for test in run.tests:
        _case(suite, test)
    if verdict:
        case = ElementTree.SubElement(
            suite, 'testcase', classname='run', name='verdict', time='0')
        error = ElementTree.SubElement(
            case, 'error', message=text.line(run.verdict))
        error.text = text.clean('\n'.join((run.verdict, *run.problems)))
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding='unicode')
    return f'<?xml version="1.0" encoding="utf-8"?>\n{body}\n'


def _case(suite: ElementTree.Element, test: model.Test) -> None:
    classname, name = test.group, test.id
    if not classname:
        classname, _, name = name.rpartition('.')
    case = ElementTree.SubElement(
        suite, 'testcase', classname=text.clean(classname or name),
        name=text.clean(name),
        time=f'{test.seconds or 0:.3f}')
    if test.status == model.SKIPPED:
        ElementTree.SubElement(
            case, 'skipped', message=text.line(test.reason))
    elif test.failing:
        failure = ElementTree.SubElement(
            case, 'failure', type=test.status,
            message=text.line(test.reason) or test.status)
        failure.text = '\n'.join(
            f'{text.line(d.name)}:\n{text.cut(text.clean(d.text))}'
            for d in test.details)
