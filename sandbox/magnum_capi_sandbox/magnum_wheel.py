# SPDX-License-Identifier: Apache-2.0
"""A Magnum that is not a release: a checkout, a wheel, a patched release.

Checkouts are built into wheels, and the cache keeps a copy of each wheel by
its content: the sandbox keeps running the Magnum that it was made with.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import sys
import tempfile

from magnum_capi import errors
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox import releases
from magnum_capi_tempest import paths
from magnum_capi_tempest import resources

#: Stands for the newest release with the patches of ``upstream/magnum``.
PATCHED = 'patched'

#: Seconds for a build and the packages that it needs.
PATIENCE = 300

#: Equal files make equal wheels: 1980, the earliest time of a zip file.
_EPOCH = '315532800'

#: Characters of a builder's message that are shown.
_LONGEST = 800

# Not needed for a build, and often large.
_LEAVE_OUT = shutil.ignore_patterns(
    '.tox', '.venv', '.stestr', '__pycache__', '*.egg-info', 'build')


def find(text: str, progress: progress.Progress) -> releases.Release:
    """The release that a user asks for.

    :param text: a name or first number, see :func:`.releases.get`,
        :data:`PATCHED`, or the path of a wheel of Magnum or of a folder with
        its sources.
    :raises UsageError: it is none of these, or that Magnum is older than any
        release.
    :raises MagnumCapiError: no wheel can be built from the folder.
    """
    if text == PATCHED:
        return _patched(progress)
    path = pathlib.Path(text).absolute()
    known = {word for r in releases.RELEASES
             for word in (r.name, str(r.version))}
    if text in known or not (os.sep in text or path.exists()):
        return releases.get(text)
    if path.is_file() and path.suffix == '.whl':
        return _release(path, path)
    if not (path / 'setup.cfg').is_file():
        raise errors.UsageError(
            'This is not Magnum: neither a wheel nor a folder with setup.cfg',
            where=path, hint='Name a checkout, a wheel, or one of '
            f'{", ".join(r.name for r in releases.RELEASES)}')
    with progress.step('Wheel of Magnum'), tempfile.TemporaryDirectory(
            prefix='magnum-capi-') as scratch:
        return _release(_built(path, pathlib.Path(scratch)), path)


def _patched(progress: progress.Progress) -> releases.Release:
    patches = resources.find('upstream/magnum')
    kept = (paths.cache() / 'wheels'
            / environment.digest(*sorted(patches.iterdir())))
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with progress.step('Magnum of PyPI, and patches'), \
                tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            scratch = pathlib.Path(folder)
            processes.run(
                ['bash', patches / 'apply.sh', scratch / 'patched'],
                env=os.environ | {'PYTHON': sys.executable},
                timeout=PATIENCE,
                hint='git and a reachable package index are needed')
            source, = scratch.glob('patched/magnum-*/')
            wheel = _built(source, scratch)
            try:
                wheel.parent.rename(kept)
            except OSError:
                # Another run was quicker.
                if not kept.exists():
                    raise
    wheel, = kept.glob('*.whl')
    return _release(wheel, patches)


def kept(text: str) -> releases.Release:
    """The release with that name, or of that wheel in the cache."""
    if not text.endswith('.whl'):
        return releases.get(text)
    wheel = pathlib.Path(text)
    return dataclasses.replace(_traits(wheel, wheel), wheel=text)


def _release(wheel: pathlib.Path, source: pathlib.Path) -> releases.Release:
    """The release whose traits a wheel has, with the cached wheel."""
    release = _traits(wheel, source)
    kept = (paths.cache() / 'wheels' / environment.digest(wheel)
            / wheel.name)
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        temporary = kept.with_suffix(f'.{os.getpid()}')
        shutil.copyfile(wheel, temporary)
        temporary.rename(kept)
    return dataclasses.replace(release, wheel=str(kept))


def _traits(wheel: pathlib.Path, source: pathlib.Path) -> releases.Release:
    """The release whose traits a wheel has."""
    found = re.match(r'magnum-((\d+)\.[^-]*)-', wheel.name)
    oldest = releases.RELEASES[0]
    if not found or int(found[2]) < oldest.version:
        raise errors.UsageError(
            f'This is not Magnum {oldest.version} or later: {wheel.name}',
            where=source, hint='In a checkout the version comes from tags: '
            'run git fetch --tags')
    return releases.get(str(min(int(found[2]), releases.NEWEST.version)))


def _built(folder: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    # Builds write into the folder.
    copy = scratch / folder.name
    env = {k: v for k, v in os.environ.items() if k != 'VIRTUAL_ENV'} | {
        'SOURCE_DATE_EPOCH': _EPOCH,
        # uv leaves lock files there.
        'TMPDIR': str(scratch)}
    try:
        shutil.copytree(folder, copy, symlinks=True, ignore=_LEAVE_OUT)
        processes.run(
            [environment.uv(), 'build', '--quiet', '--wheel', '--out-dir',
             scratch / 'wheel', '--build-constraint',
             resources.find('sandbox/constraints/tools.txt'), copy],
            env=env, timeout=PATIENCE)
    except (OSError, shutil.Error, errors.CommandFailed) as e:
        said = ' '.join(str(getattr(e, 'output', e)).split())
        raise errors.MagnumCapiError(
            'No wheel can be built from the folder', where=folder,
            last_seen=said[-_LONGEST:].rstrip('.') or None,
            hint='Make sure that "pip wheel --no-deps" succeeds in it, and '
                 'that a package index can be reached') from e
    wheel, = (scratch / 'wheel').glob('*.whl')
    return wheel
