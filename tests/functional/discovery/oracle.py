# SPDX-License-Identifier: Apache-2.0

"""Run with the Python of a Magnum, 20 to 23: finds out what it does.

Reads a JSON list of cases from standard input, makes a distribution for the
drivers of each case below the folder in its argument, and writes answers. The
controllers are the real ones; Glance, the database and the policy are not.
"""

import json
import pathlib
import sys
import types
from unittest import mock
import uuid

from magnum.api import attr_validator
from magnum.api.controllers.v1 import cluster_template
from magnum.api import validation
from magnum.common import exception
import magnum.conf
from magnum.drivers.common import driver as drivers
from oslo_log import log
from stevedore import extension
import wsme

CONF = magnum.conf.CONF

_MODULE = '''
from magnum.drivers.common import driver

class {name}(driver.Driver):
    beta = {beta}
    provides = {provides}
    def _no(self, *args): raise NotImplementedError
    create_cluster = update_cluster = upgrade_cluster = _no
    delete_cluster = resize_cluster = create_federation = _no
    update_federation = delete_federation = create_nodegroup = _no
    update_nodegroup = delete_nodegroup = _no
    def validate_master_size(self, count):
        asked.append('{name}')

asked = []
'''


def main(folder):
    log.register_options(CONF)
    CONF([], project='magnum', default_config_files=[])
    # Hide installed distributions: everything is imported by now. Magnum
    # searches all of sys.path for each answer; a short one is fast.
    rest = [path for path in sys.path if 'site-packages' not in path]
    answers = []
    for number, case in enumerate(json.load(sys.stdin)):
        sys.path = install(folder, number, case['drivers']) + rest
        extension.ExtensionManager.ENTRY_POINT_CACHE.clear()
        drivers.Driver.definitions = None
        for option, value in (
                ('default_driver', case['default']),
                ('disabled_drivers', case['disabled']),
                ('enabled_beta_drivers', case['enabled'])):
            if option in CONF.drivers:
                CONF.set_override(option, value, 'drivers')
        answers.append(ask(case))
    json.dump(answers, sys.stdout)


def install(folder, number, offers):
    """Make a distribution for each driver, in a separate folder.

    Returns the folders: the order of sys.path is that of entry points.
    """
    sites = []
    for place, (name, provides, beta, broken) in enumerate(offers):
        site = pathlib.Path(folder, f'{number}-{place}')
        module = f'drv_{number}_{place}'
        info = site / f'x_{name}-1.dist-info'
        info.mkdir(parents=True)
        (info / 'METADATA').write_text(
            f'Metadata-Version: 2.1\nName: x-{name}\nVersion: 1\n')
        (info / 'entry_points.txt').write_text(
            f'[magnum.drivers]\n{name} = {module}:{name}\n')
        (site / f'{module}.py').write_text(
            'import no_such_module' if broken else _MODULE.format(
                name=name, beta=beta, provides=[
                    dict(zip(('server_type', 'os', 'coe'), t))
                    for t in provides]))
        sites.append(str(site))
    return sites


def ask(case):
    first = None
    try:
        drivers.Driver.get_drivers()
    except Exception as e:
        first = type(e).__name__
    answer = {'first': first, 'map': {
        '|'.join(t): info['entry_point_name']
        for t, info in drivers.Driver.get_drivers().items()}}
    if first is None:
        if hasattr(drivers.Driver, 'get_default_driver'):
            answer['default'] = outcome(drivers.Driver.get_default_driver)
        answer |= {
            'named': [outcome(named, name) for name in case['names']],
            'templates': [outcome(template, *t) for t in case['templates']],
            'clusters': [outcome(cluster, t) for t in case['types']]}
    return answer


def outcome(function, *args):
    try:
        return function(*args)
    except exception.MagnumException as e:
        return f'refused: {e.code}'
    # Magnum does not catch this exception.
    except ModuleNotFoundError:
        return 'refused: 500'


def named(name):
    return type(drivers.Driver.get_driver(
        'vm', 'nobody', 'kubernetes', name)).__name__


class Images:
    """Glance with one image, as Magnum's client returns it.

    The client is glanceclient until 22.0, then openstacksdk.
    """

    def __init__(self, properties):
        self._properties = properties
        if hasattr(drivers.Driver, 'get_default_driver'):
            self.find_image = self._of_sdk
        else:
            self.images = types.SimpleNamespace(get=lambda ident: properties)

    def _of_sdk(self, ident, ignore_missing):
        rest = {k: v for k, v in self._properties.items() if k != 'os_distro'}
        return Image(os_distro=self._properties.get('os_distro'),
                     properties=rest)


class Image(types.SimpleNamespace):
    """openstacksdk's image: own properties are not keys (Resource.get)."""

    def get(self, name, default=None):
        return getattr(self, name, default)

    def __getitem__(self, name):
        return getattr(self, name)


def template(properties, driver, distro):
    """POST a template; returns the stored row and the cluster's driver."""
    wanted = cluster_template.ClusterTemplate(
        name='t', image_id=str(uuid.uuid4()), server_type='vm',
        coe='kubernetes', driver=driver or wsme.Unset,
        cluster_distro=distro or wsme.Unset,
        external_network_id='public', flavor_id='f', master_flavor_id='f')
    stored = {}

    class Row:
        def __init__(self, context, **fields):
            stored.update(fields)

        def create(self):
            raise Stored

    cli = mock.Mock()
    cli.glance.return_value = Images(properties)
    clients = mock.Mock(return_value=cli)
    with mock.patch.object(cluster_template, 'pecan'), \
            mock.patch.object(cluster_template, 'policy'), \
            mock.patch.object(cluster_template.objects, 'ClusterTemplate',
                              Row), \
            mock.patch.object(attr_validator, 'validate_os_resources'), \
            mock.patch.object(attr_validator,
                              'validate_flavor_root_volume_size'), \
            mock.patch.object(cluster_template.clients, 'OpenStackClients',
                              clients), \
            mock.patch.object(validation, 'pecan'), \
            mock.patch.object(validation.clients, 'OpenStackClients',
                              clients):
        try:
            # The function that wsme calls, with Magnum's own decorators.
            POST(None, wanted)
        except Stored:
            pass
    try:
        maker = type(drivers.Driver.get_driver(
            'vm', stored['cluster_distro'], 'kubernetes',
            stored['driver'])).__name__
    except exception.MagnumException:
        maker = None
    return [stored['driver'], stored['cluster_distro'], maker]


class Stored(Exception):
    """The row is complete."""


POST = cluster_template.ClusterTemplatesController.post.__wrapped__


def cluster(cluster_type):
    """The two decorators of POST; returns the driver that checks its size."""
    server_type, distro, coe = cluster_type
    stored = types.SimpleNamespace(server_type=server_type, coe=coe,
                                   cluster_distro=distro, driver='ignored')

    def body(self, wanted):
        info = drivers.Driver.get_drivers()[tuple(cluster_type)]
        asked = sys.modules[info['class'].__module__].asked
        return asked.pop()

    with mock.patch.object(validation, 'pecan'), mock.patch.object(
            validation.objects.ClusterTemplate, 'get', return_value=stored):
        both = validation.enforce_cluster_type_supported()(
            validation.enforce_cluster_master_size_supported()(body))
        return both(None, types.SimpleNamespace(
            cluster_template_id='t', master_count=2))


if __name__ == '__main__':
    main(sys.argv[1])
