# SPDX-License-Identifier: Apache-2.0

"""The proof that the tests of driver discovery fail where they must.

``python -m tests.proofs discovery`` runs them in sandboxes with and without
the discovery filter, with every promise, and compares the tests that fail
with those that must fail: doc/source/deviations.rst.
"""
