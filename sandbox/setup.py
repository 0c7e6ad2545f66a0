# SPDX-License-Identifier: Apache-2.0

"""The files that are not Python, installed where resources.find looks.

A wheel is for one platform if the folder ``programs`` exists
(tools/build_wheels.sh), because these are static programs for Linux.
"""

import collections
import pathlib
import platform

import setuptools
from setuptools.command import bdist_wheel

_TOP = pathlib.Path(__file__).parent
_FOLDERS = ('capi', 'charts', 'constraints', 'drivers', 'programs')
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


class _Wheel(bdist_wheel.bdist_wheel):

    def get_tag(self):
        python, abi, system = super().get_tag()
        if (_TOP / 'programs').is_dir():
            # Static programs need no version of the C library.
            system = f'manylinux_2_17_{platform.machine()}'
        return python, abi, system


setuptools.setup(data_files=_data_files(), cmdclass={'bdist_wheel': _Wheel})
