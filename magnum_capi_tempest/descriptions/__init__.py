# SPDX-License-Identifier: Apache-2.0

"""Descriptions of drivers whose distributions have none of their own."""

import functools
import importlib.resources

from magnum_capi import driver_info


@functools.cache
def known() -> tuple[driver_info.Description, ...]:
    """All of them, by name of the driver."""
    found = [driver_info.parse(file.read_text(encoding='utf-8'), file)
             for file in importlib.resources.files(__package__).iterdir()
             if file.name.endswith('.yaml')]
    return tuple(sorted(found, key=lambda one: one.name))


def of_driver(name: str) -> driver_info.Description | None:
    """The description of a driver, None if there is none."""
    return next((one for one in known() if one.name == name), None)
