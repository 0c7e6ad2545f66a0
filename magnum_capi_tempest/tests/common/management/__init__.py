# SPDX-License-Identifier: Apache-2.0

"""What tests see and change in the management cluster, past Magnum."""
