# SPDX-License-Identifier: Apache-2.0
"""Explains which driver serves an image, a template or a cluster; pure."""

import collections.abc
import dataclasses
import typing

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import stored
from magnum_capi.discovery import unmodified


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What is decided, and why.

    :param subject: ``image x (id)``, or what was given instead of one.
    :param cluster_type: None when the operating system is unknown.
    :param driver: None: there is none.
    :param reasons: sentences, in the order of the rules.
    :param refusal: why there is no driver; None: there is one.
    :param remedy: what to do, sentences; None: nothing, or the refusal says
        it.
    :param candidates: drivers to choose from, if a new template is refused.
    """

    subject: str
    cluster_type: model.ClusterType | None
    driver: str | None
    reasons: tuple[str, ...]
    refusal: str | None = None
    remedy: str | None = None
    candidates: tuple[str, ...] = ()


def image(subject: str, properties: collections.abc.Mapping[str, typing.Any],
          request: model.Request, catalog: model.Catalog) -> Explanation:
    """Decide for a new template.

    :param properties: of the image, unstripped; those of ``request`` are
        the same, stripped.
    """
    decision = resolve.resolve(request, catalog)
    refusal = decision.refusal
    remedy = [f'{refusal.hint.rstrip(".")}.'] if refusal else []
    if not properties.get('os_distro') and decision.cluster_type:
        remedy.append('Every Magnum refuses the template until os_distro of '
                      'the image is set, even if magnum_distro is.')
    return Explanation(
        subject, decision.cluster_type, decision.driver,
        tuple(_reasons(decision)), refusal and f'{refusal.text}.',
        ' '.join(remedy) or None, refusal.candidates if refusal else ())


def template(found: stored.Template, catalog: model.Catalog) -> Explanation:
    """Whether new clusters of a stored template are accepted, and by whom."""
    return _judged(
        _subject('template', found), found, [_named(found)],
        stored.check_create(found, catalog))


def cluster(found: stored.Template, its_template: stored.Template,
            catalog: model.Catalog) -> Explanation:
    """The driver of an existing cluster; a refusal: it has none."""
    answer = stored.unmodified_driver(
        its_template, unmodified.without_broken(catalog))
    driver = answer.driver
    reasons = [f'It has the {_subject("template", its_template)}. '
               f'{_named(its_template)}']
    state = catalog.states.get(driver) if driver else None
    if state not in (None, model.State.USABLE):
        reasons.append(
            f'The driver {model.listed([driver])} is {state.value}: it '
            'serves existing clusters, but new ones are refused.')
    return _judged(
        _subject('cluster', found), its_template, reasons, stored.Verdict(
            driver, None if answer.accepted else
            f'{answer.text}. Nothing can be done with the cluster, not even '
            'delete it, until that is repaired.'))


def upgrade(found: stored.Template, current: stored.Template,
            new: stored.Template, catalog: model.Catalog) -> Explanation:
    """Whether a cluster may be upgraded to a template."""
    return _judged(
        f'upgrade of {_subject("cluster", found)} to '
        f'{_subject("template", new)}', new,
        [f'Current template: {_named(current)}',
         f'New template: {_named(new)}'],
        stored.check_upgrade(current, new, catalog))


def _judged(subject: str, its_template: stored.Template, about: list[str],
            verdict: stored.Verdict) -> Explanation:
    # The template is described already.
    reasons = [
        reason for decision in verdict.decisions
        for reason in _reasons(decision, model.Step.TEMPLATE)]
    return Explanation(subject, stored.cluster_type(its_template),
                       verdict.driver, (*about, *reasons), verdict.refusal,
                       verdict.remedy)


def _reasons(decision: model.Decision, without: model.Step | None = None,
             ) -> collections.abc.Iterator[str]:
    for step, text in decision.reasons:
        if step is not without:
            # A sentence should not begin with the name of a property.
            text = f'the {text}' if text.startswith('magnum_') else text
            yield f'{text[:1].upper()}{text[1:]}.'


def _named(found: stored.Template) -> str:
    name = stored.named(found)
    return (f"Its field 'driver' is {model.shown(name)}"
            if name else 'It names no driver') + (
        f', its type {stored.cluster_type(found)}.')


def _subject(kind: str, found: stored.Template) -> str:
    return model.subject(kind, found.get('name'), found['uuid'])
