# SPDX-License-Identifier: Apache-2.0
"""``magnum-capi``: the application, and the commands for Magnum's hosts.

Other distributions add commands by entry points of the group
``magnum_capi.cli``.
"""
