# SPDX-License-Identifier: Apache-2.0

"""The images of a run in a registry of one's own."""
