# SPDX-License-Identifier: Apache-2.0
"""What would Flux or Argo apply? A cluster rendered outside of Magnum.

Its parts are a row of Magnum or a :mod:`description`, and a real cloud or a
:mod:`described_cloud`.
"""
