# SPDX-License-Identifier: Apache-2.0

"""The harness's client for Kubernetes APIs, which does not try again."""
