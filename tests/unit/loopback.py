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
"""Serves scripted answers from a thread, until a fixture or test ends."""

import threading


def serve(owner, server):
    """Run an ``http.server`` server.

    :param owner: fixture or test case, whose clean-up ends the server.
    """
    thread = threading.Thread(target=server.serve_forever,
                              kwargs={'poll_interval': 0.01})
    thread.start()
    owner.addCleanup(thread.join)
    owner.addCleanup(server.server_close)
    owner.addCleanup(server.shutdown)
