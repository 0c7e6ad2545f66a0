# SPDX-License-Identifier: Apache-2.0

"""ONE self-contained HTML file: mail it, keep it, open it in ten years.

Names and details come from clouds and programs, so the page trusts nothing:
everything is escaped, and a Content-Security-Policy lets only the page's own
script and style run, by hash. Nothing is loaded from anywhere.
"""

import base64
import hashlib

import jinja2
import markupsafe

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text

#: Order of the tests on the page: what needs a look first, then as run.
_ORDER = {status: i for i, status in enumerate(model.STATUSES)}


def render(run):
    """The run as a HTML document."""
    return page('report.html', run=run, tests=sorted(
        run.tests, key=lambda test: _ORDER[test.status]))


def page(template, *, package=None, style=(), **values):
    """A document of the one look, made from a template.

    :param template: name of a file that extends ``base.html``.
    :param package: package with a ``templates`` folder of its own, which is
        searched first; this one by default.
    :param style: names of style sheets to add to the common one.
    :param values: what the template shows.
    """
    loader = jinja2.ChoiceLoader([
        jinja2.PackageLoader(name)
        for name in (package, 'magnum_capi_tempest.report') if name])
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(
        clean=text.clean, cut=text.cut, duration=text.duration,
        line=text.line, slug=lambda status: status.replace(' ', '-'))
    style, script = (
        markupsafe.Markup(''.join(
            loader.get_source(environment, name)[0] for name in names))
        for names in (('report.css', *style), ('report.js',)))
    return environment.get_template(template).render(
        values, style=style, script=script,
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; "
               f"style-src {_hash(style)}; script-src {_hash(script)}")


def _hash(content):
    # Browsers hash the text between the tags, which is exactly ``content``.
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
