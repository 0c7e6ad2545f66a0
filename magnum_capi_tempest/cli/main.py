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
"""``magnum-capi GROUP VERB``: where the command line begins."""

import os
import sys

from magnum_capi_tempest.cli import app


def main(argv=None):
    """Entry point of the console script; returns the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        return app.MagnumCapi().run(argv)
    except BrokenPipeError:
        # The reader of our output has gone: "magnum-capi ... | head".
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


if __name__ == '__main__':
    sys.exit(main())
