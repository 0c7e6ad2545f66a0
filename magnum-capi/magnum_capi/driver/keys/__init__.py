# SPDX-License-Identifier: Apache-2.0
"""Secrets of a cluster and their rotation.

:mod:`credentials` decides the steps of an application credential's life,
:mod:`rotation` takes them. :mod:`state` records them, in a Secret of
:mod:`vault`.
"""
