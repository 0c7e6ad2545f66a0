# SPDX-License-Identifier: Apache-2.0

"""A real Zuul on a loopback network, and our jobs in it.

``python -m tests.zuul`` (``tools/run_zuul.sh`` prepares the machine for it)
starts ZooKeeper, MariaDB, an SSH server that is the node, and all of Zuul's
own programs as one user; makes the repositories of a tenant: this project as
it is in the work tree, and ``config``, which stands in for the jobs and roles
of other repositories; reads what Zuul made of our jobs; and runs them.
"""
