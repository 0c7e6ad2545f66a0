# SPDX-License-Identifier: Apache-2.0

"""Lists clusters by chart, and moves them to another chart or options.

A cluster remembers what it was made of (``desired.pins``). Its user moves it
with an upgrade; an operator moves it with this, after changing the options.
"""
