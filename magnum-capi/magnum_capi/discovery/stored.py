# SPDX-License-Identifier: Apache-2.0
"""Which driver serves a stored template and its clusters; pure.

A template is a mapping with ``uuid``, ``driver``, ``server_type``,
``cluster_distro`` and ``coe``, as Magnum shows it.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import unmodified

_REMEDY = ('Use a template that names a driver. This one can be given one '
           '(update its field driver) as long as no cluster uses it.')

Template = collections.abc.Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """The driver of a cluster, or why it is refused.

    :param refusal: sentences for the user.
    :param remedy: what the user can do then, sentences.
    :param decisions: that led to this.
    """

    driver: str | None = None
    refusal: str | None = None
    remedy: str | None = None
    decisions: tuple[model.Decision, ...] = ()

    def after(self, other: 'Verdict') -> 'Verdict':
        """This verdict, with the decisions of another before its own."""
        return dataclasses.replace(
            self, decisions=other.decisions + self.decisions)


def cluster_type(template: Template) -> model.ClusterType:
    """The type of a template; Magnum's nulls stay in it as None."""
    fields: typing.Any = (template.get(name) for name in (
        'server_type', 'cluster_distro', 'coe'))
    return model.ClusterType(*fields)


def named(template: Template) -> str | None:
    """The driver that a template names, None if it is blank."""
    name = template.get('driver')
    return name if isinstance(name, str) and name.strip() else None


def decided(template: Template, catalog: model.Catalog) -> model.Decision:
    """Decide for a template without its image."""
    return resolve.resolve_stored(
        cluster_type(template), template.get('driver'), catalog)


def unmodified_driver(template: Template,
                      catalog: model.Catalog) -> unmodified.Answer:
    """The driver that Magnum gives the clusters of a template.

    It ignores the default: without a name, the provider that was loaded last
    wins.
    """
    return unmodified.get_driver(
        catalog, cluster_type(template), named(template))


def check_create(template: Template, catalog: model.Catalog) -> Verdict:
    """Check a creation: the one driver that the cluster may have."""
    decision = decided(template, catalog)
    if decision.refusal:
        # The hint about ambiguity only helps for a new template.
        hint = ('' if decision.refusal.kind is model.Kind.AMBIGUOUS
                else f'{decision.refusal.hint} ')
        return Verdict(
            refusal=f'{decision.refusal.text}, so the template '
                    f'{model.shown(template["uuid"])} cannot be used.',
            remedy=f'{hint}{_REMEDY}', decisions=(decision,))
    if not named(template):
        other = unmodified_driver(template, catalog).driver
        if other not in (None, decision.driver):
            return Verdict(
                refusal=f'The template {model.shown(template["uuid"])} names '
                        'no driver. It is for '
                        f'{model.shown(decision.driver)}, because '
                        f'{decision.reasons[-1].text}, but Magnum would take '
                        f'{model.shown(other)}, which was loaded last.',
                remedy=_REMEDY, decisions=(decision,))
    return Verdict(decision.driver, decisions=(decision,))


def serving(template: Template, catalog: model.Catalog) -> Verdict:
    """The driver that serves a template's clusters, enabled or not."""
    driver = named(template) or unmodified_driver(template, catalog).driver
    return Verdict(driver) if driver else check_create(template, catalog)


def check_upgrade(current: Template, new: Template,
                  catalog: model.Catalog) -> Verdict:
    """Check an upgrade: the cluster's driver, which must not change."""
    if new['uuid'] == current['uuid']:
        return Verdict(named(current))
    before = serving(current, catalog)
    if before.refusal:
        return before
    if named(new) == before.driver:
        decision = decided(new, catalog)
        refused = decision.refusal
        if refused and refused.kind is model.Kind.MISMATCH:
            after = Verdict(refusal=f'{refused.text}.', remedy=refused.hint,
                            decisions=(decision,))
        else:
            after = Verdict(before.driver, decisions=(decision,))
        return after.after(before)
    judge = check_create if named(new) else serving
    after = judge(new, catalog).after(before)
    if after.refusal or after.driver == before.driver:
        return after
    return dataclasses.replace(
        after, driver=None,
        refusal='The cluster is served by the driver '
                f'{model.shown(before.driver)}, the template is for '
                f'{model.shown(after.driver)}. A living cluster cannot be '
                'given to another driver.',
        remedy='Use a template with the driver of the cluster, or make a new '
               'cluster.')
