# SPDX-License-Identifier: Apache-2.0

"""A sandbox that is only on paper, for the tests of this folder."""

import dataclasses
import json
import pathlib
import sys

from magnum_capi_sandbox import catalog
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox import layout
from magnum_capi_sandbox import profiles
from magnum_capi_sandbox import releases
from magnum_capi_sandbox import spec

PASSWORDS = {'admin': 'adminsecret', 'demo': 'demosecret',
             'service': 'servicesecret', 'broker': 'brokersecret'}

VENV = pathlib.Path('/cache/cloud/venv')

SERVICES = frozenset(service.name for service in catalog.services())

SEEDED = {'images': {'ubuntu-capi': 'image-id'},
          'networks': {'public': 'network-id'}}


#: As far as the discovery filter needs it.
PASTE = """
[pipeline:api]
pipeline = cors authtoken api_v1

[filter:authtoken]
acl_public_routes = /, /v1
paste.filter_factory = magnum.api.middleware.auth_token:\
AuthTokenMiddleware.factory

[app:api_v1]
paste.app_factory = magnum.api.app:app_factory
"""


#: Where an environment of this Python has its packages.
LIBRARY = pathlib.Path(
    'lib', 'python{}.{}'.format(*sys.version_info), 'site-packages')


def a_layout(directory, prefix='127.77', port_base=25000, https=False):
    """A layout with its folder, and what a new cloud leaves there."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    (directory / 'seeded.json').write_text(json.dumps(SEEDED))
    (directory / 'secrets.json').write_text(json.dumps(PASSWORDS))
    return layout.Layout(directory, prefix, port_base, https)


def a_cloud(folder):
    """An environment of the cloud, made by hand; returns its folder."""
    folder = pathlib.Path(folder)
    library = folder / LIBRARY
    for path in (library / 'magnum-23.0.0.dist-info',
                 folder / 'bin', folder / 'etc' / 'magnum'):
        path.mkdir(parents=True)
    (library / 'magnum-23.0.0.dist-info' / 'METADATA').write_text(
        'Metadata-Version: 2.1\nName: magnum\nVersion: 23.0.0\n')
    (library / 'magnum-23.0.0.dist-info' / 'WHEEL').touch()
    (folder / 'bin' / 'python').symlink_to(sys.executable)
    (folder / 'pyvenv.cfg').write_text(
        f'home = {sys.base_prefix}/bin\n'
        'include-system-site-packages = false\n')
    (folder / 'etc' / 'magnum' / 'api-paste.ini').write_text(PASTE)
    return folder


def sqlite_url(database):
    return f'sqlite:////data/{database}.sqlite'


def write_services(where, profile='embedded', venv=VENV,
                   release=releases.NEWEST, **values):
    """Write the configuration of all services."""
    configuration.write_services(
        where, profile=profiles.get(profile), venv=venv, magnum_venv=venv,
        release=release, **values,
        passwords=PASSWORDS, chart='/charts/x', url=sqlite_url,
        transport_url='rabbit://sandbox:brokersecret@127.77.0.1:25672/')


#: Those of a sandbox that is only on paper.
VERSIONS = {'packages of the cloud': 'aaaaaaaaaaaa',
            'packages of Magnum': 'aaaaaaaaaaaa', 'etcd': '3.6.16'}


def a_spec(**changes) -> spec.Spec:
    """What a sandbox is that was made without any wish, and is up."""
    return dataclasses.replace(spec.Spec(
        profile='embedded', chart='/c', port_base=25000, nodes='memory',
        magnum='2026.2', infrastructure='memory',
        management='processes', network='127.77', ready=True,
        versions=dict(VERSIONS)), **changes)


def save(directory, **changes) -> spec.Spec:
    """Save :func:`a_spec` in a folder, which is made; returns it."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    spec.save(directory, a_spec(**changes))
    return a_spec(**changes)
