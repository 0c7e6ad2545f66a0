# SPDX-License-Identifier: Apache-2.0

"""Run with the Python of a Magnum, 20 to 23: finds out what it does.

Reads a JSON list of cases from standard input, makes a distribution for the
drivers of each case below the folder in its argument, and writes answers. The
code is the real one; the database and the policy are not.
"""

import json
import pathlib
import sys
import types
from unittest import mock

from magnum.api import validation
from magnum.common import exception
import magnum.conf
from magnum.drivers.common import driver as drivers
from oslo_log import log
from stevedore import extension

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
            'clusters': [outcome(cluster, t) for t in case['types']]}
    return answer


def outcome(function, *args):
    try:
        return function(*args)
    # Magnum does not catch the second.
    except (exception.MagnumException, ModuleNotFoundError):
        return 'refused'


def named(name):
    return type(drivers.Driver.get_driver(
        'vm', 'nobody', 'kubernetes', name)).__name__


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
