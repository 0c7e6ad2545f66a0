# SPDX-License-Identifier: Apache-2.0

"""A result, or several, as people and programs want to see them."""
