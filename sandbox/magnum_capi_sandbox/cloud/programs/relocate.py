# SPDX-License-Identifier: Apache-2.0
"""Give restored databases their addresses, and Keystone new passwords.

Reads JSON from standard input: ``statements``, a list of ``[url of a database,
statement, parameters]`` with SQLAlchemy's ``:name`` parameters; ``keystone``,
the URL of its database; ``passwords`` of its users, by name.
"""

import functools
import json
import sys

import bcrypt
import sqlalchemy


def renew(engine, passwords):
    """Give each user a new password; the old ones are deleted.

    As set in [identity] of keystone.conf: bcrypt, four rounds.
    """
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(
            'UPDATE password SET password_hash = NULL'))
        for name, password in passwords.items():
            done = connection.execute(sqlalchemy.text(
                'UPDATE password SET password_hash = :hash '
                'WHERE local_user_id IN (SELECT id FROM local_user '
                "WHERE domain_id = 'default' AND name = :name)"), {
                    'name': name, 'hash': bcrypt.hashpw(
                        password.encode(), bcrypt.gensalt(4)).decode()})
            if done.rowcount != 1:
                sys.exit(f'Keystone has {done.rowcount} passwords of the '
                         f'user {name}, not one')


def main():
    wanted = json.load(sys.stdin)
    engine = functools.cache(sqlalchemy.create_engine)
    for url, statement, parameters in wanted['statements']:
        with engine(url).begin() as connection:
            connection.execute(sqlalchemy.text(statement), parameters)
    renew(engine(wanted['keystone']), wanted['passwords'])


if __name__ == '__main__':
    main()
