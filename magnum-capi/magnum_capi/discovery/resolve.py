# SPDX-License-Identifier: Apache-2.0
"""Which driver serves a template: the rules of the specification, pure.

The order follows the specification improve-driver-discovery, with additions
where that is silent:

1. the operating system: the image's ``magnum_distro``, else ``os_distro``,
   which is deprecated for this;
2. the template's explicit ``driver``;
3. the image's ``magnum_driver``;
4. the only driver that provides (server_type, os, coe): "For existing
   drivers that do not conflict, the current way of discovery remains
   unchanged";
5. ``[drivers]default_driver``, if it provides the type;
6. none, or with ``[k8s_discovery]mode = hibiscus`` the first by name of
   those that provide the type, as in the specification
   cluster-template-driver-selection.

The chosen driver must be enabled (a beta driver explicitly), loadable, and
provide the type; a name that fails this is refused, not skipped. The naming
alternatives of the specification (``os`` is the name of a driver, or
``<driver>:<distro>``) need no rule: they are types that one driver provides.
"""

from magnum_capi.discovery import model

_CHOOSE = ("Set the field 'driver' of the cluster template (--driver), or the "
           'property magnum_driver of the image, to one of them')
_ASK = 'Ask the operator of this cloud, or choose another driver'

_STATES = {
    model.State.DISABLED: (
        model.Kind.DISABLED, 'is disabled by [drivers]disabled_drivers'),
    model.State.BETA: (
        model.Kind.BETA, 'is a beta driver and not in '
                         '[drivers]enabled_beta_drivers'),
    model.State.BROKEN: (
        model.Kind.BROKEN, 'is installed but cannot be loaded'),
}


def resolve(request: model.Request, catalog: model.Catalog) -> model.Decision:
    """Decide for a new template."""
    image = request.image
    if image.magnum_distro:
        distro = image.magnum_distro
        found = f'magnum_distro of the image is {model.shown(distro)}'
    elif image.os_distro:
        distro = image.os_distro
        found = (f'the image has no magnum_distro; its os_distro is '
                 f'{model.shown(distro)} (deprecated: set magnum_distro)')
    else:
        found = 'the image has neither magnum_distro nor os_distro'
        return model.Decision(
            None, None, model.Refusal(
                model.Kind.NO_DISTRO, 'The image does not say which '
                'operating system it has',
                'Set its properties magnum_distro and os_distro; an '
                'unmodified Magnum requires the latter.'),
            (model.Reason(model.Step.DISTRO, found),))
    return _choose(
        model.ClusterType(request.server_type, distro, request.coe),
        request.driver, image.magnum_driver, catalog,
        (model.Reason(model.Step.DISTRO, found),),
        deprecated=not image.magnum_distro)


def resolve_stored(cluster_type: model.ClusterType, driver: str | None,
                   catalog: model.Catalog) -> model.Decision:
    """Decide for an existing template, whose image does not count."""
    return _choose(cluster_type, driver, None, catalog, (), False)


def _choose(cluster_type: model.ClusterType, wanted: str | None,
            tagged: str | None, catalog: model.Catalog,
            reasons: tuple[model.Reason, ...],
            deprecated: bool) -> model.Decision:
    wanted = (wanted or '').strip()
    providers = catalog.providers(cluster_type)
    driver: str | None = None
    refusal: model.Refusal | None = None
    if wanted:
        reasons += (model.Reason(
            model.Step.TEMPLATE,
            f"the field 'driver' of the template is {model.shown(wanted)}"),)
        driver, refusal = _named(wanted, 'by the cluster template',
                                 cluster_type, providers, catalog)
    elif tagged:
        reasons += (
            model.Reason(model.Step.TEMPLATE, 'the template names no driver'),
            model.Reason(
                model.Step.IMAGE, 'magnum_driver of the image is '
                f'{model.shown(tagged)}'))
        driver, refusal = _named(tagged, 'by magnum_driver of the image',
                                 cluster_type, providers, catalog)
    else:
        reasons += (model.Reason(
            model.Step.TEMPLATE, 'neither the template nor the image names '
            'a driver'),)
        if len(providers) == 1:
            driver = providers[0]
            reasons += (model.Reason(
                model.Step.SOLE_PROVIDER,
                f'{cluster_type} is provided by {model.listed(providers)} '
                'only'),)
        elif not providers:
            refusal = _not_supported(cluster_type, catalog)
            reasons += (model.Reason(
                model.Step.SOLE_PROVIDER,
                f'{cluster_type} is provided by no usable driver'),)
        else:
            reasons += (model.Reason(
                model.Step.SOLE_PROVIDER, f'{cluster_type} is provided by '
                f'{model.listed(providers)}'),)
            driver, refusal, found = _default(cluster_type, providers,
                                              catalog)
            reasons += (model.Reason(model.Step.DEFAULT, found),)
            if refusal and catalog.policy.mode is model.Mode.HIBISCUS:
                driver, refusal = providers[0], None
                reasons += (model.Reason(
                    model.Step.FIRST, f'{model.listed(providers[:1])} is the '
                    'first of them by name, which decides with '
                    '[k8s_discovery]mode = hibiscus'),)
    return model.Decision(cluster_type, driver, refusal, reasons, deprecated)


def _named(name: str, by_whom: str, cluster_type: model.ClusterType,
           providers: tuple[str, ...], catalog: model.Catalog,
           ) -> tuple[str, None] | tuple[None, model.Refusal]:
    if name in providers:
        return name, None
    offer = catalog.by_name.get(name)
    who = f'The driver {model.shown(name)}, named {by_whom},'
    if offer is None:
        return None, model.Refusal(
            model.Kind.UNKNOWN, f'{who} is not installed',
            _offer_instead(cluster_type, providers, catalog), providers)
    state = catalog.states[name]
    if state is not model.State.USABLE:
        kind, text = _STATES[state]
        return None, model.Refusal(kind, f'{who} {text}', f'{_ASK}.',
                                   providers)
    provided = model.listed(sorted(set(offer.types))) or 'nothing'
    return None, model.Refusal(
        model.Kind.MISMATCH,
        f'{who} does not provide {cluster_type}, only {provided}',
        _offer_instead(cluster_type, providers, catalog), providers)


def _offer_instead(cluster_type: model.ClusterType,
                   providers: tuple[str, ...], catalog: model.Catalog) -> str:
    if providers:
        return f'{cluster_type} is provided by {model.listed(providers)}.'
    return str(_not_supported(cluster_type, catalog))


def _not_supported(cluster_type: model.ClusterType,
                   catalog: model.Catalog) -> model.Refusal:
    hint = f'On offer: {catalog.offered}.'
    waiting = catalog.beta_providers(cluster_type)
    if waiting:
        hint += (f' It would be provided by {model.listed(waiting)} (beta), '
                 'if in [drivers]enabled_beta_drivers.')
    return model.Refusal(
        model.Kind.NOT_SUPPORTED,
        f'No usable driver provides {cluster_type}', hint)


def _default(cluster_type: model.ClusterType, providers: tuple[str, ...],
             catalog: model.Catalog,
             ) -> tuple[str, None, str] | tuple[None, model.Refusal, str]:
    """The default driver or a refusal, and a clause for the reason."""
    default = catalog.policy.default_driver
    if default in providers:
        return default, None, (
            f'[drivers]default_driver is {model.listed([default])}')
    found = (f'[drivers]default_driver is {model.shown(default)}, which is '
             'none of them' if default
             else '[drivers]default_driver is not set')
    return None, model.Refusal(
        model.Kind.AMBIGUOUS,
        f'{cluster_type} is ambiguous: it is provided by '
        f'{model.listed(providers)}', f'{_CHOOSE}.', providers), found
