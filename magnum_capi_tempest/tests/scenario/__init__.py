# SPDX-License-Identifier: Apache-2.0

"""Stories that a user of Magnum lives through, with real clusters."""
