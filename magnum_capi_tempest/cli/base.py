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
"""What all commands share: a mistake of the user's is one line, not a trace.

cliff's application answers every exception with exit code 1; the errors of
this project know theirs.
"""

import sys
import traceback

from cliff import command
from cliff import lister

from magnum_capi_tempest import errors


class _Explained:

    def run(self, parsed_args):
        """Run the command; returns its exit code."""
        try:
            return super().run(parsed_args)
        except errors.MagnumCapiError as e:
            if self.app.options.debug:
                raise
            print(f'magnum-capi: {e}', file=sys.stderr)
            return e.exit_code
        except KeyboardInterrupt:
            print('magnum-capi: interrupted', file=sys.stderr)
            return 130


class Command(_Explained, command.Command):
    """A command that does something."""


class Judging(Command):
    """A command whose exit code 1 is a verdict: an error never has it."""

    #: Exit code of an error that would have 1, and of a bug.
    broken = 3

    def run(self, parsed_args):
        self._ended = False
        try:
            code = super().run(parsed_args)
        except Exception:
            # cliff would end with 1.
            traceback.print_exc()
            return self.broken
        return self.broken if code == 1 and not self._ended else code

    def take_action(self, args):
        code = self.act(args)
        self._ended = True
        return code


class Lister(_Explained, lister.Lister):
    """A command that shows a table, also as JSON, YAML or CSV."""
