# SPDX-License-Identifier: Apache-2.0

"""What tests read and change in the management cluster, bypassing Magnum."""
