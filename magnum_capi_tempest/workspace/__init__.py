# SPDX-License-Identifier: Apache-2.0

"""WHAT does Tempest need to know of a cloud, and where does it run?

:mod:`cloud` looks at a cloud of clouds.yaml, :mod:`selection` decides what to
test with (pure), :mod:`folder` lays out a workspace, :mod:`runs` runs Tempest
in one and records what came of it; :mod:`worker` and :mod:`redacting` keep
secrets in.
"""
