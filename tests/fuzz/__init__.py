# SPDX-License-Identifier: Apache-2.0

"""Inputs that look for a way to break a reader, for as long as one likes."""
