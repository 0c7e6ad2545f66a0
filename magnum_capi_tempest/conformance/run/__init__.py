# SPDX-License-Identifier: Apache-2.0

"""From a cluster to a record: preflight, run, watch, retrieve."""
