# SPDX-License-Identifier: Apache-2.0
"""Replaces the hypervisor and the network of a sandbox's OpenStack."""
