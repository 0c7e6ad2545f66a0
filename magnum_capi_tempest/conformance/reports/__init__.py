# SPDX-License-Identifier: Apache-2.0

"""Presents one or several results to people and programs."""
