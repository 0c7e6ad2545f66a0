# SPDX-License-Identifier: Apache-2.0

"""A soak test: users of Magnum's API, three conductors, faults, and a model.

``python -m tests.proofs soak`` lets hypothesis generate stories (``stories``),
plays them in a sandbox (``world``, ``faults``), and in every quiet period
compares the observed state with the desired one (``model``).
"""
