# SPDX-License-Identifier: Apache-2.0
"""What should a cluster be? From rows to the values of a chart. Pure.

:mod:`rows` reads what Magnum has, :mod:`labels` what users wrote; :mod:`spec`
holds it, :mod:`validation` and :mod:`upgrade` refuse, :mod:`values` hands
over to a chart of :mod:`charts`. :mod:`goal` is what is waited for then.
"""
