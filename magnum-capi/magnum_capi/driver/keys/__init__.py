# SPDX-License-Identifier: Apache-2.0
"""Which secrets has a cluster, and how does one follow another?

:mod:`credentials` decides the steps of an application credential's life,
:mod:`rotation` takes them. :mod:`state` remembers them, in a Secret of
:mod:`vault`.
"""
