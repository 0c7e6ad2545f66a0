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

"""Does a cluster conform? From a run of the e2e tests to a verdict.

:mod:`model` says what a result is, :mod:`verdict` what it is worth; both are
pure. :mod:`running` has Sonobuoy or Hydrophone make a run and brings home what
it left, :mod:`record` reads that, :mod:`showing` shows and compares results,
:mod:`submission` passes them on. What they share is the
:class:`~.model.Result`, and nothing else.
"""
