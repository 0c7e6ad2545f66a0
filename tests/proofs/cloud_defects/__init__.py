# SPDX-License-Identifier: Apache-2.0

"""The Tempest suite sees what drivers do wrong in a real OpenStack."""
