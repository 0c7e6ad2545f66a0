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
    """What is decided, why, and what a Magnum without the filter does.

    :param subject: ``image x (id)``, or what was given instead of one.
    :param release: major version of the Magnum to compare with.
    :param magnum: what is stored, or why Magnum refuses.
    :param cluster: the driver that is asked when a cluster of the template is
        created, or why Magnum refuses; None when there is no driver.
    :param no_os_distro: the image has none, which no filter can cure.
    :param poisoned_by: broken drivers; ``magnum`` and ``cluster`` assume that
        they are disabled.
    """

    subject: str
    decision: model.Decision
    release: int
    magnum: unmodified.Answer
    cluster: unmodified.Answer | None
    no_os_distro: bool
    poisoned_by: tuple[str, ...]

    @property
    def found(self) -> bool:
        return self.decision.driver is not None

    @property
    def same(self) -> bool:
        """Whether an unmodified Magnum would store exactly this."""
        return (self.found and self.magnum.accepted
                and self.magnum.driver == self.decision.driver
                and self.magnum.distro == self.decision.os)

    def lines(self) -> list[str]:
        """The story: sentences, one a line."""
        return [*self._about(), *self._outcome(), *self._magnum(),
                *self._cluster()]

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
            'refusal': refusal and {
                'kind': refusal.kind.value, 'text': refusal.text,
                'hint': refusal.hint, 'candidates': [*refusal.candidates]},
            'unmodified_magnum': {
                'release': self.release,
                'same': self.same,
                'no_os_distro': self.no_os_distro,
                'template': _answer(self.magnum),
                'cluster': self.cluster and _answer(self.cluster),
                'poisoned_by': [*self.poisoned_by]},
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

    def _magnum(self) -> collections.abc.Iterator[str]:
        if self.poisoned_by:
            yield ('At present Magnum fails, with or without the filter: '
                   f'{model.listed(self.poisoned_by)} cannot be loaded. '
                   'When that is disabled:')
        magnum = f'A Magnum {self.release} without the filter'
        if self.same:
            yield f'{magnum} does the same.'
        elif not self.magnum.accepted:
            yield f'{magnum} refuses the template: {self.magnum.text}.'
            if self.no_os_distro:
                yield ('So does a Magnum with the filter, until os_distro of '
                       'the image is set, whatever magnum_distro is.')
        elif self.magnum.driver:
            yield (f'{magnum} accepts the template and stores the driver '
                   f'{_plain(self.magnum.driver)} with cluster_distro '
                   f'{model.shown(self.magnum.distro)}.')
        else:
            yield (f'{magnum} accepts the template and stores no driver, with '
                   f'cluster_distro {model.shown(self.magnum.distro)}: '
                   + (f'its clusters go to {_plain(self.magnum.maker)}, '
                      'until a driver that Magnum loads later provides their '
                      'type.' if self.magnum.maker else
                      'its clusters are refused.'))

    def _cluster(self) -> collections.abc.Iterator[str]:
        if not self.cluster:
            return
        if not self.cluster.accepted:
            yield ('But Magnum refuses clusters of it, with or without the '
                   f'filter: {self.cluster.text}.')
        elif self.cluster.driver != self.decision.driver:
            yield ('When a cluster of it is created, Magnum asks '
                   f'{_plain(self.cluster.driver)} whether its size is '
                   'valid, with or without the filter.')


def tell(subject: str, properties: collections.abc.Mapping[str, typing.Any],
         request: model.Request, catalog: model.Catalog) -> Story:
    """Decide, and ask what an unmodified Magnum would do.

    :param properties: of the image, unstripped; those of ``request`` are
        the same, stripped.
    """
    decision = resolve.resolve(request, catalog)
    magnum = unmodified.without_broken(catalog)
    return Story(
        subject, decision, catalog.magnum,
        unmodified.create_template(magnum, properties, request.server_type,
                                   request.coe, request.driver),
        unmodified.create_cluster(magnum, decision.cluster_type)
        if decision.driver and decision.cluster_type else None,
        not properties.get('os_distro'), unmodified.poisoned_by(catalog))


def _answer(answer: unmodified.Answer) -> dict[str, typing.Any]:
    return {'accepted': answer.accepted, 'driver': answer.driver,
            'cluster_distro': answer.distro, 'text': answer.text,
            'maker': answer.maker}


def _plain(name: str | None) -> str:
    return model.listed([name])


@dataclasses.dataclass(frozen=True)
class StoredStory:
    """The driver of what is stored in Magnum, or why it is refused.

    :param subject: ``template x (uuid)``, for example.
    :param about: sentences: what is stored, and the question.
    :param magnum: sentence: what a Magnum without the filter does.
    """

    subject: str
    about: tuple[str, ...]
    verdict: stored.Verdict
    magnum: str

    @property
    def found(self) -> bool:
        return self.verdict.refusal is None

    def lines(self) -> list[str]:
        """The story: sentences, one a line."""
        return [
            f'This is about {self.subject}.', *self.about,
            f'So the driver is {_plain(self.verdict.driver)}.' if self.found
            else f'So it is refused: {self.verdict.refusal}', self.magnum]

    def data(self) -> dict[str, typing.Any]:
        """The story for programs: dicts, lists, str and None."""
        return {
            'subject': self.subject, 'about': [*self.about],
            'driver': self.verdict.driver, 'refusal': self.verdict.refusal,
            'reasons': [{'step': reason.step.value, 'text': reason.text}
                        for decision in self.verdict.decisions
                        for reason in decision.reasons],
            'unmodified_magnum': self.magnum}


def tell_template(template: stored.Template,
                  catalog: model.Catalog) -> StoredStory:
    """Whether new clusters of a stored template are accepted, and by whom."""
    magnum = unmodified.without_broken(catalog)
    accepted = unmodified.create_cluster(magnum, stored.cluster_type(template))
    serving = stored.unmodified_driver(template, magnum)
    verdict = stored.check_create(template, catalog)
    return StoredStory(
        _subject('template', template),
        (_names(template), *_reasons(verdict)), verdict,
        'A Magnum without the filter ' + (
            f'refuses its new clusters: {accepted.text}.'
            if not accepted.accepted else
            f'gives its new clusters to {_plain(serving.driver)}.'
            if serving.accepted else
            f'accepts its new clusters, and they fail: {serving.text}.'))


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
            'delete it, until that is repaired.'),
        'A Magnum without the filter does the same.')


def tell_upgrade(cluster: stored.Template, current: stored.Template,
                 new: stored.Template, catalog: model.Catalog) -> StoredStory:
    """Whether a cluster may be upgraded to a template."""
    verdict = stored.check_upgrade(current, new, catalog)
    taken = stored.unmodified_driver(new, unmodified.without_broken(catalog))
    return StoredStory(
        f'an upgrade of {_subject("cluster", cluster)} to '
        f'{_subject("template", new)}',
        (f'Current template: {_names(current)}',
         f'New template: {_names(new)}', *_reasons(verdict)), verdict,
        'A Magnum without the filter accepts it, and ' + (
            f'gives the cluster to {_plain(taken.driver)}.'
            if taken.accepted else f'fails: {taken.text}.'))


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
