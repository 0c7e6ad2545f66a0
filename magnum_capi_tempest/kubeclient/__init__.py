# SPDX-License-Identifier: Apache-2.0

"""The harness's client of Kubernetes APIs, over the package ``kubernetes``."""
