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
"""Run a few SQL statements: a restored snapshot learns where it is now.

Reads a JSON list of ``[url of a database, statement, parameters]`` from
standard input; statements have SQLAlchemy's ``:name`` parameters.
"""

import json
import sys

import sqlalchemy


def main():
    engines = {}
    for url, statement, parameters in json.load(sys.stdin):
        if url not in engines:
            engines[url] = sqlalchemy.create_engine(url)
        with engines[url].begin() as connection:
            connection.execute(sqlalchemy.text(statement), parameters)


if __name__ == '__main__':
    main()
