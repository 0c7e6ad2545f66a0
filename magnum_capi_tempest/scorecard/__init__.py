# SPDX-License-Identifier: Apache-2.0

"""Which promises does a driver keep? A report for each driver.

:mod:`suite` lists the tests, and the promise that each of them judges.
:mod:`results` has their results in a run, :mod:`judge` derives the judgement
of the promises, and :mod:`report` stores it in a file. :mod:`forms` shows
reports, one or several side by side.
"""
