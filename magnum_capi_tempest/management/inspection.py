# SPDX-License-Identifier: Apache-2.0
"""Checks a management cluster for what drivers need.

Reports kinds that are not served, providers that do not run or are too old,
and missing permissions of the kubeconfig's user. Works with any management
cluster, including those whose providers are plain processes and have no
Deployment.
"""

import collections.abc
import concurrent.futures
import dataclasses
import pathlib

from magnum_capi.driver.desired import cluster_api
from magnum_capi.driver.desired import versions
from magnum_capi import errors
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube
from magnum_capi_tempest.management import client
from magnum_capi_tempest.management import deployments
from magnum_capi_tempest.management import requirements

#: Label of the core provider.
_CORE = 'cluster-api'

_REVIEW = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of an inspection.

    :param problems: lines that begin with "missing", "too old", "not
        running", "other release", "not allowed", "not served", "not
        supported" or "not known".
    :param providers: lines on providers that were found.
    :param stand_ins: Deployments labelled as not upstream's.
    :param seen: number of kinds that are served.
    :param server: URL of the API server.
    :param notes: lines on what is missing for others only.
    """

    problems: tuple[str, ...]
    providers: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    seen: int = 0
    server: str = ''
    notes: tuple[str, ...] = ()


def inspect(kubeconfig: str | pathlib.Path, addon_provider: bool = True,
            kubernetes: collections.abc.Sequence[str] = ()) -> Report:
    """Inspect a cluster.

    :param kubeconfig: path.
    :param addon_provider: whether charts need the addon provider.
    :param kubernetes: versions that workload clusters shall have.
    :raises KubeError: the cluster does not answer.
    :raises EnvironmentProblem, UsageError: as :class:`kube.Client`.
    :raises UsageError: one of the versions is none.
    """
    for text in kubernetes:
        if not versions.is_version(text):
            raise errors.UsageError(
                f'{text!r} is no version of Kubernetes',
                hint=f'Give {versions.FORM}')
    api = kube.Client(kubeconfig)
    kinds = requirements.of(addon_provider)
    asked = kinds + requirements.RESOURCES
    served = requirements.served(api, asked)
    missing = requirements.missing(served, kinds)
    problems = [f'missing: {r} ({r.provider})'
                for r in missing if not r.ends]
    notes = [f'{provider} serves no {requirements.OLD}, which charts up to '
             f'0.27.0 and drivers that read {requirements.OLD} need'
             for provider in dict.fromkeys(
                 r.provider for r in missing if r.ends)
             if provider not in {r.provider for r in missing if not r.ends}]
    try:
        running = [d for d in deployments.read(api)]
    except kube.KubeError as e:
        if e.status not in (401, 403):
            raise
        running = []
    found = [d for d in running if d.provider]
    problems += releases(found, served)
    problems += unserved(
        found, (api.get('/version') or {}).get('gitVersion', ''), kubernetes)
    problems += [f'not allowed: {p}' for p in denied(
        api, requirements.permissions(addon_provider))]
    return Report(
        tuple(problems), tuple(sorted(line(d) for d in found)),
        tuple(sorted(str(d) for d in running if d.stand_in)),
        len(kinds) - len(missing), api.server, tuple(notes))


def version(kubeconfig: pathlib.Path) -> str:
    """The version of a cluster's API server, without "v".

    :raises KubeError: the cluster does not answer.
    """
    found = kube.Client(kubeconfig).ask('GET', '/version')
    return str(found['gitVersion']).removeprefix('v')


def releases(found: collections.abc.Sequence[deployments.Deployment],
             served: collections.abc.Set[tuple[str, ...]]) -> list[str]:
    """Problems of the providers' Deployments; pure.

    :param found: :class:`..deployments.Deployment`, all with a provider.
    :param served: set of (group, version, resource).
    """
    problems = []
    oldest = {r.label: r for r in requirements.RELEASES}
    for d in found:
        if not d.available:
            problems.append(f'not running: {d.provider} ({d}): {d.reason}')
        rule = oldest.get(d.provider or '')
        if rule and d.version and d.version < rule.oldest:
            problems.append(
                f'too old: {d.provider} {_text(d.version)}, '
                f'{_text(rule.oldest)} has {rule.reason}')
        if d.provider == 'infrastructure-openstack' and d.version \
                and d.version >= requirements.WANTS_RESOURCES:
            problems += [f'missing: {r} ({r.provider})'
                         for r in requirements.missing(
                             served, requirements.RESOURCES)]
    problems += _uneven({d.provider: d.version for d in found})
    return problems


def unserved(found: collections.abc.Sequence[deployments.Deployment], own: str,
             kubernetes: collections.abc.Sequence[str]) -> list[str]:
    """Versions of Kubernetes that Cluster API does not support; pure.

    :param found: :class:`..deployments.Deployment`, all with a provider.
    :param own: version of the management cluster.
    :param kubernetes: versions of workload clusters.
    """
    core = next((_text(d.version) for d in found
                 if d.provider == _CORE and d.version), None)
    why = cluster_api.management_refusal(core, own)
    problems = [f'not supported: {why}'] if why else []
    if kubernetes and core is None:
        problems.append('not known: the version of Cluster API, which says '
                        'whether it serves Kubernetes '
                        + ', '.join(kubernetes))
    return problems + [
        f'not served: {why}' for why in (
            cluster_api.refusal(core, version) for version in kubernetes)
        if why]


def denied(api: kube.Client,
           permissions: collections.abc.Sequence[requirements.Permission]
           ) -> list[requirements.Permission]:
    """The permissions that the API server denies (SelfSubjectAccessReview)."""
    def allowed(permission: requirements.Permission) -> bool:
        answer = api.ask('POST', _REVIEW, review(permission))
        return bool(answer['status'].get('allowed', False))

    with concurrent.futures.ThreadPoolExecutor(client.CONNECTIONS) as pool:
        answers = list(pool.map(allowed, permissions))
    return [p for p, yes in zip(permissions, answers) if not yes]


def review(permission: requirements.Permission) -> json_types.Object:
    """A review that asks for a permission in all namespaces."""
    return {'apiVersion': 'authorization.k8s.io/v1',
            'kind': 'SelfSubjectAccessReview',
            'spec': {'resourceAttributes': {
                'group': permission.group, 'verb': permission.verb,
                'resource': permission.resource}}}


def line(deployment: deployments.Deployment) -> str:
    """A line on one provider."""
    version = deployment.version
    served = version and deployment.provider == _CORE and (
        cluster_api.served_by(_text(version)))
    return (f'{deployment.provider} '
            f'{_text(version) if version else "of unknown version"} '
            f'({deployment})' + (
                f', for Kubernetes {served}' if served else ''))


def _uneven(
        versions: collections.abc.Mapping[
            str | None, tuple[int, ...] | None]) -> list[str]:
    """Find kubeadm providers of another release than Cluster API's.

    Upstream only tests equal releases (docs/book/src/reference/versions.md,
    "Kubeadm Bootstrap Provider", of kubernetes-sigs/cluster-api).
    """
    core = versions.get(_CORE)
    if not core:
        return []
    return [f'other release: {label} {_text(version)} with cluster-api '
            f'{_text(core)}'
            for label, version in sorted(versions.items())
            if label in ('bootstrap-kubeadm', 'control-plane-kubeadm')
            and version and version[:2] != core[:2]]


def _text(version: collections.abc.Sequence[int]) -> str:
    return 'v' + '.'.join(map(str, version))
