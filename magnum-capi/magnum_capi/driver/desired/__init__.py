# SPDX-License-Identifier: Apache-2.0
"""The desired state of a cluster: from rows to the values of a chart. Pure.

:mod:`rows` reads Magnum's rows, :mod:`labels` users' labels; :mod:`spec` holds
the result, :mod:`validation` and :mod:`upgrade` check it, :mod:`values` turns
it into values for a chart of :mod:`charts`. :mod:`state` is what is recorded
of it, :mod:`goal` what the observed state is compared with.
"""
