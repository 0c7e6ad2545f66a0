# SPDX-License-Identifier: Apache-2.0

"""Proof that the Tempest suite finds defects of drivers.

Each driver of ``tests/defects`` says which test must fail because of it.
``python -m tests.proofs suite-defects`` starts a sandbox with all of them and
runs that test for each: a test that passes is an error, and so is one that
fails for another reason. Then the same tests must pass with drivers that have
none of the defects.
"""
