# SPDX-License-Identifier: Apache-2.0

"""ONE self-contained HTML file: mail it, keep it, open it in ten years.

Names and details come from clouds and programs, so the page trusts nothing:
everything is escaped, and a Content-Security-Policy lets only the page's own
script and style run, by hash. Nothing is loaded from anywhere.
"""

import base64
import dataclasses
import functools
import hashlib

import jinja2
import markupsafe

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

#: Order of the tests on the page: what needs a look first, then as run.
_ORDER = {status: i for i, status in enumerate(model.STATUSES)}


#: Characters of what tests left that a page has; the record has it all.
ROOM = 600_000
#: Of one text of a test that passed.
_SHORT = 300
#: Lines of a section that are not folded.
_FEW = 5


def render(run):
    """The run as a HTML document, at most about 1 MB for 1,000 tests."""
    return page('report.html', run=run, few=_FEW, tests=sorted(
        _bounded(run.tests), key=lambda test: _ORDER[test.status]))


def _bounded(tests):
    """The tests with as much of their details as a page has room for.

    What did not pass shares the room; logs of what passed are left out.
    """
    most = ROOM // max(1, sum(
        len(d.text) > _SHORT for t in tests if t.status != model.PASSED
        for d in t.details))
    for test in tests:
        passed = test.status == model.PASSED
        kept = [d if passed else
                dataclasses.replace(d, text=text.cut(d.text, most))
                for d in test.details if not passed or len(d.text) <= _SHORT]
        yield dataclasses.replace(test, details=tuple(kept))


def page(template, *, package=None, style=(), **values):
    """A document of the one look, made from a template.

    :param template: name of a file that extends ``base.html``.
    :param package: package with a ``templates`` folder of its own, which is
        searched first; this one by default.
    :param style: names of style sheets to add to the common one.
    :param values: what the template shows.
    """
    environment = _environment(package)
    style, script = (
        markupsafe.Markup(''.join(
            environment.loader.get_source(environment, name)[0]
            for name in names))
        for names in (('report.css', *style), ('report.js',)))
    return environment.get_template(template).render(
        values, style=style, script=script,
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; "
               f"style-src {_hash(style)}; script-src {_hash(script)}")


@functools.cache
def _environment(package):
    # It keeps the templates that it has compiled.
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([
            jinja2.PackageLoader(name)
            for name in (package, 'magnum_capi_tempest.report') if name]),
        autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        clean=text.clean, cut=text.cut, duration=text.duration,
        line=text.line, slug=lambda status: status.replace(' ', '-'))
    return environment


def _hash(content):
    # Browsers hash the text between the tags, which is exactly ``content``.
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
