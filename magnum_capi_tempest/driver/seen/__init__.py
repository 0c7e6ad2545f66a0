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
"""What is there, and what does it mean? From objects to verdicts. Pure.

:mod:`snapshot` holds one look, :mod:`conditions`, :mod:`machines` and
:mod:`addons` read its objects. :mod:`status` and :mod:`health` judge them by
a goal of ``wanted``, and :mod:`reasons` says it to the owner of the cluster.
"""
