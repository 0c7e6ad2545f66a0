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

from sphinx.util import docutils

from magnum_capi_tempest.driver import labels

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


def setup(app):
    app.add_directive('driver-labels', DriverLabels)
