# SPDX-License-Identifier: Apache-2.0

"""Reads Helm's record of a release without Helm, and repairs a stuck one.

Helm keeps every revision of a release in a Secret
``sh.helm.release.v1.<release>.v<revision>``, whose labels have its status
(https://helm.sh/docs/topics/advanced/#storage-backends). Mostly only metadata
is read: the content has the values of the cluster and is large. Why a revision
failed is only there.

Helm has no lock. It refuses to change a release whose last revision is
``pending-*`` (helm, pkg/action/upgrade.go), and a helm that was killed leaves
that state forever. The repair is to remove that revision: the objects of the
cluster stay unchanged, and the next ``helm upgrade --install`` adopts those
that the dead helm created, because they have the release's name. What it
changed, Helm does not know, so the revision before it is labelled
:data:`ADOPTED`. A rollback would apply old values, an uninstall would delete
the cluster.
"""

import base64
import dataclasses
import functools
import gzip
import json
import re
import typing

import yaml

from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.observed import snapshot
from magnum_capi.kube import client
from magnum_capi.kube import kinds
from magnum_capi.kube import rest
from magnum_capi.kube import times

#: Label of a revision: digest of what was applied, see :func:`state`. Set by
#: ``helm upgrade --labels`` (helm 3.13 and newer).
DIGEST = 'magnum-digest'

#: Label of a revision from whose manifest objects may differ, because Helm
#: adopted them or a later helm died, until they match what is rendered next;
#: see :func:`finish_takeover`. Helm hands it on to its next revision.
ADOPTED = 'magnum-found'


@dataclasses.dataclass(frozen=True, order=True)
class Revision:
    """A revision of a release.

    :param created: seconds since 1970, by the clock of the server.
    :param secret: name of its Secret.
    :param version: resourceVersion of the Secret.
    :param adopted: see :data:`ADOPTED`.
    """

    number: int
    status: str
    created: float
    secret: str
    version: str
    digest: str | None = None
    adopted: bool = False

    @property
    def is_pending(self) -> bool:
        return self.status.startswith('pending-')


class ReleasePending(rest.KubeError):
    """A helm is working on this release, or has just died."""


def revisions(kube: client.Kube, namespace: str,
              release: str) -> list[Revision]:
    """The revisions of a release that Helm has, oldest first."""
    found = []
    for secret in kube.list_metadata(
            'Secret', namespace, {'owner': 'helm', 'name': release}):
        metadata = secret['metadata']
        labels = metadata.get('labels') or {}
        created = times.parse(metadata['creationTimestamp'])
        found.append(Revision(
            int(labels['version']), labels['status'], created.timestamp(),
            metadata['name'], metadata['resourceVersion'],
            labels.get(DIGEST), ADOPTED in labels))
    return sorted(found)


def state(kube: client.Kube, namespace: str,
          release: str) -> snapshot.Release | None:
    """State of a release, None when there is none."""
    found = revisions(kube, namespace, release)
    if not found:
        return None
    last = found[-1]
    record = _record(kube, namespace, last) if last.status == 'failed' else {}
    info = (record or {}).get('info') or {}
    return snapshot.Release(
        status=last.status, digest=last.digest,
        description=helm_errors.recorded(info.get('description') or ''))


def applied(kube: client.Kube, namespace: str,
            release: str) -> str | None:
    """Manifests of a release as Helm applied them, YAML text.

    :returns: None when nothing is deployed.
    """
    found = deployed(kube, namespace, release)
    return None if found is None else manifests(found)


def parse(text: str) -> kinds.Objects:
    """Objects in the YAML that Helm renders."""
    return [one for one in yaml.load_all(text, _Loader)
            if isinstance(one, dict) and one.get('kind')]


def manifests(found: kinds.Object) -> str:
    """Manifests of a release, including those of hooks, YAML text.

    :param found: the release in Helm's own format.
    """
    return '\n---\n'.join((found.get('manifest') or '', *(
        hook.get('manifest') or '' for hook in found.get('hooks') or ())))


def deployed(kube: client.Kube, namespace: str,
             release: str) -> kinds.Object | None:
    """The deployed revision in Helm's own format, None when there is none."""
    found = last_deployed(kube, namespace, release)
    return _record(kube, namespace, found) if found else None


def last_deployed(kube: client.Kube, namespace: str,
                  release: str) -> Revision | None:
    """The deployed revision, None when there is none.

    It stays that one when a later one has failed.
    """
    there = [revision for revision in revisions(kube, namespace, release)
             if revision.status == 'deployed']
    return there[-1] if there else None


def _record(kube: client.Kube, namespace: str,
            revision: Revision) -> kinds.Object | None:
    """A revision in Helm's own format, None when it is gone."""
    secret = kube.get('Secret', namespace, revision.secret)
    return None if secret is None else _read(secret)


def _read(secret: kinds.Object) -> kinds.Object:
    # JSON, gzip, Helm's base64, base64 of Secrets (helm 3,
    # pkg/storage/driver/util.go).
    content = base64.b64decode(base64.b64decode(secret['data']['release']))
    found: kinds.Object = json.loads(gzip.decompress(content))
    return found


def _written(record: kinds.Object) -> str:
    content = base64.b64encode(gzip.compress(json.dumps(record).encode()))
    return base64.b64encode(content).decode()


def update_versions(kube: client.Kube, namespace: str,
                    release: str) -> bool:
    """Have Helm's record name the versions that are served now.

    Before Helm changes or deletes anything, it looks up each object of the
    record in the version that the chart had at the time. Once Cluster API does
    not serve that one any more, a release can neither be changed nor
    uninstalled (https://helm.sh/docs/topics/kubernetes_apis/). Only
    ``apiVersion`` changes, since Helm only compares the rest with what it
    renders next.

    :returns: whether there was something to change.
    :raises rest.Conflict: helm changes the release at this moment.
    """
    changed = False
    for revision in revisions(kube, namespace, release):
        secret = kube.get('Secret', namespace, revision.secret)
        if secret is None:
            continue
        record = _read(secret)
        # Documents begin at the start of a line.
        text = re.sub(
            r'(?:^(?!---).*\n?)+', functools.partial(
                _in_served_version, kube, namespace),
            record.get('manifest') or '', flags=re.MULTILINE)
        if text != record.get('manifest'):
            secret['data']['release'] = _written({**record, 'manifest': text})
            kube.replace(secret)
            changed = True
    return changed


def _in_served_version(kube: client.Kube, namespace: str,
                       document: re.Match[str]) -> str:
    """A document of a manifest, in the version that is served of its kind."""
    text, obj = document[0], yaml.safe_load(document[0])
    group, slash, version = (obj or {}).get('apiVersion', '').partition('/')
    if group not in kinds.GROUPS:
        return text
    try:
        # If the known version is gone, reading finds the one of now.
        kube.get(obj['kind'], namespace, obj['metadata']['name'])
        served = kube.kind(obj['kind'])
    except rest.NotServed:
        return text
    if served is None or not served.api_version.startswith(group + slash):
        return text
    return re.sub(rf'^(apiVersion:.*?){re.escape(group + slash + version)}\b',
                  rf'\g<1>{served.api_version}', text, count=1,
                  flags=re.MULTILINE)


def finish_takeover(kube: client.Kube, namespace: str, release: str,
                    revision: int) -> None:
    """Record that adopted objects now match what Helm rendered."""
    kube.label('Secret', namespace,
               f'sh.helm.release.v1.{release}.v{revision}', {ADOPTED: None})


def repair(kube: client.Kube, namespace: str, release: str,
           dead_after: float) -> bool:
    """Repair a release that a dead helm left pending.

    Call this with the lock of the cluster held, so that no other helm of this
    driver is running, except one whose Magnum died: that counts as dead only
    after ``dead_after``, when ``timeout`` has killed it (see :mod:`helm`).

    :param dead_after: seconds, by the server's clock.
    :returns: whether there was something to repair.
    :raises ReleasePending: helm may still be alive.
    """
    found = revisions(kube, namespace, release)
    repaired = False
    while found and found[-1].is_pending:
        last = found.pop()
        age = kube.now().timestamp() - last.created
        if age < dead_after:
            raise ReleasePending(
                f'A helm operation on {release} has not ended',
                last_seen=last.status,
                hint=f'It counts as dead in {dead_after - age:.0f} s')
        if found:
            kube.label('Secret', namespace, found[-1].secret,
                       {ADOPTED: 'true'})
        try:
            kube.delete('Secret', namespace, last.secret,
                        version=last.version)
        except rest.Conflict:
            raise ReleasePending(
                f'A helm operation on {release} ended just now',
                hint='Try again') from None
        repaired = True
    return repaired


#: Keeps timestamps as text. Of the C version, if PyYAML has it.
_Loader: typing.Any = type(
    '_Loader', (getattr(yaml, 'CSafeLoader', yaml.SafeLoader),), {})
_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs
            if pair[0] != 'tag:yaml.org,2002:timestamp']
    for first, pairs in _Loader.yaml_implicit_resolvers.items()}
