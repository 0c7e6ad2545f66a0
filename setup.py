# SPDX-License-Identifier: Apache-2.0

import setuptools

# pbr.build, the build backend of pyproject.toml, reads setup.cfg only when it
# is asked to: without this file the build finds no package (pbr 7.1).
setuptools.setup(pbr=True)
