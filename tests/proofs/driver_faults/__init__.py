# SPDX-License-Identifier: Apache-2.0

"""The proof that faults make the driver k8s_capi_v1 lose or leak nothing.

``python -m tests.proofs driver-faults`` starts a sandbox, injects one fault
after the other, and reports what a user saw, how it ended and what was left
behind: doc/source/faults.rst.
"""
