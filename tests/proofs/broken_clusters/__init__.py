# SPDX-License-Identifier: Apache-2.0

"""Proof that a broken cluster gets the right verdict, and its cause a name.

    python -m tests.proofs broken-clusters [CLUSTER] [--directory DIR]

Real clusters of Magnum's, with real nodes, are broken on purpose before or
during a conformance run: the network plugin is removed, the cluster DNS is
scaled to 0, a disk fills up, a machine is powered off. A row of the table is
right when the verdict is, and when the report says what was broken.
"""
