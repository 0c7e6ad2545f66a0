# SPDX-License-Identifier: Apache-2.0
"""Findings about installed drivers and the options of [drivers]."""

import collections.abc
import difflib

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery import model
from magnum_capi.discovery import unmodified

_NAME_ONE = ("Set magnum_driver of the images, or 'driver' of the cluster "
             'templates; [drivers]default_driver decides the rest')

_Drafts = collections.abc.Iterator[findings.Draft]


def audit(catalog: model.Catalog,
          named: collections.abc.Set[str | None] | None,
          filtered: bool) -> _Drafts:
    """Findings about drivers and options.

    :param named: drivers that images and templates of a cloud name; None:
        no cloud was checked.
    :param filtered: the paste filter works.
    """
    yield from _broken(catalog)
    default_counts = filtered or unmodified.keeps_choice(catalog)
    yield from _types(catalog, default_counts)
    yield from _beta(catalog)
    yield from _templates(catalog)
    if default_counts:
        yield from _default(catalog)
    yield from _options(catalog)
    yield from _unreachable(catalog, named, filtered)
    yield from _naming(catalog)


def _broken(catalog: model.Catalog) -> _Drafts:
    poisoned_by = unmodified.poisoned_by(catalog)
    for offer in unmodified.enabled(catalog):
        subject = f'driver {_plain(offer.name)}'
        disable = f'add {_plain(offer.name)} to [drivers]disabled_drivers'
        if offer.name in poisoned_by:
            yield findings.Draft(
                'broken', subject,
                f'It is installed ({_plain(offer.origin)}) but cannot be '
                f'loaded: {offer.error}. {unmodified.poison(offer)}',
                f'Repair or uninstall it, or {disable}')
        elif unmodified.twice(offer):
            yield findings.Draft(
                'duplicate-name', subject,
                f'It is {offer.error}. Magnum fails with status 500 when a '
                'request names it', f'Uninstall one of them, or {disable}')
        elif offer.error is not None:
            yield findings.Draft(
                'provides-nothing', subject,
                'It provides no cluster type. Magnum still accepts templates '
                'that name it, but refuses their clusters',
                f'Repair or uninstall it, or {disable}')


def _types(catalog: model.Catalog, default_counts: bool) -> _Drafts:
    magnum = unmodified.without_broken(catalog)
    winners = unmodified.type_map(magnum)
    for cluster_type in _usable_types(catalog):
        fallback = unmodified.unnamed(magnum, cluster_type)
        providers = catalog.providers(cluster_type)
        subject = f'type {cluster_type}'
        winner = winners[cluster_type]
        others = model.listed([p for p in providers if p != winner])
        if len(providers) > 1:
            yield _clash(catalog, subject, providers, fallback.driver,
                         default_counts)
        if catalog.states[winner] is not model.State.USABLE:
            yield findings.Draft(
                'beta-wins', subject,
                f'Magnum uses {winner} for it, a beta driver that is not '
                'enabled, and therefore refuses all clusters of this type, '
                f'even of templates with {others}',
                f'Add {winner} to [drivers]disabled_drivers, or to '
                '[drivers]enabled_beta_drivers')
        elif others:
            yield findings.Draft(
                'shadowed', subject,
                f'Magnum asks {winner} whether a new cluster of this type has '
                'a valid number of control plane nodes, even if its template '
                f'has the driver {others}',
                f'Add {winner} to [drivers]disabled_drivers if it is not '
                'needed; otherwise make sure that both accept the same '
                'numbers')
        if fallback.driver is not None and fallback.driver not in providers:
            yield findings.Draft(
                'default-mismatch', subject,
                f'An unmodified Magnum gives {fallback.driver} to templates '
                'of this type that name no driver, although it '
                + ('is a beta driver that is not enabled' if cluster_type in
                   catalog.by_name[fallback.driver].types
                   else 'does not provide the type'),
                'Put the filter into the pipeline, or name '
                f'{" or ".join(providers[:2])} in every image or template')


def _usable_types(catalog: model.Catalog) -> list[model.ClusterType]:
    return sorted({cluster_type for offer in catalog.offers
                   for cluster_type in offer.types
                   if catalog.states[offer.name] is model.State.USABLE})


def _clash(catalog: model.Catalog, subject: str, providers: tuple[str, ...],
           fallback: str | None, default_counts: bool,
           ) -> findings.Draft:
    listed = model.listed(providers)
    default = catalog.policy.default_driver
    if default_counts and default in providers:
        return findings.Draft(
            'clash-with-default', subject,
            f'It is provided by {listed}. A template that names none gets '
            f'{default}, the [drivers]default_driver', _NAME_ONE)
    text = f'It is provided by {listed}'
    if default not in providers:
        text += ', and none of them is the default'
        if catalog.policy.mode is model.Mode.HIBISCUS:
            return findings.Draft(
                'clash-by-name', subject,
                f'{text}. With [k8s_discovery]mode = hibiscus the filter '
                f'gives {providers[0]}, the first by name, to templates that '
                'name no driver, which only its log shows'
                + (f'; an unmodified Magnum gives them {fallback}'
                   if fallback not in (None, providers[0]) else ''),
                _NAME_ONE)
    if fallback is not None:
        text += (f'. An unmodified Magnum gives {fallback} to templates that '
                 'name no driver, without notice; the filter refuses them')
    return findings.Draft('clash', subject, text, _NAME_ONE)


def _beta(catalog: model.Catalog) -> _Drafts:
    for name, state in catalog.states.items():
        if state is model.State.BETA:
            yield findings.Draft(
                'beta', f'driver {_plain(name)}',
                'It is a beta driver that is not enabled. An unmodified '
                'Magnum uses it nevertheless when a request names it',
                'Add it to [drivers]enabled_beta_drivers, or to '
                '[drivers]disabled_drivers')


def _templates(catalog: model.Catalog) -> _Drafts:
    if not unmodified.keeps_choice(catalog):
        yield findings.Draft(
            'driver-not-stored', f'Magnum {catalog.magnum}',
            "Whatever a template asks for, it gets the image's magnum_driver, "
            'or none. Clusters of a template with none go to the driver that '
            'was loaded last for their type, which may change when another '
            'driver is installed. [drivers]default_driver is ignored',
            'Put the filter into the pipeline, or set magnum_driver on every '
            'image that is for Magnum')


def _default(catalog: model.Catalog) -> _Drafts:
    default = catalog.policy.default_driver
    if not default:
        return
    state = catalog.states.get(default)
    code, what, consequence = {
        None: ('default-unknown', 'is not installed', 'refuses'),
        model.State.DISABLED: (
            'default-disabled', 'is in [drivers]disabled_drivers', 'refuses'),
        model.State.BROKEN: (
            'default-broken', 'cannot be loaded', 'fails for'),
        model.State.BETA: (
            'default-beta', 'is a beta driver that is not enabled',
            'uses it for'),
        model.State.USABLE: (None, None, None),
    }[state]
    if code:
        yield findings.Draft(
            code, 'option default_driver',
            f'{model.shown(default)} {what}. An unmodified Magnum '
            f'{consequence} every template that names no driver; the filter '
            'never chooses it'
            + (_similar(default, catalog) if state is None else ''),
            'Name a driver that is installed and enabled')


def _options(catalog: model.Catalog) -> _Drafts:
    for option in ('disabled_drivers', 'enabled_beta_drivers'):
        for name in sorted(getattr(catalog.policy, option)):
            if name not in catalog.by_name:
                yield findings.Draft(
                    'unknown-in-option', f'option {option}',
                    f'It names {model.shown(name)}, which is not installed'
                    + _similar(name, catalog),
                    'Correct the name, or remove it')


def _similar(name: str, catalog: model.Catalog) -> str:
    close = difflib.get_close_matches(name, catalog.by_name, 1)
    return f'. Is {_plain(close[0])} meant?' if close else ''


def _unreachable(catalog: model.Catalog,
                 named: collections.abc.Set[str | None] | None,
                 filtered: bool) -> _Drafts:
    reached = {*(named or ())}
    if filtered or unmodified.keeps_choice(catalog):
        reached.add(catalog.policy.default_driver)
    if not filtered:
        magnum = unmodified.without_broken(catalog)
        reached.update(unmodified.unnamed(magnum, t).driver
                       for t in _usable_types(catalog))
    for offer in catalog.offers:
        if (catalog.states[offer.name] is not model.State.USABLE
                or offer.name in reached
                or any(len(catalog.providers(t)) == 1 for t in offer.types)):
            continue
        why = ('Other drivers provide everything that it provides, and it is '
               'not the default')
        if named is None:
            yield findings.Draft(
                'unreachable-unless-named', f'driver {_plain(offer.name)}',
                f'{why}. Only images and templates that name it can use it; '
                'no cloud was checked', 'Check a cloud with --os-cloud')
        else:
            yield findings.Draft(
                'unreachable', f'driver {_plain(offer.name)}',
                f'{why}; no image and no template in the cloud names it',
                'Name it in an image or a template, or uninstall it')


def _naming(catalog: model.Catalog) -> _Drafts:
    for offer in catalog.offers:
        for os in sorted({cluster_type.os for cluster_type in offer.types}):
            prefix, colon, _ = os.partition(':')
            if os in catalog.by_name and os != offer.name:
                yield findings.Draft(
                    'os-names-other-driver', f'driver {_plain(offer.name)}',
                    f'It provides the operating system {model.shown(os)}, '
                    'which is the name of another driver',
                    'Use its own name, so that names cannot clash')
            elif colon and prefix != offer.name:
                yield findings.Draft(
                    'os-prefix-not-own-name', f'driver {_plain(offer.name)}',
                    f'It provides the operating system {model.shown(os)}, '
                    'whose part before the colon is not its own name',
                    f"Call it '{_plain(offer.name)}:...'")


def _plain(name: str) -> str:
    return model.listed([name])
