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

_DOC = pathlib.Path(__file__).resolve().parents[1]
# The tests are in no package that could be installed.
sys.path[:0] = [str(_DOC / 'extensions'), str(_DOC.parent)]

project = 'magnum-capi-tempest'
copyright = 'OpenStack contributors'
extensions = ['openstackdocstheme', 'oslo_config.sphinxext', 'generated']

# Options are written with two dashes.
smartquotes = False
autoprogram_cliff_app_dist_name = project

html_theme = 'openstackdocs'
pygments_style = 'native'
openstackdocs_repo_name = 'openstack/magnum-capi-tempest'
openstackdocs_auto_name = False
openstackdocs_use_storyboard = False
exclude_patterns = ['_generated']
