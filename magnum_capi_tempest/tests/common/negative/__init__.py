# SPDX-License-Identifier: Apache-2.0

"""Requests that Magnum must refuse, and its answers to them."""
