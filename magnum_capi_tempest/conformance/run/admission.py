# SPDX-License-Identifier: Apache-2.0

"""Would the API server admit the objects that a run creates? Pure.

:mod:`.dry_run` asks it, and lists what else judges pods. Tests create
namespaces with their own Pod Security labels. If their pods are rejected,
tests fail hours later, with an explanation in the middle of a log.
"""

import dataclasses
import typing

from magnum_capi_tempest.conformance.run import preflight

ENFORCE = 'pod-security.kubernetes.io/enforce'

#: Labels of a namespace that tests create (test/e2e/framework/framework.go and
#: util.go), with values where they matter.
TESTS = {'e2e-framework': 'x', 'e2e-run': 'x', ENFORCE: 'privileged',
         'kubernetes.io/metadata.name': 'x-1234'}

#: Most guards that are named.
_MOST = 5


@dataclasses.dataclass(frozen=True)
class Refusal:
    """The API server's answer to a dry run.

    :param what: object that it refuses to create.
    :param status: HTTP code.
    """

    what: str
    status: int
    message: str


@dataclasses.dataclass(frozen=True)
class Guard:
    """A webhook or policy that can refuse pods.

    :param rules: of Kubernetes: groups, resources, operations.
    :param selector: label selector of the namespaces that it applies to.
    """

    name: str
    rules: tuple[typing.Any, ...] = ()
    selector: typing.Any = None


@dataclasses.dataclass(frozen=True)
class Answers:
    """What is known about admission.

    :param level: Pod Security level that the run's namespace would have; None
        if unknown, empty for none.
    :param wanted: the level that the run requests.
    """

    refusals: tuple[Refusal, ...] = ()
    level: str | None = None
    wanted: str = ''
    guards: tuple[Guard, ...] = ()


def check(seen: Answers, namespace: str):
    """Yield what would be refused.

    :param namespace: name of the run's namespace.
    """
    for one in seen.refusals:
        if 'dry run' in one.message.lower().replace('dryrun', 'dry run') \
                and one.status == 400:
            yield preflight.Finding(
                preflight.WARNING, f'it is unknown whether the {one.what} '
                f'would be admitted: {one.message}',
                'A webhook of the cluster cannot be called in a dry run')
            continue
        yield preflight.Finding(
            preflight.BLOCKER, f'the API server refuses the {one.what}: '
            f'{one.message}', _way_out(one, namespace))
    if seen.wanted and seen.level is not None and seen.level != seen.wanted:
        yield preflight.Finding(
            preflight.BLOCKER, f'something changes the Pod Security label of '
            f'the namespace {namespace}: {ENFORCE} would be '
            f'{seen.level or "missing"} instead of {seen.wanted}',
            'Exempt this namespace from it; the pods of the run need that '
            'level')
    names = sorted({guard.name for guard in seen.guards
                    if _judges_pods(guard) and selects(guard.selector, TESTS)})
    if names:
        yield preflight.Finding(
            preflight.WARNING, 'the pods of tests are judged by '
            + ', '.join(names[:_MOST])
            + (f' and {len(names) - _MOST} more' if len(names) > _MOST
               else ''),
            'What they reject makes tests fail; exempt the namespace of the '
            'run and namespaces with the label e2e-run')


def _way_out(refusal, namespace):
    text = refusal.message.lower()
    if 'failed calling' in text:
        return 'Repair the webhook, or exempt the namespaces of a run from it'
    if 'webhook' in text or 'policy' in text or 'policies' in text:
        return (f'Exempt the namespace {namespace} and namespaces with the '
                'label e2e-run from it')
    if 'quota' in text:
        return 'Raise the quota'
    return 'A run needs the permissions of a cluster administrator'


def _judges_pods(guard):
    return any('CREATE' in _or_all(rule, 'operations')
               and '' in _or_all(rule, 'apiGroups')
               and 'pods' in _or_all(rule, 'resources')
               for rule in guard.rules if isinstance(rule, dict))


class _All:
    def __contains__(self, item):
        return True


def _or_all(rule, key):
    values = rule.get(key) or ()
    return _All() if {'*', '*/*'} & set(values) else values


def selects(selector, labels: dict[str, str]) -> bool:
    """Whether a label selector of Kubernetes matches these labels."""
    if not isinstance(selector, dict):
        return True
    wanted = selector.get('matchLabels') or {}
    return all(labels.get(key) == value for key, value in wanted.items()) \
        and all(_holds(one, labels)
                for one in selector.get('matchExpressions') or ())


def _holds(expression, labels):
    there = labels.get(expression.get('key'))
    values = expression.get('values') or ()
    return {'In': there in values, 'NotIn': there not in values,
            'Exists': there is not None, 'DoesNotExist': there is None}.get(
                expression.get('operator'), True)
