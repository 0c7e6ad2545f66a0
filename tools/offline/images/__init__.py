# SPDX-License-Identifier: Apache-2.0

"""Image archives for nodes and pods, made without a registry.

An archive is a file that both ``docker load`` and ``ctr images import``
accept; a folder of archives has an inventory.
"""
