# SPDX-License-Identifier: Apache-2.0
"""Lets SQLite serve OpenStack's services as a database server would.

Connections stay open. oslo.db gives SQLite none of SQLAlchemy's pools, and
each new connection reads the whole schema again.

Foreign keys are enforced, in services that serve.py starts itself.

A transaction that writes takes the write lock when it begins. oslo.db begins
transactions "deferred"; one that reads and then writes fails at once with
"database is locked" when another has written meanwhile. If the lock is taken
at the beginning, a writer waits. It does so here and not in SQLite (busy
timeout), which would stop all green threads of a process, among them the one
that has the lock. Reading transactions stay deferred, except within a writing
one, which may begin with a read. So do transactions outside of any block:
Magnum runs the query of some lists after their session was closed
(get_cluster_template_list of magnum.db.sqlalchemy.api), and such a transaction
stays open until the garbage collector finds it.
"""

import contextlib
import sqlite3
import threading
import time

#: Seconds to wait for a writer, and between two tries.
_PATIENCE, _PAUSE = 30, 0.01

#: Connections of a database that stay open while nobody uses them; a service
#: of the sandbox has few threads.
_IDLE = 8

_THREAD = threading.local()


def keep_connections():
    """Let oslo.db keep connections of SQLite files open in this process.

    Also where a service sets options of pools (octavia.common.config 19.0.0
    does), which SQLAlchemy refuses without one.
    """
    from oslo_db.sqlalchemy import engines
    from sqlalchemy import pool

    initialize = engines._init_connection_args

    def with_pool(url, engine_args, kw):
        initialize(url, engine_args, kw)
        if engine_args.get('poolclass') is pool.NullPool:
            engine_args.update(poolclass=pool.QueuePool, pool_size=_IDLE,
                               max_overflow=-1, pool_use_lifo=True)

    engines._init_connection_args = with_pool


def enforce_foreign_keys():
    """Let SQLite enforce foreign keys, as the databases of real clouds do.

    Keystone relies on it: the credentials of a deleted user take their roles
    with them. Otherwise the roles stay, and the next credential, which gets
    the same number, is refused with 409.
    """
    import sqlalchemy

    @sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, 'connect')
    def enforce(connection, _):
        if isinstance(connection, sqlite3.Connection):
            connection.execute('PRAGMA foreign_keys = ON')


def immediate_transactions(sessions=False):
    """Let transactions that write take the lock when they begin.

    For all databases that oslo.db opens in this process.

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
