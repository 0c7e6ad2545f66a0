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

"""May these results go to CNCF? The folder of a submission, and its rules.

:mod:`bundle` makes the folder ``v1.NN/product/`` out of an archive,
:mod:`check` reads such a folder and :mod:`rules` judges it, by the rules of
the bot that looks at every pull request of cncf/k8s-conformance
(kubernetes-sigs/verify-conformance, kodata/features and internal/suite at
86d380d8). What the bot only promises to look at is a warning here.
:mod:`publish` is for everybody else: what may be shown, without secrets.
"""
