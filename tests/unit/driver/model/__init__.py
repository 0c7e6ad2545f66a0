# SPDX-License-Identifier: Apache-2.0

"""A model of the driver: stories made by hypothesis, judged by what must hold.

It speaks only of what Magnum calls, and of what comes out of the doors: HTTP
to Kubernetes and OpenStack, the program helm. See doc/source/contributor.
"""
