# SPDX-License-Identifier: Apache-2.0


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
html_static_path = ['_static']
html_css_files = ['pages.css']
pygments_style = 'native'
openstackdocs_repo_name = 'openstack/magnum-capi-tempest'
openstackdocs_auto_name = False
openstackdocs_use_storyboard = False
exclude_patterns = ['_generated']
