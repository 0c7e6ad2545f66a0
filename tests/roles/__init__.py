# SPDX-License-Identifier: Apache-2.0

"""The roles, run for real by Ansible on this machine: ``tox -e roles``."""
