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
"""HOW is a cluster made and kept?

A Magnum driver for Cluster API without Heat: Helm makes the objects of a
cluster in a management cluster, the Kubernetes API tells how they are
(specification clusterapi-driver of magnum-specs).

Decisions are pure: :mod:`wanted` says what a cluster should be, :mod:`seen`
what is there and what that means. The world is thin, with timeouts:
:mod:`kubernetes` and :mod:`cloud`. :mod:`keys` has both for a cluster's
secrets. What acts is here: Magnum calls :mod:`driver`, a user's request is in
:mod:`operations` and :mod:`upgrading`, what nobody asks for in :mod:`watch`
and :mod:`monitor`, and all of them take the road of :mod:`converge`.
:mod:`gitops` is for those who apply without Magnum.
"""
