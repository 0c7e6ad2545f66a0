# SPDX-License-Identifier: Apache-2.0

"""What a machine without registries and without Docker needs.

Nothing that users install imports it: its programs make image archives and
run a container engine, and others use the Docker that has them.
"""
