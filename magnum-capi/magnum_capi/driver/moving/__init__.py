# SPDX-License-Identifier: Apache-2.0

"""Clusters by their charts, and operators who move them to another one.

A cluster remembers what it was made of (``wanted.pins``). An upgrade by its
user moves it; this is how an operator does, after a change of the options.
"""
