# SPDX-License-Identifier: Apache-2.0
"""Findings about installed drivers and the options of [drivers]."""

import collections.abc
import difflib

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import unmodified

_NAME_ONE = ("Set magnum_driver of the images, or 'driver' of the cluster "
             'templates; [drivers]default_driver decides the rest')

_Drafts = collections.abc.Iterator[findings.Draft]


def audit(catalog: model.Catalog) -> _Drafts:
    """Findings about drivers and options."""
    yield from _broken(catalog)
    yield from _said_once(_types(catalog))
    yield from _beta(catalog)
    yield from _default(catalog)
    yield from _options(catalog)
    yield from _naming(catalog)


def _broken(catalog: model.Catalog) -> _Drafts:
    fatal = unmodified.fatal_drivers(catalog)
    for offer in unmodified.enabled(catalog):
        subject = f'driver {_plain(offer.name)}'
        disable = f'add {_plain(offer.name)} to [drivers]disabled_drivers'
        if offer.name in fatal:
            yield findings.Draft(
                'broken', subject,
                f'It is installed ({_plain(offer.origin)}) but cannot be '
                f'loaded: {offer.error}. {unmodified.effect(offer)}',
                f'Repair or uninstall it, or {disable}')
        elif unmodified.is_duplicate(offer):
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


def _types(catalog: model.Catalog) -> _Drafts:
    magnum = unmodified.without_broken(catalog)
    winners = unmodified.type_map(magnum)
    for cluster_type in _usable_types(catalog):
        subject = str(cluster_type)
        winner = winners[cluster_type]
        others = model.listed(
            [p for p in catalog.providers(cluster_type) if p != winner])
        yield from _without_filter(catalog, magnum, subject, cluster_type)
        if catalog.states[winner] is not model.State.USABLE:
            yield findings.Draft(
                'beta-wins', subject,
                f'Magnum uses {winner} here, a beta driver that is not '
                'enabled, and therefore refuses all such clusters, even of '
                f'templates with {others}',
                f'Add {winner} to [drivers]disabled_drivers, or to '
                '[drivers]enabled_beta_drivers')
        elif others:
            yield findings.Draft(
                'shadowed', subject,
                f'Magnum asks {winner} whether such a new cluster has a valid '
                'number of control plane nodes, even if its template has the '
                f'driver {others}',
                f'Add {winner} to [drivers]disabled_drivers if it is not '
                'needed; otherwise make sure that both accept the same '
                'numbers')


def _said_once(drafts: _Drafts) -> _Drafts:
    """Drafts about types, with all the types that a text is true of."""
    types: dict[findings.Draft, list[str]] = {}
    for draft in drafts:
        types.setdefault(draft._replace(subject=''), []).append(draft.subject)
    for draft, subjects in types.items():
        yield draft._replace(subject='type' + 's' * (len(subjects) > 1) + ' '
                             + ', '.join(subjects))


def _usable_types(catalog: model.Catalog) -> list[model.ClusterType]:
    return sorted({cluster_type for offer in catalog.offers
                   for cluster_type in offer.types
                   if catalog.states[offer.name] is model.State.USABLE})


def _without_filter(catalog: model.Catalog, magnum: model.Catalog,
                    subject: str, cluster_type: model.ClusterType) -> _Drafts:
    """One line on a type, if several drivers or Magnum's choice are there."""
    providers = catalog.providers(cluster_type)
    decision = resolve.resolve_stored(cluster_type, None, catalog)
    earlier = unmodified.get_driver(magnum, cluster_type)
    newest = unmodified.default_driver(magnum)
    text = (f'Provided by {model.listed(providers)}. The filter '
            + ('refuses templates that name none of them'
               if decision.driver is None else
               f'gives {decision.driver} to templates that name none')
            + '. Without it, Magnum up to 22 ignores a driver in the request, '
            'and a template whose image names none '
            + _taken(earlier, 'the last that was loaded')
            + '; with Magnum 23, a template that names none '
            + _taken(newest, 'the default or else the first by name, even if '
                     'it does not provide the type'))
    if len(providers) > 1:
        code = ('clash' if decision.driver is None
                else 'clash-by-name' if decision.by_name
                else 'clash-with-default')
        yield findings.Draft(code, subject, text, _NAME_ONE)
    elif {earlier.driver, newest.driver} - {None, decision.driver}:
        yield findings.Draft(
            'without-filter', subject, text,
            f'Put the filter into the pipeline, or name {decision.driver} in '
            'every image or template')


def _taken(answer: unmodified.Answer, why: str) -> str:
    return (f'gets {answer.driver}, {why}' if answer.driver
            else 'is refused')


def _beta(catalog: model.Catalog) -> _Drafts:
    for name, state in catalog.states.items():
        if state is model.State.BETA:
            yield findings.Draft(
                'beta', f'driver {_plain(name)}',
                'It is a beta driver that is not enabled. A Magnum without '
                'the filter uses it nevertheless when a request names it',
                'Add it to [drivers]enabled_beta_drivers, or to '
                '[drivers]disabled_drivers')


def _default(catalog: model.Catalog) -> _Drafts:
    default = catalog.policy.default_driver
    state = catalog.states.get(default) if default else None
    if default and state is not model.State.USABLE:
        yield findings.Draft(
            'default-unusable', 'option default_driver',
            f'{model.shown(default)} is '
            f'{state.value if state else "not installed"}, so it is never '
            'chosen' + ('' if state else _similar(default, catalog)),
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


def _naming(catalog: model.Catalog) -> _Drafts:
    """Of ``os: <driver>`` and ``os: <driver>:<distro>``."""
    for offer in catalog.offers:
        for os in sorted({cluster_type.os for cluster_type in offer.types}):
            name = os.partition(':')[0]
            if name in catalog.by_name and name != offer.name:
                yield findings.Draft(
                    'os-names-other-driver', f'driver {_plain(offer.name)}',
                    f'It provides the operating system {model.shown(os)}, '
                    'which has the name of another driver',
                    'Use its own name, so that names cannot clash')


def _plain(name: str) -> str:
    return model.listed([name])
