# SPDX-License-Identifier: Apache-2.0

"""Two green threads write a SQLite database; the first one pauses meanwhile.

Run by the Python of an environment with eventlet, whose PYTHONPATH has the
sandbox's programs.

usage: sqlite_green.py FILE
"""

import eventlet
eventlet.monkey_patch()

# As in the sandbox's programs, after eventlet has patched Python.
import contextlib  # noqa: E402
import sqlite3     # noqa: E402
import sys         # noqa: E402

from oslo_db.sqlalchemy import enginefacade  # noqa: E402
import sqlalchemy  # noqa: E402
import sqlite      # noqa: E402

ENDED = []


@enginefacade.transaction_context_provider
class Context:
    """Holds the blocks of enginefacade."""


def write(manager, name, pause):
    with manager.writer.using(Context()) as session:
        session.execute(sqlalchemy.text('UPDATE t SET n = n + 1'))
        eventlet.sleep(pause)
    ENDED.append(name)


def main():
    file = sys.argv[1]
    sqlite.keep_connections()
    sqlite.immediate_transactions()
    manager = enginefacade.transaction_context()
    manager.configure(connection=f'sqlite:///{file}',
                      connection_parameters='timeout=30')
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript('PRAGMA journal_mode=WAL;'
                                 'CREATE TABLE t (n INTEGER);'
                                 'INSERT INTO t VALUES (0)')
    threads = [eventlet.spawn(write, manager, 'first', 1),
               eventlet.spawn(write, manager, 'second', 0)]
    with eventlet.Timeout(20):
        for thread in threads:
            thread.wait()
    print(*ENDED)


if __name__ == '__main__':
    main()
