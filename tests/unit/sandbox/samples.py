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

"""A sandbox that is only on paper, for the tests of this folder."""

import json
import pathlib

from magnum_capi_tempest.sandbox import configuration
from magnum_capi_tempest.sandbox import layout
from magnum_capi_tempest.sandbox import profiles

PASSWORDS = {'admin': 'adminsecret', 'demo': 'demosecret',
             'service': 'servicesecret', 'broker': 'brokersecret'}

VENV = pathlib.Path('/cache/cloud/venv')

SEEDED = {'images': {'ubuntu-capi': 'image-id'},
          'networks': {'public': 'network-id'}}


def a_layout(directory, prefix='127.77', port_base=25000):
    """A layout whose folder exists, with what a new cloud leaves there."""
    directory = pathlib.Path(directory)
    (directory / 'seeded.json').write_text(json.dumps(SEEDED))
    (directory / 'secrets.json').write_text(json.dumps(PASSWORDS))
    return layout.Layout(directory, prefix, port_base)


def sqlite_url(database):
    return f'sqlite:////data/{database}.sqlite'


def write_services(where, profile='embedded'):
    """Write the configuration of all services."""
    configuration.write_services(
        where, profile=profiles.get(profile), venv=VENV,
        passwords=PASSWORDS, chart='/charts/x', url=sqlite_url,
        transport_url='rabbit://sandbox:brokersecret@127.77.0.1:25672/')
