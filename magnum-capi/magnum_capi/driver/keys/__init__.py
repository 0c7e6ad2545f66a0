# SPDX-License-Identifier: Apache-2.0
"""Secrets of a cluster: those of Keystone, and those in Kubernetes."""
