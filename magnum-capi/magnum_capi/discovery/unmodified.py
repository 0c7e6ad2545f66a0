# SPDX-License-Identifier: Apache-2.0
"""Which driver a Magnum without the filter takes; pure.

The audit compares this with :mod:`.resolve`, which says what the specification
wants, and :mod:`.stored` needs it, because Magnum serves clusters by these
rules, with or without the filter. The answers assume that every enabled driver
loads. If one does not, :func:`poisoned_by` names it and :func:`poison` says
what happens then. :func:`without_broken` is the same Magnum after the cure.
"""

import dataclasses

from magnum_capi.discovery import model

#: Prefixes of errors of :mod:`.catalog`; Magnum accepts the last two.
_IMPORT = 'import: '
_TWICE = 'registered more than once'
_NO_TYPES = 'provides: no cluster types'


@dataclasses.dataclass(frozen=True)
class Answer:
    """The driver that Magnum takes.

    :param driver: None: it refuses, or there is none.
    :param text: why it refuses, without a full stop; None: it does not.
    """

    driver: str | None = None
    text: str | None = None

    @property
    def accepted(self) -> bool:
        return self.text is None


def enabled(catalog: model.Catalog) -> tuple[model.Offer, ...]:
    """Drivers that Magnum loads, in its order.

    magnum/drivers/common/driver.py, Driver.load_entry_points.
    """
    return tuple(offer for offer in catalog.offers
                 if offer.name not in catalog.policy.disabled_drivers)


def poisoned_by(catalog: model.Catalog) -> tuple[str, ...]:
    """Enabled drivers whose error reaches every request.

    magnum/drivers/common/driver.py, Driver.get_drivers: the loop that loads
    and constructs them catches nothing, and every lookup, even by name, goes
    through it. A name that is registered twice, or a driver that provides
    nothing, is not an error there.
    """
    return tuple(offer.name for offer in enabled(catalog)
                 if offer.error is not None and not twice(offer)
                 and offer.error != _NO_TYPES)


def poison(offer: model.Offer) -> str:
    """The effect on Magnum of a driver that :func:`poisoned_by` names.

    magnum/cmd/api.py, magnum/wsgi/api.py and magnum/cmd/conductor.py load
    all drivers when they start. Driver.get_drivers of
    magnum/drivers/common/driver.py constructs them, and fills a class
    attribute one by one.
    """
    if (offer.error or '').startswith(_IMPORT):
        return "Neither Magnum's API nor its conductor can start with it"
    return ('The first request to each process of Magnum fails with status '
            '500, and later ones only know the drivers loaded before it')


def twice(offer: model.Offer) -> bool:
    """Whether several distributions register a driver of this name."""
    return (offer.error or '').startswith(_TWICE)


def without_broken(catalog: model.Catalog) -> model.Catalog:
    """The catalog with broken drivers in [drivers]disabled_drivers."""
    broken = poisoned_by(catalog)
    if not broken:
        return catalog
    return model.Catalog(catalog.offers, dataclasses.replace(
        catalog.policy,
        disabled_drivers=catalog.policy.disabled_drivers.union(broken)))


def type_map(catalog: model.Catalog) -> dict[model.ClusterType, str]:
    """The one driver that Magnum knows for each type: the last wins.

    Beta drivers take part, enabled or not.
    magnum/drivers/common/driver.py, Driver.get_drivers.
    """
    return {cluster_type: offer.name for offer in enabled(catalog)
            for cluster_type in offer.types}


def default_driver(catalog: model.Catalog) -> Answer:
    """The driver of a template for which none is named.

    Since 23.0: earlier, :func:`get_driver` without a name decides. Its name is
    None when there are no drivers. What it provides, and whether it is beta,
    does not matter.
    magnum/drivers/common/driver.py, Driver.get_default_driver.
    """
    names = sorted(offer.name for offer in enabled(catalog))
    configured = catalog.policy.default_driver
    if not configured:
        return Answer(names[0] if names else None)
    if configured not in names:
        return _refused(_not_supported(configured))
    return Answer(configured)


def get_driver(catalog: model.Catalog, cluster_type: model.ClusterType,
               name: str | None = None) -> Answer:
    """The driver that serves clusters of a stored template.

    A name is looked up among all installed drivers, even disabled or beta
    ones and those that do not provide the type; the type and the beta option
    matter only without a name.
    magnum/drivers/common/driver.py, Driver.get_driver, as called by the
    conductor and by Driver.get_driver_for_cluster. It catches no
    error of loading, and not the MultipleMatches of stevedore/driver.py.
    """
    if name:
        if name not in catalog.by_name:
            return _refused(_not_supported(name))
        if catalog.by_name[name].error not in (None, _NO_TYPES):
            return _refused(f'Cluster driver ({model.shown(name)}) fails with '
                            'status 500')
        return Answer(name)
    winner = type_map(catalog).get(cluster_type)
    if winner is None:
        return _refused(f'Cluster type {cluster_type} is not supported '
                        'by any loaded cluster driver')
    if (catalog.by_name[winner].beta
            and winner not in catalog.policy.enabled_beta_drivers):
        return _refused(f'Cluster type {cluster_type} is provided by the '
                        f'beta driver {winner}, which is not enabled')
    return Answer(winner)


def _refused(text: str) -> Answer:
    return Answer(text=text)


def _not_supported(name: str) -> str:
    return f'Cluster driver ({model.shown(name)}) not supported'
