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
