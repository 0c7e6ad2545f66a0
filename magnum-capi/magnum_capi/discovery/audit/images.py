# SPDX-License-Identifier: Apache-2.0
"""Findings about Glance images.

A normal cloud has hundreds of images that are not meant for Magnum, and most
of them have an os_distro. Only an image with one of Magnum's own properties
has findings of its own; the others are grouped by os_distro.
"""

import collections
import collections.abc

from magnum_capi.discovery.audit import findings
from magnum_capi.discovery.audit import seen
from magnum_capi.discovery import model
from magnum_capi.discovery import resolve

#: Groups that one finding lists.
_LISTED = 24
#: The default of templates.
_USUAL = frozenset({('vm', 'kubernetes')})

#: magnum-capi-helm 1.4 gives its chart the image's os_distro.
_READER = 'a driver that reads os_distro itself, like magnum-capi-helm 1.4'

_Drafts = collections.abc.Iterator[findings.Draft]

_CODES = {
    model.Kind.NO_DISTRO: 'image-no-distro',
    model.Kind.UNKNOWN: 'image-names-unknown',
    model.Kind.DISABLED: 'image-names-disabled',
    model.Kind.BETA: 'image-names-beta',
    model.Kind.BROKEN: 'image-names-broken',
    model.Kind.MISMATCH: 'image-names-mismatch',
    model.Kind.AMBIGUOUS: 'image-ambiguous',
    model.Kind.NOT_SUPPORTED: 'image-not-supported',
}


def audit(catalog: model.Catalog, images: tuple[seen.Image, ...]) -> _Drafts:
    """Findings about images."""
    plain: dict[str, list[seen.Image]] = collections.defaultdict(list)
    for image in images:
        if image.says.magnum_distro or image.says.magnum_driver:
            yield from _meant(image, catalog)
        elif image.says.os_distro:
            plain[image.says.os_distro].append(image)
    yield from _grouped(plain, catalog)


def _pairs(distro: str | None,
           catalog: model.Catalog) -> list[tuple[str, str]]:
    """(server_type, coe) that drivers provide for an operating system."""
    return sorted({(t.server_type, t.coe) for offer in catalog.offers
                   for t in offer.types
                   if t.os == distro and catalog.providers(t)} or _USUAL)


def _meant(image: seen.Image, catalog: model.Catalog) -> _Drafts:
    subject, says = str(image), image.says
    distro = says.magnum_distro or says.os_distro
    if says.magnum_distro and not image.os_distro:
        yield findings.Draft(
            'image-no-os-distro', subject,
            'It has magnum_distro but no os_distro: every Magnum refuses '
            'its templates, with or without the filter',
            f'Set os_distro too: to {model.shown(_system(says))} for '
            f'{_READER}; otherwise to any name of the operating system')
    elif (says.magnum_distro and says.os_distro != _system(says)
            and _system(says) not in catalog.by_name):
        yield findings.Draft(
            'image-other-os-distro', subject,
            f'Its operating system is {model.shown(_system(says))} by '
            f'magnum_distro, but {model.shown(image.os_distro)} for '
            f'{_READER}: its chart gets the latter',
            'Set os_distro to the former, unless the driver of its templates '
            'does not read it')
    decisions = [
        resolve.resolve(model.Request(says, server_type, coe), catalog)
        for server_type, coe in _pairs(distro, catalog)]
    served = any(decision.driver for decision in decisions)
    for decision in decisions:
        refusal = decision.refusal
        # A driver for virtual machines need not provide bare metal too.
        if refusal and not (served and refusal.kind is model.Kind.MISMATCH):
            yield findings.Draft(_CODES[refusal.kind], subject, refusal.text,
                                 findings.cure(refusal))
    yield from _naming(image, catalog)


def _system(says: model.ImageProperties) -> str:
    """magnum_distro without the optional driver's name before it."""
    return (says.magnum_distro or '').rpartition(':')[2]


def _naming(image: seen.Image, catalog: model.Catalog) -> _Drafts:
    for value in dict.fromkeys((image.says.magnum_distro,
                                image.says.os_distro)):
        name = (value or '').partition(':')[0]
        offer = catalog.by_name.get(name)
        if (offer is not None
                and catalog.states[name] is model.State.USABLE
                and not any(t.os == value for t in offer.types)):
            yield findings.Draft(
                'image-distro-of-no-driver', str(image),
                f'It says {model.shown(value)}, which names the driver '
                f'{name}, but that driver provides no such operating system',
                'Put the name of the driver into magnum_driver, and an '
                'operating system that it provides into magnum_distro')


def _grouped(plain: dict[str, list[seen.Image]],
             catalog: model.Catalog) -> _Drafts:
    unserved: dict[str, int] = {}
    for distro, images in plain.items():
        subject = f'images with os_distro {model.shown(distro)}'
        count = _count(len(images))
        served = False
        for server_type, coe in _pairs(distro, catalog):
            decision = resolve.resolve(
                model.Request(images[0].says, server_type, coe), catalog)
            if (decision.refusal
                    and decision.refusal.kind is model.Kind.AMBIGUOUS):
                yield findings.Draft(
                    'images-ambiguous', subject,
                    f'{decision.refusal.text}; {count} without magnum_driver '
                    'cannot say which', findings.cure(decision.refusal))
            served = served or bool(catalog.providers(
                model.ClusterType(server_type, distro, coe)))
        if served:
            yield findings.Draft(
                'images-deprecated', subject,
                f'{count} with no magnum_distro: Magnum uses os_distro '
                'instead, which is deprecated',
                'Set magnum_distro on those that are meant for Magnum')
        else:
            unserved[distro] = len(images)
    if unserved:
        yield findings.Draft(
            'images-unserved', 'images',
            f'{_count(sum(unserved.values()))} with an os_distro that no '
            f'usable driver provides: {_counted(unserved)}. They are probably '
            'not meant for Magnum', 'None needed')


def _count(number: int) -> str:
    return '1 image' if number == 1 else f'{number} images'


def _counted(counts: dict[str, int]) -> str:
    listed = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = len(listed) - _LISTED
    return ', '.join(
        f'{model.shown(value)} ({count})'
        for value, count in listed[:_LISTED]) + (
            f' and {more} more' if more > 0 else '')
