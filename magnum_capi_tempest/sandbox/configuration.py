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
"""Writes the configuration files of the cloud, mode 0600."""

import os

import jinja2

REGION = 'RegionOne'

SERVICE_FILES = ('keystone.conf', 'glance-api.conf', 'nova.conf',
                 'neutron.conf', 'cinder.conf', 'magnum.conf')


def write_private(path, text):
    """Write a file that only its owner can read, in one go."""
    temporary = path.with_name(path.name + '.new')
    descriptor = os.open(
        temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, 'w') as f:
        f.write(text)
    temporary.rename(path)


def render(name, **values) -> str:
    """Text of a file of ``templates/``."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('magnum_capi_tempest.sandbox'),
        undefined=jinja2.StrictUndefined, trim_blocks=True,
        keep_trailing_newline=True, autoescape=False)
    return environment.get_template(f'{name}.j2').render(
        region=REGION, **values)


def write_services(layout, **values):
    """Write the files of all services.

    :param values: profile, venv, passwords, chart, transport_url and url,
        a function of a database's name.
    """
    layout.etc.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in SERVICE_FILES:
        write_private(layout.etc / name,
                      render(name, layout=layout, **values))
