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

"""Proof that the Tempest suite sees what a driver does wrong.

``defects.toml`` says which test has to fail of which driver of
``drivers/defects``. ``python -m tests.suite_defects`` starts a sandbox with
all of them and runs that test for each: a defect that it does not see is an
error, and so is a test that fails for another reason. Then the same tests
have to pass with drivers that have none of the defects.
"""
