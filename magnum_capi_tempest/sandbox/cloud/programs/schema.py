# SPDX-License-Identifier: Apache-2.0
"""Create the tables of Neutron or Magnum on SQLite from their models.

Their migrations do not run there ("No support for ALTER of constraints in
SQLite dialect"). The full profile runs them, on MariaDB.

usage: schema.py neutron URL | schema.py magnum --config-file FILE
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


if __name__ == '__main__':
    {'neutron': neutron, 'magnum': magnum}[sys.argv[1]](*sys.argv[2:])
