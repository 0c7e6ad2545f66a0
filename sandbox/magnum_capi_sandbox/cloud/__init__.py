# SPDX-License-Identifier: Apache-2.0

"""The services of a sandbox, Keystone to Magnum, and what they need.

The files in ``programs`` run in the environment of the services, by path.
"""
