# SPDX-License-Identifier: Apache-2.0
"""A driver that needs a missing module, like one that is half installed.

It fails only when an object is made, so that Magnum runs: with such an import
at the top of this module neither Magnum's API nor its conductor would start
(magnum.wsgi.api and magnum.cmd.conductor load every driver first).
"""

from magnum_capi_helm import driver


class Driver(driver.Driver):
    """Cannot be constructed."""

    def __init__(self):
        super().__init__()
        import magnum_capi_broken_dependency
        self.client = magnum_capi_broken_dependency.Client()
