# SPDX-License-Identifier: Apache-2.0

"""The proof that the tests of driver discovery can fail, and do.

``python -m tests.proofs discovery`` runs them in sandboxes with and without
the discovery filter, with every promise asked for, and compares which tests
fail with which ones must: doc/source/discovery-deviations.rst.
"""
