# SPDX-License-Identifier: Apache-2.0
"""What an operator installs beside Magnum: driver discovery and a driver."""
