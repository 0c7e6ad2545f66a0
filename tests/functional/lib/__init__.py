# SPDX-License-Identifier: Apache-2.0

"""The stand-ins of tests/lib do what the real things do."""
