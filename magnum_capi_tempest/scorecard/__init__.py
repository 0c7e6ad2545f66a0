# SPDX-License-Identifier: Apache-2.0

"""WHAT does a driver keep of what it promises? A report for each driver.

:mod:`suite` has the tests, and which promise each of them is about.
:mod:`results` is how they ended in a run, :mod:`judge` what that says of the
promises, :mod:`report` the file that says so. :mod:`forms`, :mod:`page` and
:mod:`rst` show reports side by side.
"""
