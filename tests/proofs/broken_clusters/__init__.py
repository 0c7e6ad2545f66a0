# SPDX-License-Identifier: Apache-2.0

"""Proof that a broken cluster gets the right verdict with the right cause.

    python -m tests.proofs broken-clusters [CLUSTER] [--directory DIR]

Magnum's clusters with real nodes are broken on purpose before or during a
conformance run: the network plugin is removed, the cluster DNS is scaled to 0,
a disk fills up, a machine is powered off. A row of the table is right if the
verdict is right and the report names what was broken.
"""
