# SPDX-License-Identifier: Apache-2.0
"""Runs Helm to install, upgrade and uninstall the objects of a cluster."""
