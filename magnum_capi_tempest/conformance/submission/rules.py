# SPDX-License-Identifier: Apache-2.0

"""The rules of the verify-conformance bot. Pure.

The numbers are those of its scenarios (kubernetes-sigs/verify-conformance,
kodata/features/verify-conformance.feature at 86d380d8), which are implemented
in internal/suite/suite.go. Scenario 15, a single commit, concerns a pull
request rather than a folder. If the bot accepts a violation of its own rule,
the finding is a warning and says so.
"""

import dataclasses
import posixpath
import re
import types
import typing

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.results import crosscheck
from magnum_capi_tempest.conformance.submission import cases
from magnum_capi_tempest.conformance.submission import findings
from magnum_capi_tempest.conformance.submission import logfile
from magnum_capi_tempest.conformance.submission import product

README, LOG, JUNIT = 'README.md', 'e2e.log', 'junit_01.xml'
FILES = (README, product.NAME, LOG, JUNIT)
#: A release, and the number of older releases that are still certified.
_RELEASE = r'v1\.[0-9]{2}'
_SUPPORTED = 2
_FOLDER = re.compile(rf'({_RELEASE})/(.+)')
_TITLE = re.compile(rf'(.*) ({_RELEASE})[ /](.*)')
#: Without these words the bot ignores a pull request.
_WORDS = 'conformance results for'
#: Most findings of one kind that are listed.
_LISTED = 20


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the submission.

    :param path: from the root of the repository, ``v1.34/product/e2e.log``.
    :param size: bytes.
    """

    path: str
    size: int

    @property
    def name(self) -> str:
        return posixpath.basename(self.path)

    @property
    def folder(self) -> str:
        return posixpath.dirname(self.path)


@dataclasses.dataclass(frozen=True)
class Submission:
    """Everything that the rules check.

    :param required: :class:`~..model.Required`, the tests that certification
        requires; None if unknown.
    :param latest: latest release of Kubernetes, ``v1.36``.
    :param pages: field of PRODUCT.yaml -> content type of its URL, empty if
        it did not answer; None if not requested.
    """

    title: str
    files: tuple[File, ...]
    product: product.Product
    cases: cases.Cases
    log: logfile.Log
    required: model.Required | None
    latest: str
    pages: typing.Mapping[str, str] | None = dataclasses.field(
        default_factory=lambda: types.MappingProxyType({}))

    def path(self, name) -> str:
        """Path of the first file with that name, or the name itself.

        The case of letters is ignored, as the bot does.
        """
        return next((file.path for file in self.files
                     if file.name.casefold() == name.casefold()), name)

    @property
    def release(self) -> str:
        """Release in the folder's name, empty if there is none."""
        return next((found[1] for file in self.files
                     if (found := _FOLDER.search(file.folder))), '')


def title_for(release, name) -> str:
    """Title of the pull request, as required by instructions.md."""
    return f'Conformance results for {release}/{name}'


def judge(submission) -> list[findings.Finding]:
    """Apply every rule; findings are in the order of the rules.

    :param submission: a :class:`Submission`.
    """
    found = []
    for rule in (_title, _present, _nothing_else, _structure, _one_folder,
                 _same_release, _product, _pages, _title_form, _supported,
                 _required, _no_failure, _log_version, _log_match,
                 _log_success):
        found += rule(submission)
    numbers = list(findings.RULES)
    return sorted(found, key=lambda f: numbers.index(f.rule))


def _title(submission):
    if not submission.title:
        yield findings.Finding('1', 'the pull request has no title')


def _present(submission):
    for name in FILES:
        file = next((f for f in submission.files
                     if f.name.casefold() == name.casefold()), None)
        if file is None:
            yield findings.Finding('2', f'{name} is missing')
        elif not file.size:
            yield findings.Finding('2', f'{name} is empty', file.path)


def _nothing_else(submission):
    for file in submission.files:
        if file.name not in FILES:
            yield findings.Finding(
                '3', f'{file.name} does not belong here: only '
                f'{", ".join(FILES)} do', file.path)


def _structure(submission):
    for file in submission.files:
        if not _FOLDER.search(file.folder):
            yield findings.Finding(
                '4', 'it is not in a folder of the form v1.NN/product',
                file.path)


def _one_folder(submission):
    folders = sorted({file.folder for file in submission.files})
    if len(folders) != 1:
        named = ', '.join(f or './' for f in folders) or 'none'
        yield findings.Finding(
            '5', f'there are {len(folders)} folders instead of one: {named}')


def _same_release(submission):
    found = _TITLE.search(submission.title)
    release = found[2] if found else ''
    if release != submission.release:
        yield findings.Finding(
            '6', f'the title is for {release or "no release"}, the folder '
            f'for {submission.release or "none"}')


def _product(submission):
    if any(f.name.casefold() == product.NAME.casefold() and f.size
           for f in submission.files):
        yield from product.check(submission.product,
                                 submission.path(product.NAME))


def _pages(submission):
    for name, kind in (submission.pages or {}).items():
        field = submission.product.fields.get(name)
        where = submission.path(product.NAME), field.line if field else None
        if not kind:
            yield findings.Finding(
                '9', f'{name} did not answer; the bot lets it pass', *where,
                findings.WARNING)
        elif 'text/html' not in kind:
            yield findings.Finding(
                '9', f'{name} leads to {kind}, not to a web page', *where)


def _title_form(submission):
    title = submission.title
    found = _TITLE.search(title)
    form = f'wanted is {title_for("v1.NN", "product")!r}'
    if not found:
        yield findings.Finding(
            '11', f'the title {title!r} names no release and product; {form}')
    elif _WORDS not in title.lower():
        yield findings.Finding(
            '11', f'the bot ignores a title without {_WORDS!r}; {form}')
    elif not found[3].strip():
        yield findings.Finding(
            '11', f'the title names no product; {form}',
            level=findings.WARNING)


def _supported(submission):
    release, latest = submission.release, submission.latest
    if not release:
        yield findings.Finding('12', 'no folder names a release')
        return
    oldest = _minor(latest) - _SUPPORTED
    if _minor(release) < oldest:
        yield findings.Finding(
            '12', f'{release} is not certified any more: the latest release '
            f'is {latest}, the oldest that counts v1.{oldest}')
    elif _minor(release) > _minor(latest):
        yield findings.Finding(
            '12', f'{release} is newer than {latest}, the latest release '
            f'that is known here: to know it, "{model.UPDATE}", or --latest '
            f'{release}', level=findings.WARNING)


def _minor(release):
    return int(release.split('.')[1])


def _required(submission):
    file = submission.path(JUNIT)
    if submission.cases.broken:
        yield _unreadable(submission, '13')
        return
    if submission.required is None:
        yield findings.Finding(
            '13', 'there is no list of required tests for '
            f'{submission.release or "no release"}', file)
        return
    level = findings.ERROR
    if submission.required.remark:
        level = findings.WARNING
        yield findings.Finding('13', submission.required.remark, file,
                               level=level)
    yield from _short(_not_passed(submission, file, level), '13', file,
                      level)


def _unreadable(submission, rule):
    text, line = submission.cases.broken
    return findings.Finding(rule, f'{JUNIT} cannot be read: {text}',
                            submission.path(JUNIT), line)


def _not_passed(submission, file, level):
    """A finding for each required test that did not pass."""
    by_name = {}
    for case in submission.cases.conformance:
        by_name.setdefault(case.name, []).append(case)
    for name in submission.required.names:
        entries = by_name.get(cases.codename(name), ())
        # Of two with the same name, one is enough; errors belong to rule 14.
        if any(not entry.ends & {'skipped', 'failure'} for entry in entries):
            continue
        if not entries:
            yield findings.Finding('13', f'required, but missing: {name}',
                                   file, level=level)
        else:
            last = entries[-1]
            how = 'failed' if 'failure' in last.ends else 'was skipped'
            yield findings.Finding('13', f'required, but {how}: {name}',
                                   file, last.line, level)


def _no_failure(submission):
    file = submission.path(JUNIT)
    if submission.cases.broken:
        yield _unreadable(submission, '14')
        return
    failed = [findings.Finding('14', f'failed: {case.name}', file, case.line)
              for case in submission.cases.conformance
              if 'skipped' not in case.ends and case.ends]
    yield from _short(failed, '14', file)
    required = submission.required
    if failed or not required or required.remark:
        return
    passed = {case.name for case in submission.cases.conformance
              if not case.ends}
    missing = [name for name in required.names
               if cases.codename(name) not in passed]
    if missing:
        yield findings.Finding(
            '14', f'{len(missing)} of {len(required.names)} required '
            'tests did not pass or are missing', file)


def _short(found, rule, file, level=findings.ERROR):
    """The first findings, and the number of others."""
    found = list(found)
    yield from found[:_LISTED]
    if len(found) > _LISTED:
        yield findings.Finding(
            rule, f'and {len(found) - _LISTED} more', file, level=level)


def _log_version(submission):
    file = submission.path(LOG)
    for version in submission.log.versions:
        if submission.release and version.value != submission.release:
            yield findings.Finding(
                findings.LOG_VERSION, f'the log is of {version.value}, the '
                f'folder is for {submission.release}', file, version.line)


def _log_match(submission):
    if submission.cases.broken or not any(
            f.name == LOG and f.size for f in submission.files):
        return
    log, found, file = submission.log, submission.cases, submission.path(LOG)
    for told in crosscheck.other_run((log.seed, log.seconds),
                                     (found.seed, found.seconds)):
        yield findings.Finding(findings.LOG_MATCH, told, file)
    if log.ran is None:
        yield findings.Finding(
            findings.LOG_MATCH, 'the log has no last line "Ran N of M '
            'Specs": the suite did not end', file, level=findings.WARNING)
        return
    if log.ran.value != found.ran:
        yield findings.Finding(
            findings.LOG_MATCH, f'{log.ran.value} specs ran according to the '
            f'log, {found.ran} according to {JUNIT}', file, log.ran.line)
    if log.sums and log.sums.value[1] != found.failed:
        yield findings.Finding(
            findings.LOG_MATCH, f'{log.sums.value[1]} specs failed according '
            f'to the log, {found.failed} according to {JUNIT}', file,
            log.sums.line)


def _log_success(submission):
    end = submission.log.end
    if end and not (end.value.startswith('SUCCESS!')
                    and ' 0 Failed | 0 Pending' in end.value):
        yield findings.Finding(
            findings.LOG_SUCCESS, 'the last line of the log must say '
            f'"SUCCESS!", "0 Failed" and "0 Pending", but is "{end.value}"',
            submission.path(LOG), end.line, findings.WARNING)
