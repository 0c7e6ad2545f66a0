# SPDX-License-Identifier: Apache-2.0

"""Creates the folder to submit to CNCF from the record of a run.

It has four files and nothing else. The log and the JUnit file are byte-by-byte
copies of those in the record: reviewers compare them, so nothing can be
redacted, and secrets must not be in the run in the first place. The record is
read once: its files are copied and judged at the same time. The folder gets
its name once everything in it was checked.
"""

import collections.abc
import dataclasses
import pathlib
import re
import tempfile

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance import sources
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import product as products
from magnum_capi_tempest.conformance.submission import readme
from magnum_capi_tempest.conformance.submission import rules
from magnum_capi_tempest.conformance import verdict

_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,99}')
#: Most bytes of the text on how to create a cluster.
_MOST_SETUP = 64 << 10


class Refused(errors.MagnumCapiError):
    """The run, or the description of the product, cannot be submitted.

    :param reasons: all of them, a line each.
    """

    def __init__(self, reasons: collections.abc.Iterable[str],
                 where: object) -> None:
        super().__init__('The run cannot be submitted', where=where)
        self.reasons = tuple(reasons)

    def __str__(self) -> str:
        return '\n'.join([super().__str__(),
                          *(f'  - {reason}' for reason in self.reasons)])


@dataclasses.dataclass(frozen=True)
class Built:
    """A new submission.

    :param folder: ``OUT/v1.34/product``.
    :param title: of the pull request.
    :param warnings: :class:`~.rules.Finding` of that level.
    """

    folder: pathlib.Path
    title: str
    warnings: tuple[rules.Finding, ...]


def build(record: str | pathlib.Path, product_file: str | pathlib.Path,
          out: str | pathlib.Path, *, name: str | None = None,
          setup_file: str | pathlib.Path | None = None,
          latest: str | None = None) -> Built:
    """Create a submission.

    :param record: see :data:`..sources.FORM`.
    :param product_file: the PRODUCT.yaml, used unchanged.
    :param out: existing folder in which to create ``v1.NN/product``.
    :param name: of the product's folder; by default from the product's name.
    :param setup_file: Markdown for the README: how to create a cluster.
    :param latest: latest release of Kubernetes, see :func:`.check.check`.
    :raises Refused: with every reason why it cannot be submitted.
    :raises UsageError: an argument is invalid.
    :raises Damage: the record cannot be read.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    content = _read(product_file, products.MOST_BYTES)
    setup = (_read(setup_file, _MOST_SETUP).decode('utf-8', 'replace')
             if setup_file else None)
    product = products.parse(content)
    name = _folder_name(name or product.value('name') or 'product')
    out = pathlib.Path(out).absolute()
    if not out.is_dir():
        raise errors.UsageError('There is no such folder', where=out,
                                hint='Make it first, or name another one')
    try:
        with tempfile.TemporaryDirectory(
                prefix='.submission-', dir=out) as draft:
            return _built(pathlib.Path(draft), record, content, product,
                          out, name, setup, latest)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot write the submission: {e.strerror}', where=out,
            hint='Free some space, or name another folder') from e


def _built(draft: pathlib.Path, record: str | pathlib.Path, content: bytes,
           product: products.Product, out: pathlib.Path, name: str,
           setup: str | None, latest: str | None) -> Built:
    """Write, check, and only then give the folder its name."""
    copies = draft / 'copies'
    copies.mkdir()
    judged = sources.load(record, copy_to=copies)
    result = judged.result
    release = required.release(result.cluster.kubernetes)
    reasons = [*_reasons(judged, copies),
               *(str(f) for f in rules.check_product(product, products.NAME)
                 if f.level == rules.ERROR)]
    if reasons:
        raise Refused(reasons, record)
    target = out / release / name
    if target.exists():
        raise errors.UsageError('The folder exists already', where=target,
                                hint='Remove it, or choose another --name')
    folder = draft / release / name
    folder.parent.mkdir()
    copies.rename(folder)
    (folder / products.NAME).write_bytes(content)
    (folder / rules.README).write_text(readme.render(
        result, product.value('name'), product.value('version'), setup),
        encoding='utf-8')
    title = rules.title_for(release, name)
    report = check.check(folder, title=title, latest=latest, result=result)
    if not report.ok:
        raise Refused([str(f) for f in report.findings
                       if f.level == rules.ERROR], record)
    target.parent.mkdir(exist_ok=True)
    folder.rename(target)
    return Built(target, title, report.findings)


def _reasons(judged: verdict.Verdict, copies: pathlib.Path
             ) -> collections.abc.Iterator[str]:
    """Why the run certifies nothing; empty if it does."""
    if judged.eligible:
        for name in (rules.JUNIT, rules.LOG):
            if not (copies / name).exists():
                yield f'there is no {name} in the results of the e2e tests'
        return
    yield from dict.fromkeys((*judged.certification_blockers,
                              *judged.reasons))
    if not required.release(judged.result.cluster.kubernetes):
        yield ('name the version of Kubernetes, which the record does not '
               'have: RECORD,kubernetes=VERSION')
    if judged.result.mode == model.CERTIFIED:
        for test in judged.missing[:20]:
            yield f'required, but not passed: {test}'


def _folder_name(name: str) -> str:
    name = re.sub(r'[^a-z0-9.-]+', '-', name.lower()).strip('-.')
    if not _NAME.fullmatch(name):
        raise errors.UsageError(f'{name!r} is not a valid name for a folder',
                                hint='Choose one with --name')
    return name


def _read(path: str | pathlib.Path, most: int) -> bytes:
    try:
        with open(path, 'rb') as stream:
            content = stream.read(most + 1)
    except OSError as e:
        raise errors.UsageError(f'Cannot read the file: {e.strerror}',
                                where=path) from e
    if len(content) > most:
        raise errors.UsageError(f'The file is longer than {most} bytes',
                                where=path)
    return content
