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
"""The plain use of a command whose work is shorter than cliff's start.

``conformance results`` with a record and its own flags, as a CI job calls
it. Everything else (help, abbreviations, options of the application, wrong
usage) is left to cliff, so that there is one place that says what is right.
"""

import pathlib
import sys

#: Flags of ``conformance results``, and what :func:`.results.show` calls
#: them.
_FLAGS = {'--json': 'as_json', '--no-verify': 'verified', '--keep': 'keep'}
#: Seconds for which a thread keeps the interpreter from the one that
#: inflates; Python's own 5 ms are as long as that needs for 5 MB.
_TURN = 1e-4


def run(argv):
    """Run a command that is plain.

    :returns: the exit code; None when cliff is to look at it.
    """
    if list(argv[:2]) != ['conformance', 'results']:
        return None
    records, flags = [], {}
    for argument in argv[2:]:
        if argument in _FLAGS:
            flags[_FLAGS[argument]] = True
        elif argument.startswith('-'):
            return None
        else:
            records.append(argument)
    if len(records) != 1:
        return None
    return _results(pathlib.Path(records[0]), flags)


def _results(record, flags):
    from magnum_capi_tempest.cli import endings
    from magnum_capi_tempest.cli import results
    turn = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        code = endings.judged(lambda: results.show(record, **flags))
        sys.stdout.flush()
        return code
    finally:
        sys.setswitchinterval(turn)
