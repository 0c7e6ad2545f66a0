# SPDX-License-Identifier: Apache-2.0
"""Secrets of a cluster.

:mod:`app_credentials` are those of Keystone, of which :mod:`credentials` keeps
a record. :mod:`state` has it, in a Secret of :mod:`vault`.
"""
