# SPDX-License-Identifier: Apache-2.0

"""Two oslo.db writers of one SQLite database; each reads before it writes.

Run by the Python of the cloud's environment, whose PYTHONPATH has the
sandbox's programs.

usage: sqlite_writers.py FILE block|session
"""

import contextlib
import sqlite3
import sys
import threading

from oslo_db.sqlalchemy import enginefacade
import sqlalchemy
import sqlite

TIMES = 30


@enginefacade.transaction_context_provider
class Context:
    """Holds the blocks of enginefacade."""


def read(connection):
    return connection.execute(sqlalchemy.text('SELECT n FROM t')).scalar()


def write(connection, number):
    connection.execute(sqlalchemy.text(f'UPDATE t SET n = {number}'))


def in_blocks(manager):
    context = Context()
    for _ in range(TIMES):
        with manager.writer.using(context) as session:
            with manager.reader.using(context) as inner:
                found = read(inner)
            write(session, found + 1)


def in_sessions(manager):
    maker = manager.writer.get_sessionmaker()
    for _ in range(TIMES):
        session = maker()
        with session.begin():
            found = read(session)
            other = maker()
            with other.begin():
                read(other)
            write(session, found + 1)


def main():
    file, kind = sys.argv[1:]
    sqlite.keep_connections()
    sqlite.immediate_transactions(sessions=kind == 'session')
    manager = enginefacade.transaction_context()
    manager.configure(connection=f'sqlite:///{file}',
                      connection_parameters='timeout=30')
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.executescript('PRAGMA journal_mode=WAL;'
                                 'CREATE TABLE t (n INTEGER);'
                                 'INSERT INTO t VALUES (0)')
    work = {'block': in_blocks, 'session': in_sessions}[kind]
    threads = [threading.Thread(target=work, args=(manager,))
               for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with manager.reader.get_engine().begin() as connection:
        print(read(connection))


if __name__ == '__main__':
    main()
