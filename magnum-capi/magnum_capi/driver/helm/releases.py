# SPDX-License-Identifier: Apache-2.0

"""Helm's record of a release, read without Helm, and repaired when stuck.

Helm keeps every revision of a release in a Secret
``sh.helm.release.v1.<release>.v<revision>`` whose labels tell its status
(https://helm.sh/docs/topics/advanced/#storage-backends). Only the metadata is
asked for: the content has the values of the cluster and is large.

Helm has no lock. It refuses to change a release whose last revision is
``pending-*`` (helm, pkg/action/upgrade.go), and a helm that was killed leaves
one for ever. Taking that revision away is the repair: the objects of the
cluster stay as they are, and the next ``helm upgrade --install`` takes over
those that the dead one made, for they bear the release's name. A rollback
would apply the values of yesterday, an uninstall would delete the cluster.
"""

import base64
import dataclasses
import datetime
import gzip
import json

from magnum_capi.driver.observed import snapshot
from magnum_capi.kube import kinds
from magnum_capi.kube import kube as kube_module
from magnum_capi.kube import rest

#: Label of a revision: what was applied, see :func:`state`. Set by
#: ``helm upgrade --labels`` (helm 3.13 and newer).
DIGEST = 'magnum-digest'

#: Label of a revision that took over objects which Helm had no record of, as
#: long as they are not yet as it has them; see :func:`taken_over`.
FOUND = 'magnum-found'


@dataclasses.dataclass(frozen=True, order=True)
class Revision:
    """A revision of a release.

    :param created: seconds since 1970, by the clock of the server.
    :param secret: name of its Secret.
    :param version: resourceVersion of that.
    :param found: see :data:`FOUND`.
    """

    number: int
    status: str
    created: float
    secret: str
    version: str
    digest: str | None = None
    found: bool = False

    @property
    def is_pending(self) -> bool:
        return self.status.startswith('pending-')


class ReleasePending(rest.KubeError):
    """A helm works on this release, or died on it a moment ago."""


def revisions(kube: kube_module.Kube, namespace: str,
              release: str) -> list[Revision]:
    """The revisions of a release that Helm knows, oldest first."""
    found = []
    for secret in kube.list_metadata(
            'Secret', namespace, {'owner': 'helm', 'name': release}):
        metadata = secret['metadata']
        labels = metadata.get('labels') or {}
        created = datetime.datetime.fromisoformat(
            metadata['creationTimestamp'])
        found.append(Revision(
            int(labels['version']), labels['status'], created.timestamp(),
            metadata['name'], metadata['resourceVersion'],
            labels.get(DIGEST), FOUND in labels))
    return sorted(found)


def state(kube: kube_module.Kube, namespace: str,
          release: str) -> snapshot.Release | None:
    """State of a release, None when there is none."""
    found = revisions(kube, namespace, release)
    if not found:
        return None
    return snapshot.Release(status=found[-1].status,
                            revision=found[-1].number,
                            digest=found[-1].digest)


def chart_version(kube: kube_module.Kube, namespace: str, release: str,
                  chart: str) -> str | None:
    """Version of the chart that a release was made of.

    :param chart: name of the chart.
    :returns: None when nothing is deployed, or another chart is.
    """
    found = deployed(kube, namespace, release)
    if found is None:
        return None
    metadata = found['chart']['metadata']
    return metadata['version'] if metadata.get('name') == chart else None


def applied(kube: kube_module.Kube, namespace: str,
            release: str) -> str | None:
    """Manifests of a release as Helm has applied them, YAML text.

    :returns: None when nothing is deployed.
    """
    found = deployed(kube, namespace, release)
    return None if found is None else manifests(found)


def manifests(found: kinds.Object) -> str:
    """Manifests of a release, those of its hooks too, YAML text.

    :param found: the release as helm has it.
    """
    return '\n---\n'.join((found.get('manifest') or '', *(
        hook.get('manifest') or '' for hook in found.get('hooks') or ())))


def deployed(kube: kube_module.Kube, namespace: str,
             release: str) -> kinds.Object | None:
    """The revision that is deployed, as helm has it; None when none is."""
    there = [revision for revision in revisions(kube, namespace, release)
             if revision.status == 'deployed']
    if not there:
        return None
    secret = kube.get('Secret', namespace, there[-1].secret)
    if secret is None:
        return None
    # JSON, gzip, Helm's base64, that of Secrets (helm 3,
    # pkg/storage/driver/util.go).
    content = base64.b64decode(base64.b64decode(secret['data']['release']))
    found: kinds.Object = json.loads(gzip.decompress(content))
    return found


def taken_over(kube: kube_module.Kube, namespace: str, release: str,
               revision: int) -> None:
    """Note that what a revision has found is now as Helm has it."""
    kube.label('Secret', namespace,
               f'sh.helm.release.v1.{release}.v{revision}', {FOUND: None})


def repair(kube: kube_module.Kube, namespace: str, release: str,
           dead_after: float) -> bool:
    """Make a release usable that a dead helm left pending.

    To be called by the holder of the lock of the cluster, so no other helm of
    this driver runs. One whose Magnum died may: it counts as dead only after
    ``dead_after``, when it is killed by itself (see :mod:`helm`).

    :param dead_after: seconds, of the server's clock.
    :returns: whether there was something to repair.
    :raises ReleasePending: it is too early to say.
    """
    found = revisions(kube, namespace, release)
    repaired = False
    while found and found[-1].is_pending:
        last = found.pop()
        age = (kube.server_time or last.created) - last.created
        if age < dead_after:
            raise ReleasePending(
                f'A helm operation on {release} has not ended',
                last_seen=last.status,
                hint=f'It counts as dead in {dead_after - age:.0f} s')
        try:
            kube.delete('Secret', namespace, last.secret,
                        version=last.version)
        except rest.Conflict:
            raise ReleasePending(
                f'A helm operation on {release} ended just now',
                hint='Try again') from None
        repaired = True
    return repaired
