# SPDX-License-Identifier: Apache-2.0

"""The proof that clusters of k8s_capi_v1 outlive programs, limits and options.

``python -m tests.proofs robustness`` kills programs of a sandbox, and has
operations that take longer than planned and requests of an operator of another
project: doc/source/faults.rst.
"""
