# SPDX-License-Identifier: Apache-2.0

"""What developers run; a package so that lint-imports finds its contracts.

Some other project's "tools" may be installed. Without this file, Python would
import that one.
"""
