# SPDX-License-Identifier: Apache-2.0

project = 'magnum-capi-tempest Release Notes'
copyright = 'OpenStack contributors'
extensions = ['openstackdocstheme', 'reno.sphinxext']

html_theme = 'openstackdocs'
pygments_style = 'native'
openstackdocs_repo_name = 'openstack/magnum-capi-tempest'
openstackdocs_auto_name = False
openstackdocs_use_storyboard = False
# Release notes have no version: they tell of all of them.
version = release = ''
