# SPDX-License-Identifier: Apache-2.0
"""Has SQLite take the write lock when a writing transaction begins.

oslo.db begins them "deferred"; one that reads and then writes fails at once
with "database is locked" when another has written meanwhile. SQLite waits
(busy timeout) when the lock is taken at the beginning. Reading ones stay
deferred.
"""

import contextlib
import threading

_WRITING = threading.local()


def immediate_transactions():
    """Do so for all databases of this process that oslo.db opens."""
    from oslo_db.sqlalchemy import enginefacade
    import sqlalchemy

    produce = enginefacade._TransactionContext._produce_block

    @contextlib.contextmanager
    def block(self, mode, *args, **kwargs):
        before = getattr(_WRITING, 'mode', None)
        _WRITING.mode = mode
        try:
            with produce(self, mode, *args, **kwargs) as resource:
                yield resource
        finally:
            _WRITING.mode = before

    enginefacade._TransactionContext._produce_block = block

    @sqlalchemy.event.listens_for(
        sqlalchemy.engine.Engine, 'before_cursor_execute', retval=True)
    def begin(connection, cursor, statement, parameters, context, many):
        if statement == 'BEGIN' and getattr(
                _WRITING, 'mode', None) is enginefacade._WRITER:
            statement = 'BEGIN IMMEDIATE'
        return statement, parameters
