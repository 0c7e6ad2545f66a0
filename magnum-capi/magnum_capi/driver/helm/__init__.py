# SPDX-License-Identifier: Apache-2.0
"""How does Helm make, change and remove the objects of a cluster?"""
