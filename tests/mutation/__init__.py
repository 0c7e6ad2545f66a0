# SPDX-License-Identifier: Apache-2.0


"""Mutation testing of discovery and driver: what the unit tests do not see.

``python -m tests.mutation`` changes one operator, number, condition, loop,
handler or decorator at a time, as cosmic-ray's operators do, and runs the
tests that reach the changed lines. A mutant that no test fails of has
survived. Nothing is changed on disk, so that a test that compares the text of
a source sees no mutant.
"""
