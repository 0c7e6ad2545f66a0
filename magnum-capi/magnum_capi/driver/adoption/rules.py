# SPDX-License-Identifier: Apache-2.0

"""May a cluster be adopted or given back, and what changes then? Pure."""

import collections.abc
import dataclasses
import re
import typing

from magnum_capi.driver.desired import charts
from magnum_capi.driver.desired import credentials
from magnum_capi.driver.desired import desired_values
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver.desired import state as state_module

#: Entry point of the driver whose clusters are adopted.
FORMER = 'k8s_capi_helm_v1'

#: Longest name of a MachineDeployment: charts cut longer ones, each in a
#: different way (capi-helm-charts, templates/_helpers.tpl, componentName).
_MAX_NAME = 63


@dataclasses.dataclass(frozen=True)
class Release:
    """A release as Helm has it.

    :param status: of the last revision.
    :param chart, version: of the deployed revision.
    :param values: that the deployed revision was given.
    """

    status: str
    revision: int
    chart: str = ''
    version: str = ''
    values: typing.Mapping[str, typing.Any] = dataclasses.field(
        default_factory=dict, repr=False)


@dataclasses.dataclass(frozen=True)
class Chart:
    """The chart that the options name for a release.

    :param name, version: of the chart; for a chart in a repository, the
        version of the release.
    :param pin: None: there is no such chart.
    """

    name: str
    version: str
    pin: charts.Chart | None


@dataclasses.dataclass(frozen=True)
class Credential:
    """The application credential that a cluster uses.

    :param name: in Keystone.
    :param answer: Keystone's, credentials.VALID ...
    """

    id: str
    name: str
    secret: str = dataclasses.field(repr=False)
    answer: str = credentials.VALID


@dataclasses.dataclass(frozen=True)
class Candidate:
    """The facts about a cluster that may be adopted or returned.

    :param cluster, template, groups: Magnum's rows.
    :param driver: that Magnum selects for the template.
    :param namespace: where this driver expects it.
    :param release: None: Helm has none there.
    :param chart: None: there is no release.
    :param credential: None: there is none in its Secret, or Keystone does
        not have it.
    """

    cluster: typing.Any
    template: typing.Any
    groups: tuple[typing.Any, ...]
    driver: str | None
    namespace: str
    state: state_module.State
    release: Release | None = None
    chart: Chart | None = None
    credential: Credential | None = None


def sanitized(name: str) -> str:
    """A node group's name as magnum-capi-helm writes it in chart values.

    (magnum-capi-helm 1.4.0, magnum_capi_helm/driver_utils.py)
    """
    return re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')


def refusals(found: Candidate) -> list[str]:
    """Why a cluster cannot be adopted now; empty: it can."""
    return [*_of_rows(found), *(_of_release(found) or _of_names(found)),
            *_of_credential(found)]


def _of_rows(found: Candidate) -> collections.abc.Iterator[str]:
    stack = found.cluster.stack_id
    if stack == names.cluster(found.cluster.uuid):
        yield 'this driver created it'
    elif (found.state.adopted is not None
          and found.template.driver == names.DRIVER):
        yield 'it is already adopted'
    elif found.driver != FORMER and found.template.driver:
        yield (f'its template names the driver {found.driver}; only clusters '
               f'of {FORMER} can be adopted')
    yield from busy(found)


def busy(found: Candidate) -> collections.abc.Iterator[str]:
    """Rows whose operation is in progress or has failed."""
    status = found.cluster.status or ''
    if not status.endswith('_COMPLETE'):
        yield f'its status is {status}, but must end in COMPLETE'
    for group in found.groups:
        if not (group.status or '').endswith('_COMPLETE'):
            yield (f'the status of its node group {group.name} is '
                   f'{group.status}, but must end in COMPLETE')


def _of_release(found: Candidate) -> list[str]:
    stack, release, chart = (
        found.cluster.stack_id, found.release, found.chart)
    if release is None or chart is None:
        return [f'Helm has no release {stack} in the namespace '
                f'{found.namespace} of the management cluster that '
                '[k8s_capi]kubeconfig_file names']
    if release.status != 'deployed':
        return [f'its Helm release {stack}, revision {release.revision}, is '
                f'{release.status}, but must be deployed']
    if release.chart != chart.name:
        return [f'its chart is {release.chart}, but [k8s_capi] names '
                f'{chart.name or "none that can be read"}']
    if chart.pin is None:
        return [f'its chart is {release.chart} {release.version}, but the one '
                f'on this machine is {chart.version}']
    return []


def _of_names(found: Candidate) -> collections.abc.Iterator[str]:
    stack = found.cluster.stack_id
    if not names.is_release(stack) or sanitized(stack) != stack:
        yield (f'its name in Kubernetes is {stack}, from which {FORMER} and '
               'its chart derive different names')
        return
    mapped = mapping(found.groups)
    values = found.release.values if found.release else {}
    there = {group.get('name') for group in desired_values.groups(values)}
    for group in found.groups:
        if group.uuid not in mapped:
            continue
        name = mapped[group.uuid]
        if len(names.machine_deployment(stack, name)) > _MAX_NAME:
            yield (f'the name of its node group {group.name} is too long: '
                   f'{names.machine_deployment(stack, name)} has more than '
                   f'{_MAX_NAME} characters')
        elif list(mapped.values()).count(name) > 1:
            yield (f'its node group {group.name} shares the name {name} in '
                   'Kubernetes with another one')
        elif name not in there:
            yield (f'its node group {group.name} is not in its release '
                   f'(as {name})')
    for name in sorted(map(str, there - set(mapped.values()))):
        yield f'its release has a node group {name}, but Magnum does not'


def _of_credential(found: Candidate) -> collections.abc.Iterator[str]:
    if found.credential is None:
        yield ('Keystone does not have the application credential in its '
               "Secret for the cluster's user: rotate it first")
    elif found.credential.answer != credentials.VALID:
        yield (f'its application credential is {found.credential.answer} to '
               'Keystone: rotate it first')


def without_autoscaler(found: Candidate,
                       values: typing.Mapping[str, typing.Any]) -> list[str]:
    """Node groups that would get a fixed size, without knowing the real one.

    magnum-capi-helm takes bounds from options, too, and from the size of a
    group that has only one of them (driver.py, _get_node_counts); it never
    writes the size that the autoscaler chose to Magnum's row.

    :param values: that the next change would give Helm.
    """
    release = found.release
    scaled = {group.get('name') for group in desired_values.groups(
        release.values if release else {}) if group.get('autoscale')}
    fixed = {group['name'] for group in desired_values.groups(values)
             if not group.get('autoscale')}
    names_of = mapping(found.groups)
    return [f'its node group {group.name} is autoscaled, and would have a '
            'fixed size: give it a max_node_count and the label '
            'auto_scaling_enabled first, or set default_labels'
            for group in found.groups
            if names_of.get(group.uuid) in scaled & fixed]


def mapping(groups: collections.abc.Iterable[typing.Any]) -> dict[str, str]:
    """Names of node groups in Kubernetes, by uuid."""
    return {group.uuid: sanitized(group.name) for group in groups
            if group.role != rows_module.MASTER}


def images(found: Candidate) -> dict[str, str | None]:
    """Image ids to replace with the template's, by uuid of the node group.

    Magnum writes the first template's image into these rows, and
    magnum-capi-helm never reads or changes it, so after an upgrade it is not
    what the nodes have. An adoption that was interrupted may have replaced
    some already.
    """
    known = found.state.adopted.images if found.state.adopted else {}
    return {group.uuid: known.get(group.uuid, group.image_id)
            for group in found.groups if group.uuid in known
            or not rows_module.follows(group, found.template)}


def state(found: Candidate) -> state_module.State:
    """The state of an adopted cluster.

    :param found: without :func:`refusals`.
    """
    release, chart, credential = found.release, found.chart, found.credential
    assert release and chart and credential
    entry = credentials.Entry(
        credential.name, found.cluster.user_id, credentials.APPLIED,
        credential.id)
    return state_module.State(
        applied=frozenset(group.uuid for group in found.groups
                          if not group.is_default),
        record=(entry,), secrets={entry.name: credential.secret},
        desired=desired_values.DesiredValues(
            dict(release.values), chart.pin, found.template.uuid),
        adopted=state_module.Adopted(
            mapping(found.groups), release.revision, found.template.driver,
            images(found)))


def changes(found: Candidate, written: state_module.State,
            undo: bool) -> tuple[str, ...]:
    """The changes and their places, one line each.

    :param written: that is written, or removed.
    """
    adopted = written.adopted or state_module.Adopted()
    driver = (names.DRIVER, adopted.driver)
    before, after = driver if undo else driver[::-1]
    secret = f'{found.namespace}/{state_module.name(found.cluster.stack_id)}'
    return (
        f'Magnum, cluster template {found.template.uuid}: driver {before} -> '
        f'{after}',
        *(f'Magnum, node group {uuid}: image_id '
          + (f'{found.template.image_id} -> {image}' if undo
             else f'{image} -> {found.template.image_id}')
          for uuid, image in adopted.images.items()),
        f'Kubernetes, Secret {secret}: '
        + ('removed' if undo else 'written'))


def return_refusals(found: Candidate) -> list[str]:
    """Why a cluster cannot be given back; empty: it can."""
    adopted = found.state.adopted
    if adopted is None:
        return ['it is not adopted']
    changes = []
    if found.release is None or found.release.revision != adopted.revision:
        changes.append('it was changed')
    if [entry.stage for entry in found.state.record] != [credentials.APPLIED]:
        changes.append('its credential was rotated')
    return [f'{change} since it was adopted' for change in changes] + list(
        busy(found))
