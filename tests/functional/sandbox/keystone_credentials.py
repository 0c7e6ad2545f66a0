# SPDX-License-Identifier: Apache-2.0

"""Keystone's application credentials before and after a user is deleted.

Run by the Python of the cloud's environment, whose PYTHONPATH has the
sandbox's programs.

usage: keystone_credentials.py FILE
"""

import sys

from keystone.application_credential.backends import sql as credentials
from keystone.common import sql
import keystone.conf
from oslo_db import options
import sqlite


def create(backend, user):
    backend.create_application_credential(
        {'id': f'id-{user}', 'name': 'own', 'secret': 'secret',
         'user_id': user, 'project_id': 'project', 'unrestricted': False},
        [{'id': 'member'}])


def main():
    keystone.conf.configure()
    options.set_defaults(keystone.conf.CONF,
                         connection=f'sqlite:///{sys.argv[1]}')
    keystone.conf.CONF([], default_config_files=[])
    sqlite.keep_connections()
    sqlite.enforce_foreign_keys()
    with sql.session_for_write() as session:
        sql.ModelBase.metadata.create_all(session.get_bind())
    backend = credentials.ApplicationCredential()
    create(backend, 'first')
    backend.delete_application_credentials_for_user('first')
    create(backend, 'second')
    print(backend.get_application_credential('id-second')['user_id'])


if __name__ == '__main__':
    main()
