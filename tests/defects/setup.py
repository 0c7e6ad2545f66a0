# SPDX-License-Identifier: Apache-2.0

"""An entry point for each driver with a defect."""

import pathlib
import sys

import setuptools

# Builds do not have this folder in their path.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import magnum_capi_defects  # noqa: E402

setuptools.setup(entry_points={'magnum.drivers': [
    f'{magnum_capi_defects.PREFIX}{name} = {where}'
    for name, where, _ in magnum_capi_defects.classes()]})
