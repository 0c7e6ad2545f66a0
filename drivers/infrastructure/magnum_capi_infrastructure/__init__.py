# SPDX-License-Identifier: Apache-2.0
"""What replaces the hypervisor and the network of a sandbox's OpenStack."""
