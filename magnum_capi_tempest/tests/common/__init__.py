# SPDX-License-Identifier: Apache-2.0

"""What the tests against a cloud share."""
