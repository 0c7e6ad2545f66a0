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


"""Proof that a broken cluster gets the right verdict, and its cause a name.

    python -m tests.broken_clusters [--cluster NAME] [--directory DIR]

Real clusters of Magnum's, with real nodes, are broken on purpose before or
during a conformance run: the network plugin is removed, the cluster DNS is
scaled to 0, a disk fills up, a machine is powered off. A row of the table is
right when the verdict is, and when the report says what was broken.
"""
