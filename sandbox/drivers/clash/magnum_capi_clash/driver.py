# SPDX-License-Identifier: Apache-2.0
"""magnum-capi-helm's driver under other names, each with one peculiarity."""

from magnum_capi_helm import driver


def _types(*distros):
    return [{'server_type': 'vm', 'os': distro, 'coe': 'kubernetes'}
            for distro in distros]


class Alias(driver.Driver):
    """The driver to use for types that a peculiar driver provides, too.

    Nobody else provides arch.
    """

    provides = _types('arch', 'fedora', 'suse')


class Beta(driver.Driver):
    """Shadows Alias for fedora, and must be enabled."""

    beta = True
    provides = _types('fedora')


class Disabled(driver.Driver):
    """[drivers]disabled_drivers names it."""

    provides = _types('ubuntu')


class Lenient(driver.Driver):
    """Shadows Alias for suse, and validates nothing."""

    provides = _types('suse')

    def validate_master_size(self, node_count):
        pass
