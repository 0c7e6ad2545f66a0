# SPDX-License-Identifier: Apache-2.0

"""k8s_capi_v1 with one seeded defect each; see tests/proofs/suite_defects."""
