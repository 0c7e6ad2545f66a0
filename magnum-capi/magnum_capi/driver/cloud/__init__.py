# SPDX-License-Identifier: Apache-2.0
"""Looks up and cleans up resources in OpenStack. Thin, with timeouts."""
