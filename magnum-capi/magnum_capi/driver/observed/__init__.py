# SPDX-License-Identifier: Apache-2.0
"""What is there, and what does it mean? From objects to verdicts. Pure.

:mod:`snapshot` holds one look, :mod:`conditions`, :mod:`machines` and
:mod:`addons` read its objects. :mod:`status` and :mod:`health` judge them by
a goal of ``desired``, and :mod:`reasons` says it to the owner of the cluster.
"""
