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
"""WHICH driver serves a cluster template?

The improve-driver-discovery specification of Magnum
(https://specs.openstack.org/openstack/magnum-specs/) as a library: pure
decisions (:mod:`.model`, :mod:`.resolve`, :mod:`.audit`), what is installed
(:mod:`.registry`), and a paste filter that makes the decisions effective in
an unmodified Magnum (:mod:`.middleware`).
"""
