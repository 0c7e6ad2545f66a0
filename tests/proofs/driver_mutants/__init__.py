# SPDX-License-Identifier: Apache-2.0

"""Known bugs of drivers for Cluster API, and the proof that tests see them.

``bugs.toml`` says which tests hold our driver to better, ``defects.toml`` how
each bug is brought into it. ``python -m tests.proofs driver-mutants`` does
that, one at a time and in a copy, and runs the tests: a defect that they do
not see is an error. The documentation of the bugs is made of the same tables.
"""
