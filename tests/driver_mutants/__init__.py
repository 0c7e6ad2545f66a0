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

"""Known bugs of drivers for Cluster API, and the proof that tests see them.

``bugs.toml`` says which tests hold our driver to better, ``defects.toml`` how
each bug is brought into it. ``python -m tests.driver_mutants`` does that, one
at a time and in a copy, and runs the tests: a defect that they do not see is
an error. The documentation of the bugs is made of the same tables.
"""
