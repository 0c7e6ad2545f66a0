# SPDX-License-Identifier: Apache-2.0
"""Create the tables of Neutron, Magnum or Octavia on SQLite from their models.

Their migrations do not run there ("No support for ALTER of constraints in
SQLite dialect"). The full profile runs them, on MariaDB.

usage: schema.py neutron URL | schema.py magnum|octavia --config-file FILE
"""

import sys


def neutron(url):
    from neutron.db.migration.models import head
    import sqlalchemy
    head.get_metadata().create_all(sqlalchemy.create_engine(url))


def magnum(*arguments):
    from magnum.common import service  # noqa: F401  registers options
    import magnum.conf
    magnum.conf.CONF(list(arguments), project='magnum')
    from magnum.db.sqlalchemy import migration
    from magnum.db.sqlalchemy import models
    from oslo_db.sqlalchemy import enginefacade
    models.Base.metadata.create_all(enginefacade.writer.get_engine())
    migration.stamp('head')


def octavia(*arguments):
    # Octavia's migrations fill some lookup tables; so does this.
    from octavia.common import config
    from octavia.common import constants
    from octavia.db import api
    from octavia.db import base_models
    from octavia.db import models
    import sqlalchemy
    import sqlite
    sqlite.keep_connections()
    config.init(list(arguments))
    engine = api.get_engine()
    base_models.BASE.metadata.create_all(engine)
    rows = {
        models.Algorithm: constants.SUPPORTED_LB_ALGORITHMS,
        models.ProvisioningStatus: constants.SUPPORTED_PROVISIONING_STATUSES,
        models.OperatingStatus: constants.SUPPORTED_OPERATING_STATUSES,
        models.Protocol: constants.SUPPORTED_PROTOCOLS,
        models.HealthMonitorType: constants.SUPPORTED_HEALTH_MONITOR_TYPES,
        models.SessionPersistenceType: constants.SUPPORTED_SP_TYPES,
        models.LBTopology: constants.SUPPORTED_LB_TOPOLOGIES,
        models.L7RuleType: constants.SUPPORTED_L7RULE_TYPES,
        models.L7RuleCompareType: constants.SUPPORTED_L7RULE_COMPARE_TYPES,
        models.L7PolicyAction: constants.SUPPORTED_L7POLICY_ACTIONS,
        models.ClientAuthenticationMode:
            constants.SUPPORTED_CLIENT_AUTH_MODES,
        models.VRRPAuthMethod:
            constants.SUPPORTED_VRRP_AUTH,
    }
    with engine.begin() as connection:
        for model, names in rows.items():
            connection.execute(sqlalchemy.insert(model), [
                {'name': name} for name in dict.fromkeys(names)])


if __name__ == '__main__':
    {'neutron': neutron, 'magnum': magnum,
     'octavia': octavia}[sys.argv[1]](*sys.argv[2:])
