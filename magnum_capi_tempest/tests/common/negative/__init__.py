# SPDX-License-Identifier: Apache-2.0

"""Requests that Magnum must refuse, and what it answers to them."""
