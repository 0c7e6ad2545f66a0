# SPDX-License-Identifier: Apache-2.0

"""The preflight, and cluster templates, whatever the driver."""
