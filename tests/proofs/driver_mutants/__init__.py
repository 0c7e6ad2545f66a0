# SPDX-License-Identifier: Apache-2.0

"""Known bugs of drivers for Cluster API, and the proof that tests find them.

``bugs.toml`` lists the tests that keep our driver free of them,
``defects.toml`` how to inject each bug. ``python -m tests.proofs
driver-mutants`` injects them, one at a time into a copy, and runs the tests: a
defect that they do not find is an error. The documentation of the bugs is made
from the same tables.
"""
