# SPDX-License-Identifier: Apache-2.0
"""Needs what is not there, as a driver does that is half installed.

Only when it is made, and so not before Magnum runs: with such an import at
the top of this module neither Magnum's API nor its conductor would start
(magnum.wsgi.api and magnum.cmd.conductor load every driver first).
"""

from magnum_capi_helm import driver


class Driver(driver.Driver):
    """Nobody ever gets one."""

    def __init__(self):
        super().__init__()
        import magnum_capi_broken_dependency
        self.client = magnum_capi_broken_dependency.Client()
