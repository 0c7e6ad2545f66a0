# SPDX-License-Identifier: Apache-2.0

"""The files that are not Python, installed where resources.find looks."""

import collections
import pathlib

import setuptools

_TOP = pathlib.Path(__file__).parent
_FOLDERS = ('capi', 'charts', 'constraints', 'drivers')
_BUILT = ('__pycache__', 'build')


def _data_files():
    found = collections.defaultdict(list)
    for folder in _FOLDERS:
        for path in sorted((_TOP / folder).rglob('*')):
            below = path.relative_to(_TOP)
            if path.is_file() and not any(
                    part in _BUILT or part.endswith('.egg-info')
                    for part in below.parts):
                found[f'share/magnum-capi/sandbox/{below.parent}'].append(
                    str(below))
    return sorted(found.items())


setuptools.setup(data_files=_data_files())
