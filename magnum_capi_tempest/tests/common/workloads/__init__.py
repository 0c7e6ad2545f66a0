# SPDX-License-Identifier: Apache-2.0

"""A workload that serves traffic in a cluster, and its downtime."""
