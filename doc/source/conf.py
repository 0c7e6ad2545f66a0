# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

import pathlib
import sys

from sphinx.util import docutils

from magnum_capi_tempest.driver import labels
from magnum_capi_tempest.matrix import columns
from magnum_capi_tempest.matrix import rst
from magnum_capi_tempest.matrix import source

# The tests are in no package that could be installed.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.driver_mutants import page  # noqa: E402
from tests.driver_mutants import tables  # noqa: E402

project = 'magnum-capi-tempest'
copyright = 'OpenStack contributors'
extensions = ['openstackdocstheme', 'oslo_config.sphinxext']

html_theme = 'openstackdocs'
pygments_style = 'native'
openstackdocs_repo_name = 'openstack/magnum-capi-tempest'
openstackdocs_auto_name = False
openstackdocs_use_storyboard = False
exclude_patterns = ['_generated']


class DriverLabels(docutils.SphinxDirective):
    """What the code knows best: the labels of the driver."""

    def run(self):
        return self.parse_text_to_nodes(labels.documentation())


class DriverBugs(docutils.SphinxDirective):
    """What drivers do wrong, and the tests that see it."""

    def run(self):
        return self.parse_text_to_nodes(
            page.page(tables.bugs()), allow_section_headings=True)


class SuiteMatrix(docutils.SphinxDirective):
    """The suite as it is now, and what drivers did when it was recorded."""

    def run(self):
        paths = sorted((pathlib.Path(__file__).parent / 'data').glob(
            'matrix-*.json'))
        for path in paths:
            self.env.note_dependency(str(path))
        matrix = columns.lay([columns.of_file(path) for path in paths])
        return self.parse_text_to_nodes(
            rst.render(matrix, source.tests()), allow_section_headings=True)


def setup(app):
    app.add_directive('driver-bugs', DriverBugs)
    app.add_directive('driver-labels', DriverLabels)
    app.add_directive('suite-matrix', SuiteMatrix)
