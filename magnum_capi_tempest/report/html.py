# SPDX-License-Identifier: Apache-2.0

"""A single self-contained HTML file: mail it, keep it, open it in ten years.

Names and details come from clouds and programs, so the page trusts nothing:
everything is escaped, and a Content-Security-Policy allows only the page's own
script and style, by hash. Nothing is loaded from elsewhere.
"""

import base64
import collections
import collections.abc
import dataclasses
import functools
import hashlib
import re
import typing

import jinja2
import markupsafe

from magnum_capi_tempest.report import model
from magnum_capi_tempest.report import text
from magnum_capi_tempest.report import timeline

#: Order of the tests on the page: what needs attention first, then as run.
_ORDER = {status: i for i, status in enumerate(model.STATUSES)}


#: Most characters of tests and their details on a page; the record has all of
#: them. A test itself takes about so many, with its bar in the timeline.
ROOM, TEST = 880_000, 600
#: Most characters of one text of a passed test.
_SHORT = 300
#: In the name of a detail about a cluster, its uuid.
_OF_CLUSTER = re.compile(
    r' of [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=(-\d+)?$)')
#: What differs between failures of one cause.
_VARIES = re.compile(
    r'\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}|\d+)\b'
    r'|tempest-[\w-]+')
#: Up to this many lines, a section is not folded.
_FEW = 5


def render(run: model.Run) -> str:
    """The run as an HTML document, at most about 1 MB for 1,000 tests."""
    return page(
        'report.html', run=run, few=_FEW, timeline=timeline.of(run),
        width=timeline.WIDTH,
        groups=_groups(sorted(_bounded(run.tests),
                              key=lambda test: _ORDER[test.status])))


@dataclasses.dataclass(frozen=True)
class _Group:
    """Tests that are shown together.

    :param title: empty: each stands for itself.
    """

    tests: list[model.Test]
    title: str = ''
    open: bool = False


def _groups(tests: collections.abc.Sequence[model.Test]) -> list[_Group]:
    """Failures by their cause, skipped tests by their reason, all others.

    :param tests: in the order of their statuses.
    """
    same = collections.defaultdict(list)
    for test in tests:
        same[_cause(test)].append(test)
    found = []
    for (status, cause), some in same.items():
        failing = status in model.FAILING
        title = cause and (failing and len(some) > 1
                           or status == model.SKIPPED)
        found.append(_Group(
            some, f'{len(some)} {status}: {cause}' if title else '',
            open=failing))
    return found


def _cause(test: model.Test) -> tuple[str, str]:
    """What tests of one group have in common: status and words.

    Ids and numbers differ from one failure to the next.
    """
    if not test.failing and test.status != model.SKIPPED:
        return test.status, ''
    first = next(iter(test.reason.splitlines()), '')
    return test.status, text.line(_VARIES.sub('…', first))


def _bounded(tests: collections.abc.Sequence[model.Test]
             ) -> collections.abc.Iterator[model.Test]:
    """The tests with as much of their details as fits on a page.

    Tests that did not pass share the space; logs of passed tests are omitted.
    """
    room = max(ROOM // 4, ROOM - TEST * len(tests))
    most = room // max(1, sum(
        len(d.text) > _SHORT for t in tests if t.status != model.PASSED
        for d in t.details))
    for test in tests:
        passed = test.status == model.PASSED
        kept = [d if passed else
                dataclasses.replace(d, text=text.cut(d.text, most))
                for d in test.details if not passed or len(d.text) <= _SHORT]
        # The timeline shows which worker ran it.
        yield dataclasses.replace(
            test, details=tuple(_titled(kept)), tags=tuple(
                tag for tag in test.tags
                if not tag.startswith(timeline.WORKER)))


def _titled(details: list[model.Detail]) -> list[model.Detail]:
    """The details without the cluster in their names, if there is only one."""
    if len({found.group() for d in details
            if (found := _OF_CLUSTER.search(d.name))}) == 1:
        details = [dataclasses.replace(d, name=_OF_CLUSTER.sub('', d.name))
                   for d in details]
    return details


def page(template: str, *, package: str | None = None,
         style: collections.abc.Sequence[str] = (), **values: typing.Any
         ) -> str:
    """A document in the common style, made from a template.

    :param template: name of a file that extends ``base.html``.
    :param package: package with its own ``templates`` folder, which is
        searched first; this one by default.
    :param style: names of style sheets to add to the common one.
    :param values: of the template.
    """
    environment = _environment(package)
    loader = environment.loader
    assert loader
    style, script = (
        markupsafe.Markup(''.join(
            loader.get_source(environment, name)[0]
            for name in names))
        for names in (('report.css', *style), ('report.js',)))
    return environment.get_template(template).render(
        values, style=style, script=script,
        policy="default-src 'none'; base-uri 'none'; form-action 'none'; "
               f"style-src {_hash(style)}; script-src {_hash(script)}")


@functools.cache
def _environment(package: str | None) -> jinja2.Environment:
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


def _hash(content: markupsafe.Markup) -> str:
    # Browsers hash the text between the tags, which is exactly ``content``.
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
