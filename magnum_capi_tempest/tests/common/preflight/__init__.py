# SPDX-License-Identifier: Apache-2.0

"""What of tempest.conf does not fit the cloud, before any test fails of it."""
