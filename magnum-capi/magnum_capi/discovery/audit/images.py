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

#: The default of templates.
_USUAL = frozenset({('vm', 'kubernetes')})

#: magnum-capi-helm 1.4 gives its chart the image's os_distro.
_READER = 'a driver that reads os_distro itself, like magnum-capi-helm 1.4'

_Drafts = collections.abc.Iterator[findings.Draft]


def audit(catalog: model.Catalog, images: tuple[seen.Image, ...]) -> _Drafts:
    """Findings about images."""
    plain: dict[str, list[seen.Image]] = collections.defaultdict(list)
    for image in images:
        if image.says.magnum_distro or image.says.magnum_driver:
            yield from _distro(image, catalog)
            yield from _refused(image, catalog)
        elif image.says.os_distro:
            plain[image.says.os_distro].append(image)
    for distro, group in plain.items():
        yield from _grouped(distro, group, catalog)


def _decisions(says: model.ImageProperties,
               catalog: model.Catalog) -> list[model.Decision]:
    """For all that drivers provide for an operating system."""
    distro = says.magnum_distro or says.os_distro
    pairs = {(t.server_type, t.coe) for offer in catalog.offers
             for t in offer.types if t.os == distro and catalog.providers(t)}
    return [resolve.resolve(model.Request(says, server_type, coe), catalog)
            for server_type, coe in sorted(pairs or _USUAL)]


def _distro(image: seen.Image, catalog: model.Catalog) -> _Drafts:
    says = image.says
    # Without the name of a driver before it, which is optional.
    system = (says.magnum_distro or '').rpartition(':')[2]
    if says.magnum_distro and not image.os_distro:
        yield findings.Draft(
            'image-no-os-distro', str(image),
            'It has magnum_distro but no os_distro: every Magnum refuses '
            'its templates, with or without the filter',
            f'Set os_distro too: to {model.shown(system)} for {_READER}; '
            'otherwise to any name of the operating system')
    elif (says.magnum_distro and says.os_distro != system
            and system not in catalog.by_name):
        yield findings.Draft(
            'image-other-os-distro', str(image),
            f'Its operating system is {model.shown(system)} by '
            f'magnum_distro, but {model.shown(image.os_distro)} for '
            f'{_READER}: its chart gets the latter',
            'Set os_distro to the former, unless the driver of its templates '
            'does not read it')


def _refused(image: seen.Image, catalog: model.Catalog) -> _Drafts:
    decisions = _decisions(image.says, catalog)
    served = any(decision.driver for decision in decisions)
    for decision in decisions:
        refusal = decision.refusal
        # A driver for virtual machines need not provide bare metal too.
        if refusal and not (served and refusal.kind is model.Kind.MISMATCH):
            yield findings.refused('image', str(image), refusal)


def _grouped(distro: str, images: list[seen.Image],
             catalog: model.Catalog) -> _Drafts:
    decisions = _decisions(images[0].says, catalog)
    subject = f'images with os_distro {model.shown(distro)}'
    count = '1 image' if len(images) == 1 else f'{len(images)} images'
    for decision in decisions:
        refusal = decision.refusal
        if refusal and refusal.kind is model.Kind.AMBIGUOUS:
            yield findings.refused('images', subject, refusal._replace(
                text=f'{refusal.text}; {count} without magnum_driver cannot '
                     'say which'))
    if any(decision.cluster_type and catalog.providers(decision.cluster_type)
           for decision in decisions):
        yield findings.Draft(
            'images-deprecated', subject,
            f'{count} with no magnum_distro: Magnum uses os_distro '
            'instead, which is deprecated',
            'Set magnum_distro on those that are meant for Magnum')
