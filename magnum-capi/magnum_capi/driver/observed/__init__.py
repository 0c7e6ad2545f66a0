# SPDX-License-Identifier: Apache-2.0
"""The observed state and its meaning: from objects to verdicts. Pure.

:mod:`snapshot` has what was read at one time, :mod:`conditions`,
:mod:`machines` and :mod:`addons` read its objects. :mod:`status` and
:mod:`health` compare them with a goal of ``desired``, and :mod:`reasons`
explains the result to the owner of the cluster.
"""
