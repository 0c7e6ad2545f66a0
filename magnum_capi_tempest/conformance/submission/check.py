# SPDX-License-Identifier: Apache-2.0

"""Reads the folder of a submission and judges it.

The folder may be ``v1.34/product`` itself, ``v1.34``, or the root of a
checkout of cncf/k8s-conformance that contains nothing else. Nothing in it is
changed, and links are not followed.
"""

import collections.abc
import dataclasses
import functools
import os
import pathlib
import typing

from magnum_capi import errors
from magnum_capi import progress as progress_
from magnum_capi_tempest.conformance import archive
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required as required_
from magnum_capi_tempest.conformance.submission import product as products
from magnum_capi_tempest.conformance.submission import rules
from magnum_capi_tempest import redact

#: No submission has more files, and a bot would read them all.
_MOST_FILES = 1000
#: Most bytes of a line, and most lines with secrets that are reported for one
#: file.
_LINE, _PLACES = 1 << 20, 5
#: Seconds for one page.
_TIMEOUT = 20


@dataclasses.dataclass(frozen=True)
class Report:
    """The findings.

    :param online: rule 9 was checked too.
    """

    submission: rules.Submission
    findings: tuple[rules.Finding, ...]
    online: bool

    @property
    def ok(self) -> bool:
        """There are only warnings."""
        return not any(f.level == rules.ERROR for f in self.findings)


def check(folder: str | pathlib.Path, *, title: str | None = None,
          latest: str | None = None, online: bool = False,
          result: model.Result | None = None,
          progress: progress_.Progress | None = None) -> Report:
    """Judge a submission.

    :param title: of the pull request; None for the one that the folder
        implies.
    :param latest: latest release of Kubernetes, ``v1.36``; by default the
        latest one with a known list of tests.
    :param online: request the URLs in PRODUCT.yaml.
    :param result: of its files, if they have just been read.
    :param progress: gets messages about slow steps.
    :raises UsageError: there is no such folder, or no such release.
    :raises EnvironmentProblem: it cannot be read.
    """
    folder = pathlib.Path(folder).absolute()
    if folder.is_file():
        raise errors.UsageError(
            'It is a file, not a folder', where=folder,
            hint='To make the folder from an archive, use "conformance submit '
                 'ARCHIVE --product FILE --output DIR"')
    if not folder.is_dir():
        raise errors.UsageError('There is no such folder', where=folder)
    latest = latest or required_.minors()[-1]
    if not rules.RELEASE.fullmatch(latest):
        raise errors.UsageError(f'{latest!r} is not a release of Kubernetes',
                                hint='Use a release such as v1.36')
    try:
        return _check(folder, title, latest, online, result,
                      progress or progress_.Silent())
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot read the submission: {e.strerror}',
            where=e.filename or folder) from e


def _check(folder: pathlib.Path, title: str | None, latest: str, online: bool,
           result: model.Result | None, progress: progress_.Progress
           ) -> Report:
    root = next((place.parent for place in (folder, folder.parent)
                 if rules.RELEASE.fullmatch(place.name)), folder)
    files, links = _files(folder, root)
    release = rules.release_of(files)
    broken = ''
    if result is None:
        result, broken = _result(files, root)
    product = _product(files, root)
    found = rules.Submission(
        title=_title(files) if title is None else title, files=files,
        product=product, result=result, broken=broken,
        required=_required(release, result), latest=latest,
        pages=ask(product) if online else None)
    return Report(found, (*rules.judge(found), *links,
                          *_secrets(files, root, progress)), online)


def _files(folder: pathlib.Path, root: pathlib.Path
           ) -> tuple[tuple[rules.File, ...], list[rules.Finding]]:
    """Regular files below the folder, and a finding for any other kind."""
    files: list[rules.File] = []
    links: list[rules.Finding] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f != '.git')
        for name in sorted(names):
            path = pathlib.Path(place) / name
            shown = path.relative_to(root).as_posix()
            if path.is_symlink() or not path.is_file():
                links.append(rules.Finding(
                    '2', 'it is not a regular file', shown))
            else:
                files.append(rules.File(shown, path.stat().st_size))
            if len(files) > _MOST_FILES:
                raise errors.UsageError(
                    f'There are more than {_MOST_FILES} files',
                    where=folder, hint='Name the folder v1.NN/product')
    return tuple(files), links


def _result(files: collections.abc.Iterable[rules.File], root: pathlib.Path
            ) -> tuple[model.Result | None, str]:
    """The result of the run, or None and why it cannot be read."""
    folder = next((file.folder for file in files
                   if file.name == rules.JUNIT and file.size), None)
    if folder is None:
        return None, f'there is no {rules.JUNIT} that could be read'
    try:
        return archive.read(root / folder), ''
    except damage.Damage as e:
        return None, f'{rules.JUNIT} or {rules.LOG} cannot be read: {e}'


def _required(release: str, result: model.Result | None
              ) -> tuple[str, ...] | None:
    """The tests that a release requires; None if they are not known."""
    if result is None or required_.release(
            result.cluster.kubernetes) != release:
        return required_.of(release)
    return required_.of(result.cluster.kubernetes,
                        {spec.name for spec in result.specs})


def _product(files: collections.abc.Iterable[rules.File], root: pathlib.Path
             ) -> products.Product:
    path = next((file.path for file in files
                 if file.name.casefold() == products.NAME.casefold()), None)
    if path is None:
        return products.Product()
    with open(root / path, 'rb') as stream:
        return products.parse(stream.read(products.MOST_BYTES + 1))


def _title(files: collections.abc.Collection[rules.File]) -> str:
    """The title that the folder implies."""
    folder = next((f.folder for f in files
                   if rules.RELEASE.search(f.folder)), '')
    return rules.title_for(rules.release_of(files) or 'v1.NN',
                           folder.rpartition('/')[2])


def ask(product: products.Product,
        get: collections.abc.Callable[..., typing.Any] | None = None
        ) -> dict[str, str]:
    """Content type of each URL of a product, empty if there was no answer.

    Like the bot (internal/plugin/plugin.go), sends HEAD to each and follows
    redirects. Unlike the bot, verifies certificates: a page that makes
    browsers warn should be reported before others see it.

    :param get: "requests.head", or a function with the same parameters.
    :returns: by name of the field; empty fields are omitted.
    """
    # The import takes as long as a whole check, which seldom needs it.
    import requests
    get = get or requests.head
    found = {}
    for name in products.PAGES:
        url = product.value(name)
        if url and not products.url_problem(url):
            try:
                answer = get(url, timeout=_TIMEOUT, allow_redirects=True)
                found[name] = answer.headers.get('Content-Type', '')
            except requests.RequestException:
                found[name] = ''
    return found


def _secrets(files: collections.abc.Iterable[rules.File], root: pathlib.Path,
             progress: progress_.Progress
             ) -> collections.abc.Iterator[rules.Finding]:
    """Warnings for the first lines with secrets, and the number of others."""
    for file in files:
        if file.name not in rules.FILES or file.size > archive.MEMBER:
            continue
        with progress.step(f'looking for secrets in {file.name}'), open(
                root / file.path, encoding='utf-8', errors='replace',
                newline='\n') as stream:
            found = list(redact.places(iter(
                functools.partial(stream.readline, _LINE), '')))
        for number, kinds in found[:_PLACES]:
            yield rules.Finding(
                rules.SECRETS, f'this looks like {" and ".join(kinds)}; '
                'the file becomes public when it is submitted, and must not '
                'be changed; run the tests again without the secret',
                file.path, number, rules.WARNING)
        if len(found) > _PLACES:
            yield rules.Finding(
                rules.SECRETS, f'{len(found) - _PLACES} more lines look '
                'like secrets', file.path, level=rules.WARNING)
