# SPDX-License-Identifier: Apache-2.0

"""The rules of the verify-conformance bot. Pure.

The numbers are those of its scenarios (kubernetes-sigs/verify-conformance,
kodata/features/verify-conformance.feature at 86d380d8), which are implemented
in internal/suite/suite.go. Scenario 15, a single commit, concerns a pull
request rather than a folder. If the bot accepts a violation of its own rule,
the finding is a warning and says so.
"""

import collections
import collections.abc
import dataclasses
import posixpath
import re
import typing

from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.submission import product as products
from magnum_capi_tempest import texts

#: The bot rejects the pull request, or the run would certify nothing.
ERROR = 'error'
#: The bot accepts it, but reviewers may not.
WARNING = 'warning'

#: Requirements 10 and 14 of instructions.md of cncf/k8s-conformance, which
#: have no scenario, and a technical requirement of its reviewing.md.
LOG_VERSION = 'instructions 10'
LOG_MATCH = 'instructions 14'
LOG_SUCCESS = 'reviewing 5'
SECRETS = 'secrets'

README, LOG, JUNIT = 'README.md', archive.LOG, archive.JUNIT
FILES = (README, products.NAME, LOG, JUNIT)
RELEASE = re.compile(r'v1\.[0-9]{2}')
#: Number of older releases that are still certified.
_SUPPORTED = 2
_FOLDER = re.compile(rf'({RELEASE.pattern})/(.+)')
_TITLE = re.compile(rf'(.*) ({RELEASE.pattern})[ /](.*)')
#: Without these words the bot ignores a pull request.
_WORDS = 'conformance results for'
#: Most findings of one kind that are listed.
_LISTED = 20
#: The bot repairs names in this way; the quotes in one name changed.
_REPAIRS = (('&#39;', "'"), ('&#34;', '"'), ('&gt;', '>'),
            ("'cat /tmp/health'", '"cat /tmp/health"'))


@dataclasses.dataclass(frozen=True)
class Finding:
    """One problem.

    :param rule: number of a scenario, or one of the words above.
    :param text: what is wrong and what is required.
    :param file: path from the root of the submission, empty if no file is to
        blame.
    :param line: number of the offending line, from 1; None if there is none
        (something is missing).
    :param level: ERROR or WARNING.
    """

    rule: str
    text: str
    file: str = ''
    line: int | None = None
    level: str = ERROR

    def __str__(self) -> str:
        rule = (f'rule {self.rule}' if self.rule.isdigit() else self.rule)
        # In the form of editors and compilers.
        where = ''.join(f'{part}:' for part in (self.file, self.line) if part)
        return (f'{self.level}: {where}{" " if where else ""}{self.text} '
                f'[{rule}]')


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

    :param result: of the run, None if JUNIT and LOG cannot be read, and
        ``broken`` says why.
    :param required: names of the tests that certification requires; None if
        unknown.
    :param latest: latest release of Kubernetes, ``v1.36``.
    :param pages: field of PRODUCT.yaml -> content type of its URL, empty if
        it did not answer; None if not requested.
    """

    title: str
    files: tuple[File, ...]
    product: products.Product
    result: model.Result | None
    required: tuple[str, ...] | None
    latest: str
    broken: str = ''
    pages: typing.Mapping[str, str] | None = None

    def path(self, name: str) -> str:
        """Path of the first file with that name, or the name itself.

        The case of letters is ignored, as the bot does.
        """
        return next((file.path for file in self.files
                     if file.name.casefold() == name.casefold()), name)

    @property
    def release(self) -> str:
        """Release in the folder's name, empty if there is none."""
        return release_of(self.files)


def release_of(files: collections.abc.Iterable[File]) -> str:
    """Release in the name of the files' folder, empty if there is none."""
    return next((found[1] for file in files
                 if (found := _FOLDER.search(file.folder))), '')


def title_for(release: str, name: str) -> str:
    """Title of the pull request, as required by instructions.md."""
    return f'Conformance results for {release}/{name}'


def judge(submission: Submission) -> list[Finding]:
    """Apply every rule; findings are in the order of the rules."""
    return [found for rule in (
        _title, _present, _nothing_else, _structure, _one_folder,
        _same_release, _product, _pages, _title_form, _supported,
        _required, _no_failure, _log_version, _log_match, _log_success)
        for found in rule(submission)]


def check_product(product: products.Product, file: str
                  ) -> collections.abc.Iterator[Finding]:
    """Rules 7, 8 and 10, and the part of rule 2 that the file is YAML.

    :param file: path of the file, for the findings.
    """
    if product.broken:
        text, line = product.broken
        yield Finding('2', f'{products.NAME} cannot be read: {text}', file,
                      line)
        return
    yield from _fields(product, file)
    yield from _addresses(product, file)
    value = product.value('type')
    if value and value not in products.TYPES:
        # The step of the bot's scenario lacks quotation marks, so its
        # expression does not match and nothing is checked (measured).
        yield Finding(
            '10', f'the type is {value!r}, not one of '
            f'{", ".join(products.TYPES)}; the bot lets it pass', file,
            product.line('type'), WARNING)


def _fields(product: products.Product, file: str
            ) -> collections.abc.Iterator[Finding]:
    for name in product.twice:
        yield Finding(
            '7', f'the field {name} is there twice; the bot takes the last',
            file, product.line(name), WARNING)
    for name, given in product.fields.items():
        value = given.value or ''
        # Of URLs, rule 8 says so.
        if name not in products.URLS and texts.clean(value) != value:
            yield Finding(
                '7', f'the field {texts.line(name)} has control or invisible '
                'characters; the bot lets it pass', file, given.line, WARNING)
    for name in products.REQUIRED:
        field = product.fields.get(name)
        if field is None:
            yield Finding('7', f'the field {name} is missing', file)
        elif name not in product.nested and not (field.value or '').strip():
            yield Finding('7', f'the field {name} is empty', file, field.line)


def _addresses(product: products.Product, file: str
               ) -> collections.abc.Iterator[Finding]:
    for name in product.nested:
        yield Finding(
            '8', f'the field {name} is not a text: the bot then reads none '
            'of the fields', file, product.line(name))
    for name in (*products.URLS, products.EMAIL):
        field = product.fields.get(name)
        if not field or not field.value:
            continue
        value = field.value
        what, problem = (
            ('an address', products.email_problem(value))
            if name == products.EMAIL else
            ('a URL', products.url_problem(value)))
        if problem:
            yield Finding('8', f'{name} is not {what}: {problem}', file,
                          field.line)
        elif name != products.EMAIL and not value.startswith(
                ('https://', 'http://')):
            yield Finding(
                '8', f'{name} is not the URL of a web page; the bot lets '
                'it pass', file, field.line, WARNING)
        elif name == products.LOGO and value.partition('?')[
                0].lower().endswith(products.PIXELS):
            yield Finding(
                '8', f'{name} is not of SVG, AI or EPS, which instructions.md '
                'asks for; the bot lets it pass', file, field.line, WARNING)


def _title(submission: Submission) -> collections.abc.Iterator[Finding]:
    if not submission.title:
        yield Finding('1', 'the pull request has no title')


def _present(submission: Submission) -> collections.abc.Iterator[Finding]:
    for name in FILES:
        file = next((f for f in submission.files
                     if f.name.casefold() == name.casefold()), None)
        if file is None:
            yield Finding('2', f'{name} is missing')
        elif not file.size:
            yield Finding('2', f'{name} is empty', file.path)


def _nothing_else(submission: Submission) -> collections.abc.Iterator[Finding]:
    for file in submission.files:
        if file.name not in FILES:
            yield Finding('3', f'{file.name} does not belong here: only '
                          f'{", ".join(FILES)} do', file.path)


def _structure(submission: Submission) -> collections.abc.Iterator[Finding]:
    for file in submission.files:
        if not _FOLDER.search(file.folder):
            yield Finding('4', 'it is not in a folder of the form '
                          'v1.NN/product', file.path)


def _one_folder(submission: Submission) -> collections.abc.Iterator[Finding]:
    folders = sorted({file.folder for file in submission.files})
    if len(folders) != 1:
        named = ', '.join(f or './' for f in folders) or 'none'
        yield Finding('5', f'there are {len(folders)} folders instead of '
                      f'one: {named}')


def _same_release(submission: Submission) -> collections.abc.Iterator[Finding]:
    found = _TITLE.search(submission.title)
    release = found[2] if found else ''
    if release != submission.release:
        yield Finding('6', f'the title is for {release or "no release"}, the '
                      f'folder for {submission.release or "none"}')


def _product(submission: Submission) -> collections.abc.Iterator[Finding]:
    if any(f.name.casefold() == products.NAME.casefold() and f.size
           for f in submission.files):
        yield from check_product(submission.product,
                                 submission.path(products.NAME))


def _pages(submission: Submission) -> collections.abc.Iterator[Finding]:
    for name, kind in (submission.pages or {}).items():
        where = submission.path(products.NAME), submission.product.line(name)
        if not kind:
            yield Finding('9', f'{name} did not answer; the bot lets it pass',
                          *where, WARNING)
        elif 'text/html' not in kind:
            yield Finding('9', f'{name} leads to {kind}, not to a web page',
                          *where)


def _title_form(submission: Submission) -> collections.abc.Iterator[Finding]:
    title = submission.title
    found = _TITLE.search(title)
    form = f'wanted is {title_for("v1.NN", "product")!r}'
    if not found:
        yield Finding('11', f'the title {title!r} names no release and '
                      f'product; {form}')
    elif _WORDS not in title.lower():
        yield Finding('11', f'the bot ignores a title without {_WORDS!r}; '
                      f'{form}')
    elif not found[3].strip():
        yield Finding('11', f'the title names no product; {form}',
                      level=WARNING)


def _supported(submission: Submission) -> collections.abc.Iterator[Finding]:
    release, latest = submission.release, submission.latest
    if not release:
        yield Finding('12', 'no folder names a release')
        return
    oldest = _minor(latest) - _SUPPORTED
    if _minor(release) < oldest:
        yield Finding(
            '12', f'{release} is not certified any more: the latest release '
            f'is {latest}, the oldest that counts v1.{oldest}')
    elif _minor(release) > _minor(latest):
        yield Finding(
            '12', f'{release} is newer than {latest}, the latest release '
            f'that is known here: name it with --latest {release}',
            level=WARNING)


def _minor(release: str) -> int:
    return int(release.split('.')[1])


def _required(submission: Submission) -> collections.abc.Iterator[Finding]:
    file = submission.path(JUNIT)
    if submission.result is None:
        yield Finding('13', submission.broken, file)
    elif submission.required is None:
        yield Finding(
            '13', 'there is no list of required tests for '
            f'{submission.release or "no release"} here: the bot has one',
            file, level=WARNING)
    else:
        yield from _short(_not_passed(
            submission.result.specs, submission.required, file), '13', file)


def _not_passed(specs: collections.abc.Iterable[model.Spec],
                required: collections.abc.Iterable[str], file: str
                ) -> collections.abc.Iterator[Finding]:
    """A finding for each required test that did not pass."""
    by_name = collections.defaultdict(list)
    for spec in specs:
        by_name[_codename(spec.name)].append(spec)
    for name in required:
        same = by_name[_codename(name)]
        # Of two with the same name, one is enough.
        if any(spec.status == model.PASSED for spec in same):
            continue
        if not same:
            yield Finding('13', f'required, but missing: {name}', file)
        else:
            how = ('was skipped' if same[-1].status == model.SKIPPED
                   else same[-1].status)
            yield Finding('13', f'required, but {how}: {name}', file,
                          same[-1].line)


def _no_failure(submission: Submission) -> collections.abc.Iterator[Finding]:
    file = submission.path(JUNIT)
    if submission.result is None:
        return      # Rule 13 says so.
    specs = [spec for spec in submission.result.specs if spec.conformance]
    failed = [Finding('14', f'failed: {spec.name}', file, spec.line)
              for spec in specs
              if spec.status in (model.FAILED, model.UNFINISHED)]
    yield from _short(failed, '14', file)
    passed = {_codename(spec.name) for spec in specs
              if spec.status == model.PASSED}
    required = submission.required or ()
    missing = [name for name in required if _codename(name) not in passed]
    if missing and not failed:
        yield Finding(
            '14', f'{len(missing)} of {len(required)} required tests did not '
            'pass or are missing', file)


def _codename(name: str) -> str:
    """Name of a test as the bot compares it."""
    for old, new in _REPAIRS:
        name = name.replace(old, new)
    return name


def _short(findings: collections.abc.Iterable[Finding], rule: str, file: str
           ) -> collections.abc.Iterator[Finding]:
    """The first findings, and the number of others."""
    found = list(findings)
    yield from found[:_LISTED]
    if len(found) > _LISTED:
        yield Finding(rule, f'and {len(found) - _LISTED} more', file)


def _log_version(submission: Submission) -> collections.abc.Iterator[Finding]:
    log, file = _log_of(submission), submission.path(LOG)
    for release, line in log.versions if log else ():
        if submission.release and release != submission.release:
            yield Finding(
                LOG_VERSION, f'the log is of {release}, the folder is for '
                f'{submission.release}', file, line)


def _log_match(submission: Submission) -> collections.abc.Iterator[Finding]:
    result, file = submission.result, submission.path(LOG)
    if result is None or result.log is None or not result.specs:
        return      # Rule 2 says so.
    for problem in result.problems:
        yield Finding(LOG_MATCH, problem, file)
    if result.log.ran is None:
        yield Finding(LOG_MATCH, 'the log has no last line "Ran N of M '
                      'Specs": the suite did not end', file, level=WARNING)


def _log_success(submission: Submission) -> collections.abc.Iterator[Finding]:
    log = _log_of(submission)
    if log and log.end and not (
            log.success and ' 0 Failed | 0 Pending' in log.end):
        yield Finding(
            LOG_SUCCESS, 'the last line of the log must say "SUCCESS!", '
            f'"0 Failed" and "0 Pending", but is "{log.end}"',
            submission.path(LOG), level=WARNING)


def _log_of(submission: Submission) -> model.Log | None:
    return submission.result.log if submission.result else None
