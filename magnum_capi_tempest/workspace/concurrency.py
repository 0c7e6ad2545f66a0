# SPDX-License-Identifier: Apache-2.0

"""How many workers may run the tests of a workspace at the same time.

Users of an accounts.yaml are locked while the tests of a class use them. A
class that finds none left fails ("Insufficient number of users provided", in
tempest/lib/common/preprov_creds.py).
"""

import os
import pathlib

from oslo_config import cfg
import yaml

from magnum_capi import progress
from magnum_capi_tempest.workspace import selection


def limit(asked: int, allowed: int | None) -> int:
    """Return the number of workers to start, and say if it is limited.

    :param asked: 0: one for each CPU, as in stestr.
    :param allowed: None: any number.
    """
    if allowed is None or 0 < asked <= allowed:
        return asked
    wanted = asked or os.cpu_count() or 1
    if wanted <= allowed:
        return wanted
    progress.Progress().info(
        f'{allowed} parallel worker{"s" if allowed > 1 else ""} instead of '
        f'{wanted}: accounts.yaml has no users for more')
    return allowed


def allowed_by(etc) -> int | None:
    """Return the number of workers for which there are users.

    :param etc: folder of tempest.conf.
    :returns: None if Tempest creates the users, or cannot read its files,
        which it explains itself.
    """
    conf = cfg.ConfigOpts()
    conf.register_opts([cfg.BoolOpt('use_dynamic_credentials', default=True),
                        cfg.StrOpt('test_accounts_file')], group='auth')
    try:
        conf([], project='tempest', default_config_files=[
            str(pathlib.Path(etc) / 'tempest.conf')], default_config_dirs=[])
        if (conf.auth.use_dynamic_credentials
                or not conf.auth.test_accounts_file):
            return None
        # Tempest runs in the folder of the workspace.
        path = pathlib.Path(etc).parent / conf.auth.test_accounts_file
        accounts = yaml.safe_load(path.read_text())
        return selection.most_workers(
            (*one.get('types', ()), *one.get('roles', ()))
            for one in accounts)
    except (cfg.Error, OSError, ValueError, yaml.YAMLError, TypeError,
            AttributeError):
        return None
