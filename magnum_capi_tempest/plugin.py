# SPDX-License-Identifier: Apache-2.0

"""Tempest finds this project through this module.

Imports only tempest and oslo.config: Tempest re-raises an import error of
any plugin (tempest/test_discover/plugins.py, ``failure_hook``), so a missing
library here would break ``tempest`` for every other plugin on the machine.
"""

import collections.abc
import os

from oslo_config import cfg
from tempest import config
from tempest.test_discover import plugins

from magnum_capi_tempest import config as options
from magnum_capi_tempest import json_types

#: magnum-tempest-plugin owns ``magnum_v1`` and ``magnum.v1``: a second plugin
#: with the same service version makes tempest refuse to build any client
#: (tempest/lib/services/clients.py, ``available_modules``).
CLIENT_NAME = 'magnum_capi_v1'
SERVICE_VERSION = 'magnum_capi.v1'

#: Names of the classes, not the classes: tempest imports the module when a
#: test asks for a client.
CLIENTS = (
    'CertificatesClient',
    'ClusterTemplatesClient',
    'ClustersClient',
    'MservicesClient',
    'NodegroupsClient',
)


class MagnumCapiTempestPlugin(plugins.TempestPlugin):
    """Tests, options and clients of this project."""

    def load_tests(self) -> tuple[str, str]:
        """Return the folder of the tests and the folder to import from."""
        package = os.path.dirname(os.path.abspath(__file__))
        return os.path.join(package, 'tests'), os.path.dirname(package)

    def register_opts(self, conf: cfg.ConfigOpts) -> None:
        for group, opts in options.TABLE:
            config.register_opt_group(conf, group, opts)

    def get_opt_lists(
            self) -> list[tuple[str, collections.abc.Sequence[cfg.Opt]]]:
        return [(group.name, opts) for group, opts in options.TABLE]

    def get_service_clients(self) -> list[json_types.Object]:
        return [{
            'name': CLIENT_NAME,
            'service_version': SERVICE_VERSION,
            'module_path': 'magnum_capi_tempest.services',
            'client_names': list(CLIENTS),
            **config.service_client_config(options.GROUP.name),
        }]
