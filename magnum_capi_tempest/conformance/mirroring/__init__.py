# SPDX-License-Identifier: Apache-2.0

"""The images of a run in a private registry."""
