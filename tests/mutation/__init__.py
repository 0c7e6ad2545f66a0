# SPDX-License-Identifier: Apache-2.0

"""Mutation testing: which changes of the code the unit tests do not see.

cosmic-ray makes the mutants and keeps their results in its session, a
database. Ours are the rooms (:mod:`.rooms`), the tests that a mutant is tried
with (:mod:`.selection`), and the process in which they run
(:mod:`.session` starts it, :mod:`.trial` is what happens in it).
"""
