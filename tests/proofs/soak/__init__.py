# SPDX-License-Identifier: Apache-2.0

"""A soak: users of Magnum's API, three conductors, and faults, by a model.

``python -m tests.proofs soak`` has hypothesis make stories (``stories``),
plays them in a sandbox (``world``, ``faults``), and judges what is there
whenever things are quiet by what was asked for (``model``).
"""
