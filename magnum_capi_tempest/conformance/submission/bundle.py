# SPDX-License-Identifier: Apache-2.0

"""Creates the folder to submit to CNCF from the archive of a run.

It has four files and nothing else. The log and the JUnit file are byte-by-byte
copies of those in the archive: reviewers compare them, so nothing can be
redacted, and secrets must not be in the run in the first place. The folder
gets its name once everything in it was checked.
"""

import dataclasses
import pathlib
import re
import shutil
import tempfile

from magnum_capi import errors
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.reports import sources
from magnum_capi_tempest.conformance import required as required_
from magnum_capi_tempest.conformance.results import members
from magnum_capi_tempest.conformance.results import reading
from magnum_capi_tempest.conformance.run import runs
from magnum_capi_tempest.conformance.submission import check
from magnum_capi_tempest.conformance.submission import findings
from magnum_capi_tempest.conformance.submission import product as products
from magnum_capi_tempest.conformance.submission import readme
from magnum_capi_tempest.conformance.submission import rules
from magnum_capi_tempest.conformance import verdict as verdicts

_RELEASE = re.compile(r'v1\.[0-9]{2}(?![0-9])')
_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,99}')
#: Most bytes of the text on how to create a cluster.
_MOST_SETUP = 64 << 10


class Refused(errors.MagnumCapiError):
    """The run, or the description of the product, cannot be submitted.

    :param reasons: all of them, a line each.
    """

    def __init__(self, reasons, **kwargs):
        super().__init__('The run cannot be submitted', **kwargs)
        self.reasons = tuple(reasons)

    def __str__(self):
        return '\n'.join([super().__str__(),
                          *(f'  - {reason}' for reason in self.reasons)])


@dataclasses.dataclass(frozen=True)
class Bundle:
    """A new submission.

    :param folder: ``OUT/v1.34/product``.
    :param title: of the pull request.
    :param warnings: :class:`~.findings.Finding` of that level.
    """

    folder: pathlib.Path
    title: str
    warnings: tuple[findings.Finding, ...]


def build(source, product_file, out, *, name=None, setup_file=None,
          latest=None, kubernetes='') -> Bundle:
    """Create a submission.

    :param source: Sonobuoy archive, or folder of Hydrophone's files.
    :param product_file: the PRODUCT.yaml, used unchanged.
    :param out: folder in which to create ``v1.NN/product``.
    :param name: of the product's folder; by default from the product's name.
    :param setup_file: Markdown for the README: how to create a cluster.
    :param latest: latest release of Kubernetes, see :func:`check.check`.
    :param kubernetes: version of the cluster, if neither the record nor the
        run says it.
    :raises Refused: with every reason why it cannot be submitted.
    :raises UsageError: an argument is invalid.
    :raises Damage: the record cannot be read.
    :raises EnvironmentProblem: the folder cannot be written.
    """
    content = _read(product_file, products.MOST_BYTES)
    setup = (_read(setup_file, _MOST_SETUP).decode('utf-8', 'replace')
             if setup_file else None)
    product = products.parse(content)
    result = reading.find(
        source, kubernetes=kubernetes or sources.version_of(source))
    release = _RELEASE.match(result.cluster.kubernetes)
    reasons = [*_run_reasons(result),
               *(str(f) for f in products.check(product, str(product_file))
                 if f.level == findings.ERROR)]
    if not release:
        reasons.append('the record does not have the version of Kubernetes: '
                       'name it with --kubernetes-version')
    if reasons:
        raise Refused(reasons, where=source)
    name = _folder_name(name or product.value('name'))
    target = pathlib.Path(out).absolute() / release[0] / name
    if target.exists():
        raise errors.UsageError('The folder exists already', where=target,
                                hint='Remove it, or choose another --out')
    text = readme.render(result, product.value('name'),
                         product.value('version'), _plan(result),
                         setup)
    return _written(target, source, content, text, latest)


def _run_reasons(result):
    """Why the run certifies nothing; empty if it does."""
    required = required_.of(result.cluster.kubernetes)
    verdict = verdicts.judge(result, required)
    if verdict.eligible:
        return []
    reasons = list(dict.fromkeys([*verdict.hindrances, *verdict.reasons]))
    if result.mode == model.CERTIFIED:
        reasons += [f'required, but not passed: {test}'
                    for test in verdict.missing[:20]]
    return reasons


def _plan(result):
    """The plan of the run, if its run.json is beside the results."""
    run = runs.beside(result.source, result.sha256)
    return run.plan if run and not run.elsewhere else None


def _folder_name(name):
    name = re.sub(r'[^a-z0-9.-]+', '-', name.lower()).strip('-.')
    if not _NAME.fullmatch(name):
        raise errors.UsageError(f'{name!r} is not a valid name for a folder',
                                hint='Choose one with --name')
    return name


def _read(path, most):
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


def _written(target, source, product, text, latest):
    """Write, check, and only then give the folder its name."""
    release, name = target.parts[-2:]
    title = rules.title_for(release, name)
    draft = None
    try:
        out = target.parents[1]
        out.mkdir(parents=True, exist_ok=True)
        draft = pathlib.Path(tempfile.mkdtemp(prefix='.submission-', dir=out))
        folder = draft / release / name
        folder.mkdir(parents=True)
        (folder / products.NAME).write_bytes(product)
        (folder / rules.README).write_text(text, encoding='utf-8')
        for member, pieces in members.each(source):
            with open(folder / member, 'wb') as stream:
                for piece in pieces:
                    stream.write(piece)
        report = check.check(folder, title=title, latest=latest)
        if not report.ok:
            raise Refused(
                [str(f) for f in report.findings
                 if f.level == findings.ERROR], where=source)
        target.parent.mkdir(exist_ok=True)
        folder.rename(target)
    except OSError as e:
        raise errors.EnvironmentProblem(
            f'Cannot write the submission: {e.strerror}', where=target,
            hint='Free some space, or use another --out') from e
    finally:
        if draft:
            shutil.rmtree(draft, ignore_errors=True)
    return Bundle(target, title, report.findings)
