# SPDX-License-Identifier: Apache-2.0
"""Explains the decision about an image, template or cluster; pure.

The explanation is available as sentences and as data.
"""

import collections.abc
import dataclasses
import typing

from magnum_capi.discovery import model
from magnum_capi.discovery import resolve
from magnum_capi.discovery import stored
from magnum_capi.discovery import unmodified


@dataclasses.dataclass(frozen=True)
class Story:
    """What is decided, and why.

    :param subject: ``image x (id)``, or what was given instead of one.
    :param no_os_distro: the image has none, which no filter can cure.
    """

    subject: str
    decision: model.Decision
    no_os_distro: bool

    @property
    def found(self) -> bool:
        return self.decision.driver is not None

    def lines(self) -> list[str]:
        """The story: sentences, one a line."""
        return [*self._about(), *self._outcome()]

    def data(self) -> dict[str, typing.Any]:
        """The story for programs: dicts, lists, str, bool and None."""
        decision, refusal = self.decision, self.decision.refusal
        return {
            'subject': self.subject,
            'cluster_type': decision.cluster_type
            and decision.cluster_type._asdict(),
            'driver': decision.driver,
            'reasons': [{'step': reason.step.value, 'text': reason.text}
                        for reason in decision.reasons],
            'deprecated': decision.deprecated,
            'no_os_distro': self.no_os_distro,
            'refusal': refusal and {
                'kind': refusal.kind.value, 'text': refusal.text,
                'hint': refusal.hint, 'candidates': [*refusal.candidates]},
        }

    def _about(self) -> collections.abc.Iterator[str]:
        yield f'This is about {self.subject}.'
        for reason in self.decision.reasons:
            # A sentence should not begin with the name of a property.
            text = ('the ' if reason.text.startswith('magnum_') else ''
                    ) + reason.text
            yield f'{text[:1].upper()}{text[1:]}.'

    def _outcome(self) -> collections.abc.Iterator[str]:
        decision, refusal = self.decision, self.decision.refusal
        if refusal is None:
            yield (f'So the driver is {_plain(decision.driver)}, for '
                   f'{decision.cluster_type}.')
        else:
            yield f'So there is no driver. {refusal.text}.'
            yield f'What to do: {refusal.hint.rstrip(".")}.'
        if self.no_os_distro:
            yield ('Every Magnum refuses the template until os_distro of the '
                   'image is set, whatever magnum_distro is.')


def tell(subject: str, properties: collections.abc.Mapping[str, typing.Any],
         request: model.Request, catalog: model.Catalog) -> Story:
    """Decide.

    :param properties: of the image, unstripped; those of ``request`` are
        the same, stripped.
    """
    return Story(subject, resolve.resolve(request, catalog),
                 not properties.get('os_distro'))


def _plain(name: str | None) -> str:
    return model.listed([name])


@dataclasses.dataclass(frozen=True)
class StoredStory:
    """The driver of what is stored in Magnum, or why it is refused.

    :param subject: ``template x (uuid)``, for example.
    :param about: sentences: what is stored, and the question.
    """

    subject: str
    about: tuple[str, ...]
    verdict: stored.Verdict

    @property
    def found(self) -> bool:
        return self.verdict.refusal is None

    def lines(self) -> list[str]:
        """The story: sentences, one a line."""
        return [
            f'This is about {self.subject}.', *self.about,
            f'So the driver is {_plain(self.verdict.driver)}.' if self.found
            else f'So it is refused: {self.verdict.refusal}']

    def data(self) -> dict[str, typing.Any]:
        """The story for programs: dicts, lists, str and None."""
        return {
            'subject': self.subject, 'about': [*self.about],
            'driver': self.verdict.driver, 'refusal': self.verdict.refusal,
            'reasons': [{'step': reason.step.value, 'text': reason.text}
                        for decision in self.verdict.decisions
                        for reason in decision.reasons]}


def tell_template(template: stored.Template,
                  catalog: model.Catalog) -> StoredStory:
    """Whether new clusters of a stored template are accepted, and by whom."""
    verdict = stored.check_create(template, catalog)
    return StoredStory(
        _subject('template', template),
        (_names(template), *_reasons(verdict)), verdict)


def tell_cluster(cluster: stored.Template, template: stored.Template,
                 catalog: model.Catalog) -> StoredStory:
    """The driver of an existing cluster; a refusal: it has none."""
    answer = stored.unmodified_driver(
        template, unmodified.without_broken(catalog))
    driver = answer.driver
    about = [f'It is of the {_subject("template", template)}. '
             f'{_names(template)}']
    state = catalog.states.get(driver) if driver else None
    if state not in (None, model.State.USABLE):
        about.append(
            f'The driver {_plain(driver)} is {state.value if state else ""}:'
            ' it serves existing clusters, but new ones are refused.')
    return StoredStory(
        _subject('cluster', cluster), tuple(about), stored.Verdict(
            driver, None if answer.accepted else
            f'{answer.text}. Nothing can be done with the cluster, not even '
            'delete it, until that is repaired.'))


def tell_upgrade(cluster: stored.Template, current: stored.Template,
                 new: stored.Template, catalog: model.Catalog) -> StoredStory:
    """Whether a cluster may be upgraded to a template."""
    verdict = stored.check_upgrade(current, new, catalog)
    return StoredStory(
        f'an upgrade of {_subject("cluster", cluster)} to '
        f'{_subject("template", new)}',
        (f'Current template: {_names(current)}',
         f'New template: {_names(new)}', *_reasons(verdict)), verdict)


def _names(template: stored.Template) -> str:
    name = stored.named(template)
    return (f"Its field 'driver' is {model.shown(name)}"
            if name else 'It names no driver') + (
        f', its type {stored.cluster_type(template)}.')


def _reasons(verdict: stored.Verdict) -> collections.abc.Iterator[str]:
    for decision in verdict.decisions:
        for reason in decision.reasons:
            # The template was described before.
            if reason.step is not model.Step.TEMPLATE:
                yield f'{reason.text[:1].upper()}{reason.text[1:]}.'


def _subject(kind: str, found: stored.Template) -> str:
    return model.subject(kind, found.get('name'), found['uuid'])
