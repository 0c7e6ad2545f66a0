# SPDX-License-Identifier: Apache-2.0

"""Does a cluster conform? From a run of the e2e tests to a verdict.

:mod:`model` says what a result is, :mod:`verdict` what it is worth; both are
pure. :mod:`running` has Sonobuoy or Hydrophone make a run and brings home what
it left, :mod:`record` reads that, :mod:`showing` shows and compares results,
:mod:`submission` passes them on. What they share is the
:class:`~.model.Result`, and nothing else.
"""
