# SPDX-License-Identifier: Apache-2.0
"""Makes SQLite take the write lock when a writing transaction begins.

oslo.db begins transactions "deferred"; one that reads and then writes fails at
once with "database is locked" when another has written meanwhile. If the lock
is taken at the beginning, a writer waits. It does so here and not in SQLite
(busy timeout), which would stop all green threads of a process, among them the
one that has the lock. Reading transactions stay deferred, except within a
writing one, which may begin with a read. So do transactions outside of any
block: Magnum runs the query of some lists after their session was closed
(get_cluster_template_list of magnum.db.sqlalchemy.api), and such a transaction
stays open until the garbage collector finds it.
"""

import contextlib
import sqlite3
import threading
import time

#: Seconds to wait for a writer, and between two tries.
_PATIENCE, _PAUSE = 30, 0.01

_THREAD = threading.local()


def immediate_transactions(sessions=False):
    """Do so for all databases that oslo.db opens in this process.

    :param sessions: transactions of plain sessions may write, too. Octavia
        uses them, sometimes with a second one inside that only reads and
        must not wait for the first.
    """
    from oslo_db.sqlalchemy import enginefacade
    import sqlalchemy

    produce = enginefacade._TransactionContext._produce_block

    @contextlib.contextmanager
    def block(self, mode, *args, **kwargs):
        before = getattr(_THREAD, 'writes', sessions)
        _THREAD.writes = before or mode is enginefacade._WRITER
        try:
            with produce(self, mode, *args, **kwargs) as resource:
                yield resource
        finally:
            _THREAD.writes = before

    enginefacade._TransactionContext._produce_block = block

    @sqlalchemy.event.listens_for(
        sqlalchemy.engine.Engine, 'before_cursor_execute', retval=True)
    def begin(connection, cursor, statement, parameters, context, many):
        if (statement == 'BEGIN' and getattr(_THREAD, 'writes', sessions)
                and not (sessions and _locked())):
            _take_lock(cursor)
            _THREAD.connection = connection
            # The transaction has begun.
            statement = 'SELECT 1'
        return statement, parameters

    for end in ('commit', 'rollback'):
        sqlalchemy.event.listen(sqlalchemy.engine.Engine, end, _ended)


def _take_lock(cursor):
    """Begin a writing transaction.

    :raises sqlite3.OperationalError: another writes for too long.
    """
    end = time.monotonic() + _PATIENCE
    [(timeout,)] = cursor.execute('PRAGMA busy_timeout').fetchall()
    cursor.execute('PRAGMA busy_timeout = 0')
    try:
        while True:
            try:
                cursor.execute('BEGIN IMMEDIATE')
                return
            except sqlite3.OperationalError as e:
                if (e.sqlite_errorcode & 0xff != sqlite3.SQLITE_BUSY
                        or time.monotonic() > end):
                    raise
            time.sleep(_PAUSE)  # noqa: MC103  it ends above
    finally:
        cursor.execute(f'PRAGMA busy_timeout = {timeout}')


def _locked():
    """Whether this thread already has the lock."""
    return getattr(_THREAD, 'connection', None) is not None


def _ended(connection):
    if getattr(_THREAD, 'connection', None) is connection:
        _THREAD.connection = None
