# SPDX-License-Identifier: Apache-2.0
"""What an operator installs next to Magnum: driver discovery and a driver."""
