# SPDX-License-Identifier: Apache-2.0

"""Reads the folder of a submission and judges it.

The folder may be ``v1.34/product`` itself, or the root of a checkout of
cncf/k8s-conformance that contains nothing else. Nothing in it is changed, and
links are not followed.
"""

import dataclasses
import datetime
import os
import pathlib
import re

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi_tempest.conformance import required as required_
from magnum_capi_tempest.conformance.results import limits as bounds
from magnum_capi_tempest.conformance.submission import cases
from magnum_capi_tempest.conformance.submission import findings
from magnum_capi_tempest.conformance.submission import logfile
from magnum_capi_tempest.conformance.submission import pages
from magnum_capi_tempest.conformance.submission import product
from magnum_capi_tempest.conformance.submission import rules
from magnum_capi_tempest import redact

_RELEASE = re.compile(r'v1\.[0-9]{2}')
#: No submission has more files, and a bot would read them all.
_MOST_FILES = 1000
#: Bytes to read at once, and most bytes of a line.
_PIECE = 1 << 20
#: Most lines with secrets that are reported for one file.
_PLACES = 5


@dataclasses.dataclass(frozen=True)
class Report:
    """The findings.

    :param online: rule 9 was checked too.
    """

    submission: rules.Submission
    findings: tuple[findings.Finding, ...]
    online: bool

    @property
    def ok(self) -> bool:
        """There are only warnings."""
        return not any(f.level == findings.ERROR for f in self.findings)


def check(folder, *, title=None, latest=None, online=False,
          today=None, progress=None) -> Report:
    """Judge a submission.

    :param folder: path.
    :param title: of the pull request; None for the one that the folder
        implies.
    :param latest: latest release of Kubernetes, ``v1.36``; by default the
        latest one with a known list of tests.
    :param online: request the URLs in PRODUCT.yaml.
    :param progress: gets messages about slow steps.
    :param today: date for judging whether the lists of tests are outdated.
    :raises UsageError: there is no such folder, or no such release.
    :raises EnvironmentProblem: it cannot be read.
    """
    try:
        submission, found = _read(pathlib.Path(folder), title, latest, online,
                                  progress or progress_.Silent())
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot read the submission: {e.strerror}',
            where=e.filename or folder) from e
    if latest is None:
        found = [*_stale(today or datetime.date.today()), *found]
    return Report(submission,
                  (*rules.judge(submission), *found), online)


def _stale(today):
    """A warning if there may be a newer release."""
    if told := required_.stale(today):
        yield findings.Finding('12', told, level=findings.WARNING)


def _read(folder, title, latest, online, progress):
    folder = folder.absolute()
    if not folder.is_dir():
        raise errors.UsageError('There is no such folder', where=folder)
    latest = latest or required_.minors()[-1]
    if not _RELEASE.fullmatch(latest):
        raise errors.UsageError(f'{latest!r} is not a release of Kubernetes',
                                hint='Use a release such as v1.36')
    root = folder.parents[1] if _RELEASE.fullmatch(
        folder.parent.name) else folder
    files, links = _files(folder, root)
    submission = rules.Submission(
        title='', files=files, product=product.Product(),
        cases=cases.Cases(), log=logfile.Log(), required=None, latest=latest)
    submission = _contents(submission, root)
    if title is None:
        title = _expected_title(submission)
    asked = pages.ask(submission.product) if online else None
    submission = dataclasses.replace(
        submission, title=title, pages=asked,
        required=_required(submission))
    return submission, [*links, *_secrets(submission, root, progress)]


def _required(submission):
    """The tests of the version in the log, or of the release."""
    version = submission.log.kubernetes
    if not version.startswith(f'{submission.release}.'):
        version = submission.release
    return required_.of(version)


def _files(folder, root):
    """Regular files below the folder, and a finding for any other kind."""
    files, links = [], []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != '.git')
        for name in sorted(names):
            path = pathlib.Path(place) / name
            shown = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                links.append(findings.Finding(
                    '2', 'it is not a regular file', shown))
            else:
                files.append(rules.File(shown, path.stat().st_size))
            if len(files) > _MOST_FILES:
                raise errors.UsageError(
                    f'There are more than {_MOST_FILES} files',
                    where=folder, hint='Name the folder v1.NN/product')
    return tuple(files), links


def _contents(submission, root):
    there = {f.path for f in submission.files}

    def opened(name):
        path = submission.path(name)
        return open(root / path if path in there else os.devnull, 'rb')

    with opened(product.NAME) as stream:
        about = product.parse(stream.read(product.MOST_BYTES + 1))
    with opened(rules.JUNIT) as stream:
        found = cases.read(_pieces(stream))
    with opened(rules.LOG) as stream:
        log = logfile.read(_lines(stream))
    return dataclasses.replace(submission, product=about, cases=found,
                               log=log)


def _pieces(stream):
    return iter(lambda: stream.read(_PIECE), b'')


def _lines(stream):
    return iter(lambda: stream.readline(_PIECE), b'')


def _expected_title(submission):
    folder = next((f.folder for f in submission.files
                   if _RELEASE.search(f.folder)), '')
    return rules.title_for(submission.release or 'v1.NN',
                           folder.rpartition('/')[2])


def _secrets(submission, root, progress):
    """Warnings for the first lines with secrets, and the number of others."""
    limit = bounds.DEFAULT.member
    for file in submission.files:
        if file.name not in rules.FILES or file.size > limit:
            continue
        with progress.step(f'looking for secrets in {file.name}'), open(
                root / file.path, encoding='utf-8', errors='replace',
                newline='\n') as stream:
            found = list(redact.places(iter(
                lambda stream=stream: stream.readline(_PIECE), '')))
        for number, kinds in found[:_PLACES]:
            yield findings.Finding(
                findings.SECRETS, f'this looks like {" and ".join(kinds)}; '
                'the file becomes public when it is submitted, and must not '
                'be changed; run the tests again without the secret',
                                  file.path, number,
                findings.WARNING)
        if len(found) > _PLACES:
            yield findings.Finding(
                findings.SECRETS, f'{len(found) - _PLACES} more lines look '
                'like secrets', file.path, level=findings.WARNING)
