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
"""Needs what is not there, as a driver does that is half installed.

Only when it is made, and so not before Magnum runs: with such an import at
the top of this module neither Magnum's API nor its conductor would start
(magnum.wsgi.api and magnum.cmd.conductor load every driver first).
"""

from magnum_capi_helm import driver


class Driver(driver.Driver):
    """Nobody ever gets one."""

    def __init__(self):
        super().__init__()
        import magnum_capi_broken_dependency
        self.client = magnum_capi_broken_dependency.Client()
