# SPDX-License-Identifier: Apache-2.0

"""Collects the facts about a cluster that may be adopted. Only reads."""

import collections.abc
import pathlib
import tarfile
import typing

import yaml

from magnum_capi.driver.adoption import rules
from magnum_capi.driver import config
from magnum_capi.driver import gather
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import app_credentials
from magnum_capi.driver.keys import vault as vault_module
from magnum_capi.driver import reconcile

_METADATA = 'Chart.yaml'


def look(reconciler: reconcile.Reconciler) -> rules.Found:
    """The facts about a cluster.

    :raises MagnumCapiError: Kubernetes or Keystone does not answer.
    """
    cluster, store = reconciler.cluster, reconciler.store
    template = store.template(cluster.cluster_template_id)
    release = _release(reconciler)
    chart = (None if release is None
             else _chart(reconciler.runtime.options, release))
    return rules.Found(
        cluster, template, tuple(store.groups(cluster)),
        store.driver_of(template), reconciler.namespace,
        reconciler.vault.state(), release,
        chart, _credential(reconciler))


def _release(reconciler: reconcile.Reconciler) -> rules.Release | None:
    place = (reconciler.runtime.kube, reconciler.namespace,
             reconciler.release)
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
    """The chart in the options that has the same name as the release's."""
    names = []
    for chart in (options.chart, *options.charts.values()):
        name, version = _metadata(chart)
        if name != release.chart:
            names.append(name)
        elif version in (None, release.version):
            return rules.Chart(name, release.version, gather.pin(
                config.Chart(
                    chart.name, chart.repository,
                    None if chart.is_path else release.version)))
        else:
            return rules.Chart(name, version or '', None)
    return rules.Chart(', '.join(dict.fromkeys(filter(None, names))), '',
                       None)


def _metadata(chart: config.Chart) -> tuple[str, str | None]:
    """Name and version of a chart; None: any version is available."""
    if not chart.is_path:
        return chart.name.rpartition('/')[2], None
    try:
        found = yaml.safe_load(_text(pathlib.Path(chart.name)))
        return str(found['name']), str(found['version'])
    except (OSError, ValueError, KeyError, TypeError, tarfile.TarError,
            yaml.YAMLError):
        return '', None


def _text(path: pathlib.Path) -> str:
    if path.is_dir():
        return (path / _METADATA).read_text(encoding='utf-8')
    with tarfile.open(path) as archive:
        for member in _members(archive):
            content = archive.extractfile(member)
            if content:
                return content.read().decode()
    raise ValueError(f'{path} has no {_METADATA}')


def _members(archive: tarfile.TarFile
             ) -> collections.abc.Iterator[typing.Any]:
    for member in archive:
        # Dependencies are in deeper folders.
        if (member.name.count('/') == 1
                and member.name.endswith(f'/{_METADATA}')):
            yield member


def _credential(
        reconciler: reconcile.Reconciler) -> rules.Credential | None:
    data = reconciler.vault.credentials() or {}
    auth = vault_module.auth(data)
    found = auth.get('application_credential_id')
    if not found:
        return None
    known = app_credentials.get(
        reconciler.store.admin_cloud().services, reconciler.cluster.user_id,
        found)
    if known is None:
        return None
    return rules.Credential(
        known.id, known.name, auth.get('application_credential_secret', ''),
        # Whether the cluster trusts the cloud is no matter: see reconcile.
        reconciler.ownership.ask(
            {vault_module.CLOUDS: data[vault_module.CLOUDS]}))
