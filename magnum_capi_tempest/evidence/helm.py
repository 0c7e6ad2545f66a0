# SPDX-License-Identifier: Apache-2.0

"""The history of a Helm release, without running helm.

Helm stores each revision in a Secret of type helm.sh/release.v1 that is
labelled with its name: as JSON, gzip, base64, and once more the base64 of
Secrets (helm.sh/helm/v3/pkg/storage/driver, util.go and secrets.go). Values
contain credentials, so no Revision has them.
"""

import base64
import dataclasses
import json
import zlib

from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube

#: Most bytes of a decoded revision to read. Compressed, a revision with its
#: chart takes less than the megabyte that a Secret may have.
MOST = 32 << 20


@dataclasses.dataclass(frozen=True, order=True)
class Revision:
    """One revision of a release."""

    number: int
    status: str
    updated: str
    chart: str
    description: str

    def __str__(self) -> str:
        return (f'{self.number}: {self.status}, {self.updated}, '
                f'{self.chart}: {self.description}')


#: What the content of a broken revision may raise.
BROKEN = (zlib.error, ValueError, KeyError, TypeError, AttributeError,
          RecursionError)


def decode(secret: json_types.Object) -> json_types.Object:
    """Return the release in a Secret, a dict with secrets in its values.

    :raises: one of :data:`BROKEN`.
    """
    packed = base64.b64decode(base64.b64decode(
        secret['data']['release'], validate=True), validate=True)
    inflate = zlib.decompressobj(wbits=31)
    found: json_types.Object = json.loads(inflate.decompress(packed, MOST))
    return found


def revision(secret: json_types.Object) -> Revision:
    """Return the Revision in a Secret, a dict."""
    labels = secret['metadata'].get('labels') or {}
    try:
        release = decode(secret)
        info = release['info']
        chart = release['chart']['metadata']
        return Revision(
            int(release['version']), str(info.get('status', '')),
            str(info.get('last_deployed', '')),
            f'{chart.get("name")} {chart.get("version")}',
            ' '.join(str(info.get('description', '')).split()))
    except BROKEN as e:
        return Revision(
            int(labels.get('version') or 0), labels.get('status', ''), '',
            '', f'cannot be decoded ({type(e).__name__})')


def history(reader: kube.Client, stack_id: str) -> dict[str, list[Revision]]:
    """Return the revisions of all releases of a cluster.

    :param reader: kube.Client of the management cluster.
    :param stack_id: the release with this name, and those whose name begins
        with it (addons).
    :returns: dict of release names and sorted lists of Revision.
    :raises KubeError: the management cluster did not answer.
    """
    found: dict[str, list[Revision]] = {}
    for secret in reader.core('secrets', labels='owner=helm'):
        name = (secret['metadata'].get('labels') or {}).get('name', '')
        if name == stack_id or name.startswith(f'{stack_id}-'):
            found.setdefault(name, []).append(revision(secret))
    return {name: sorted(revisions) for name, revisions in found.items()}
