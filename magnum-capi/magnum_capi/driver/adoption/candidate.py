# SPDX-License-Identifier: Apache-2.0

"""Collects the facts about a cluster that may be adopted. Only reads."""

import dataclasses

from magnum_capi.driver.adoption import rules
from magnum_capi.driver import config
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver import scope as scope_module


def read(scope: scope_module.Scope) -> rules.Candidate:
    """The facts about a cluster.

    :raises MagnumCapiError: Kubernetes or Keystone does not answer.
    """
    cluster, store = scope.cluster, scope.store
    template = store.template(cluster.cluster_template_id)
    release = _release(scope)
    chart = (None if release is None
             else _chart(scope.runtime.options, release))
    return rules.Candidate(
        cluster, template, tuple(store.groups(cluster)),
        store.driver_of(template), scope.namespace,
        scope.secrets.state(), release,
        chart, _credential(scope))


def _release(scope: scope_module.Scope) -> rules.Release | None:
    place = (scope.runtime.kube, scope.namespace,
             scope.release)
    revisions = releases.revisions(*place)
    if not revisions:
        return None
    last = revisions[-1]
    found = releases.deployed(*place) if last.status == 'deployed' else None
    if found is None:
        return rules.Release(last.status, last.number)
    metadata = found['chart']['metadata']
    return rules.Release(last.status, last.number, metadata['name'],
                         metadata['version'], found.get('config') or {})


def _chart(options: config.Options,
           release: rules.Release) -> rules.Chart:
    """The chart in the options, in the version of the release."""
    chart = options.chart
    name, version = chart.name.rpartition('/')[2], release.version
    if chart.is_path:
        found = gather.metadata(chart.name)
        known = found if isinstance(found, dict) else {}
        name = str(known.get('name', ''))
        version = str(known.get('version', ''))
    else:
        chart = dataclasses.replace(chart, version=version)
    fits = (name, version) == (release.chart, release.version)
    return rules.Chart(name, version, gather.pin(chart) if fits else None)


def _credential(
        scope: scope_module.Scope) -> rules.Credential | None:
    data = scope.secrets.credentials() or {}
    auth = cluster_secrets.auth(data)
    found = auth.get('application_credential_id')
    if not found:
        return None
    known = app_credentials.get(
        scope.store.admin_cloud().services, scope.cluster.user_id,
        found)
    if known is None:
        return None
    return rules.Credential(
        known.id, known.name, auth.get('application_credential_secret', ''),
        # Whether the cluster trusts the cloud is no matter: see ownership.
        scope.ownership.ask(
            {cluster_secrets.CLOUDS: data[cluster_secrets.CLOUDS]}))
