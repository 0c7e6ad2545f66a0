# SPDX-License-Identifier: Apache-2.0

"""Proof that the Tempest suite sees what a driver does wrong.

``defects.toml`` says which test has to fail of which driver of
``drivers/defects``. ``python -m tests.proofs suite-defects`` starts a sandbox
with all of them and runs that test for each: a defect that it does not see is
an error, and so is a test that fails for another reason. Then the same tests
have to pass with drivers that have none of the defects.
"""
