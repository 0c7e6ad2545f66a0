# SPDX-License-Identifier: Apache-2.0
"""Renders a cluster outside of Magnum, to be applied by Flux or Argo.

The input is a row of Magnum or a :mod:`description`, and a real cloud or a
:mod:`described_cloud`.
"""
