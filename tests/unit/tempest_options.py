# SPDX-License-Identifier: Apache-2.0

"""The options of Tempest and of its plugins that are installed."""

import collections

from oslo_config import cfg
from tempest import config

_UNKNOWN = cfg.Opt('unknown', deprecated_for_removal=True)


def dead(parser):
    """Options of a tempest.conf that nothing has, or that will be removed.

    :param parser: ConfigParser that has read it. Groups of plugins that are
        not installed are left out.
    """
    known = collections.defaultdict(dict)
    for group, options in config.list_opts():
        known[str(getattr(group, 'name', group))].update(
            {option.name: option for option in options})
    return sorted(
        f'[{group}] {name}' for group in set(parser.sections()) & set(known)
        for name in parser[group]
        if known[group].get(name, _UNKNOWN).deprecated_for_removal)
