# SPDX-License-Identifier: Apache-2.0

"""Does a cluster conform? From a run of the e2e tests to a verdict.

:mod:`model` defines a result and :mod:`verdict` judges it; both are pure.
:mod:`run` starts a run with Sonobuoy or Hydrophone and fetches its results,
:mod:`archive` reads these, :mod:`report` shows and :mod:`compare` compares
them, and :mod:`submission` prepares them for CNCF. All they share is the
:class:`~.model.Result`.
"""
