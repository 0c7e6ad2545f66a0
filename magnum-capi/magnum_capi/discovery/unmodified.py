# SPDX-License-Identifier: Apache-2.0
"""What an unmodified Magnum does with its drivers; pure.

Comparisons need this and :mod:`.resolve`, which says what the specification
wants. Magnum 20.0 to 23.0 differ in templates only: until 22.0 a template has
the driver that its image names, or none, whatever its request says. The
answers assume that every enabled driver loads. If one does not,
:func:`poisoned_by` names it and :func:`poison` says what happens then.
:func:`without_broken` is the same Magnum after the cure.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.discovery import model

#: magnum/api/validation.py, K8sValidator and Validator.get_coe_validator.
_SERVER_TYPES = ('vm', 'bm')
_COES = ('kubernetes',)
_NO_DISTRO = "Image doesn't contain os_distro field"
#: Prefixes of errors of :mod:`.registry`; Magnum accepts the last two.
_IMPORT = 'import: '
_TWICE = 'registered more than once'
_NO_TYPES = 'provides: no cluster types'


@dataclasses.dataclass(frozen=True)
class Answer:
    """What Magnum answers to a request.

    :param driver: the driver that is stored in a template (None: none is), or
        that is asked when a cluster is created.
    :param distro: stored in the template as cluster_distro.
    :param text: why the request is refused, without a full stop; None when
        it is accepted.
    :param status: HTTP status of a refusal.
    :param maker: the driver that creates clusters of the template as stored;
        None: they are refused.
    """

    driver: str | None = None
    distro: str | None = None
    text: str | None = None
    status: int | None = None
    maker: str | None = None

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
        disabled_drivers=catalog.policy.disabled_drivers.union(broken)),
        catalog.magnum)


def keeps_choice(catalog: model.Catalog) -> bool:
    """Whether templates keep the driver of their request.

    Since 23.0, which also has [drivers]default_driver.
    """
    return catalog.magnum >= 23


def type_map(catalog: model.Catalog) -> dict[model.ClusterType, str]:
    """The one driver that Magnum knows for each type: the last wins.

    Beta drivers take part, enabled or not.
    magnum/drivers/common/driver.py, Driver.get_drivers.
    """
    return {cluster_type: offer.name for offer in enabled(catalog)
            for cluster_type in offer.types}


def default_driver(catalog: model.Catalog) -> Answer:
    """The driver of a template for which none is named.

    Since 23.0; see :func:`unnamed`. Its name is None when there are no
    drivers. What it provides, and whether it is beta, does not matter.
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
                            'status 500', 500)
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


def create_cluster(catalog: model.Catalog,
                   cluster_type: model.ClusterType) -> Answer:
    """Whether a cluster of a stored template is accepted, and who is asked.

    The driver of the template does not matter: the driver in the answer is
    the one whose validate_master_size is called.
    magnum/api/validation.py, enforce_cluster_type_supported and
    enforce_cluster_master_size_supported.
    """
    return get_driver(catalog, cluster_type)


def unnamed(catalog: model.Catalog,
            cluster_type: model.ClusterType) -> Answer:
    """The driver of clusters of new templates for which none is named.

    Its name is None when there are no drivers.
    """
    if keeps_choice(catalog):
        return default_driver(catalog)
    return get_driver(catalog, cluster_type)


def create_template(catalog: model.Catalog,
                    properties: collections.abc.Mapping[str, typing.Any],
                    server_type: str = 'vm', coe: str = 'kubernetes',
                    driver: str | None = None,
                    distro: str | None = None) -> Answer:
    """Whether a template is accepted, and what is stored.

    :param properties: of the image, as Glance has them: nothing is stripped.
    :param driver: the field of the request, as is ``distro``:
        cluster_distro.

    magnum/api/validation.py, enforce_driver_supported, then
    magnum/api/controllers/v1/cluster_template.py,
    ClusterTemplatesController.post (which calls validate_image of
    magnum/api/attr_validator.py, and stores os_distro in any case).
    """
    if coe not in _COES:
        return _refused(f'Requested COE type {model.shown(coe)} is not '
                        'supported')
    if server_type not in _SERVER_TYPES:
        return _refused(f'Server type {model.shown(server_type)} is not '
                        'supported')
    os_distro = properties.get('os_distro')
    of_image = properties.get('magnum_driver')
    named, keeps = driver, keeps_choice(catalog)
    if not distro or not driver:
        distro = os_distro
        named = (driver if keeps else None) or of_image
    # Before 23, a driver is found by name, or refused for lack of a type.
    if not distro and (keeps or not named):
        return _refused(_NO_DISTRO)
    if not named and keeps:
        found = default_driver(catalog)
        if not found.accepted:
            return found
        named = found.driver
    found = get_driver(
        catalog, model.ClusterType(server_type, distro or '', coe), named)
    if not found.accepted:
        return found
    # Only now, because a request with both skips the check of the image.
    if not os_distro:
        return _refused(_NO_DISTRO)
    stored = named if keeps else of_image
    return Answer(stored, os_distro, maker=get_driver(
        catalog, model.ClusterType(server_type, os_distro, coe),
        stored).driver)


def _refused(text: str, status: int = 400) -> Answer:
    return Answer(text=text, status=status)


def _not_supported(name: str) -> str:
    return f'Cluster driver ({model.shown(name)}) not supported'
