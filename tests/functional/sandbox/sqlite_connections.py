# SPDX-License-Identifier: Apache-2.0

"""How many connections oslo.db opens for ten transactions, one after another.

Run by the Python of the cloud's environment, whose PYTHONPATH has the
sandbox's programs.

usage: sqlite_connections.py FILE
"""

import sys

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy
import sqlite


def main():
    sqlite.keep_connections()
    manager = enginefacade.transaction_context()
    # Octavia sets the time limit by default.
    manager.configure(connection=f'sqlite:///{sys.argv[1]}', pool_timeout=10)
    opened = []
    sqlalchemy.event.listen(sqlalchemy.engine.Engine, 'connect',
                            lambda *connection: opened.append(connection))
    for _ in range(10):
        with manager.writer.get_engine().begin() as connection:
            connection.execute(sqlalchemy.text('SELECT 1'))
    print(len(opened))


if __name__ == '__main__':
    main()
