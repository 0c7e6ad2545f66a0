# SPDX-License-Identifier: Apache-2.0

"""WHAT does Tempest need to know of a cloud, and where does it run?

:mod:`cloud` inspects a cloud of clouds.yaml, :mod:`selection` decides what to
test with (pure), :mod:`folder` lays out a workspace, :mod:`runs` runs Tempest
in one and records the results; :mod:`worker` and :mod:`redacting` remove
secrets from them.
"""
