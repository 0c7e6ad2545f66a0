# SPDX-License-Identifier: Apache-2.0

"""The proof that the driver k8s_capi_v1 loses and leaks nothing by faults.

``python -m tests.proofs driver-faults`` starts a sandbox, puts the driver
through one fault after the other, and says of each what a user saw, how it
ended and what was left: doc/source/driver-faults.rst.
"""
