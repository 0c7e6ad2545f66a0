# SPDX-License-Identifier: Apache-2.0

"""Files of nodes for which charts have no value: proxies.

Charts pass kubeadmConfigSpec on, and concatenate its lists with their own.
Values end up in Helm's record and in objects other than Secrets, so a file
with a password is in a Secret, which kubeadmConfigSpec refers to
(https://cluster-api.sigs.k8s.io/tasks/bootstrap/kubeadm-bootstrap/).
"""

import dataclasses
import hashlib
import typing

from magnum_capi.driver.desired import labels as label_rules
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import spec as spec_model

#: Never reached through a proxy: the node, the metadata service, Services.
LOCAL = ('localhost', '127.0.0.1', '169.254.169.254', '.svc',
         '.cluster.local')
#: Pods and Services of both charts.
CLUSTER_NETWORKS = ('172.16.0.0/13', '172.24.0.0/13')

#: Key in the Secret.
KEY = '50-proxy.conf'
_PATH = f'/etc/systemd/system/containerd.service.d/{KEY}'


@dataclasses.dataclass(frozen=True)
class ProxyFile:
    """The file that makes containerd use proxies.

    :param secret: name of the Secret with it; None: it is in the values.
    """

    content: str = dataclasses.field(repr=False)
    secret: str | None = None

    def kubeadm(self) -> dict[str, typing.Any]:
        """The kubeadmConfigSpec that writes the file."""
        source: dict[str, typing.Any] = {'content': self.content}
        if self.secret:
            source = {'contentFrom': {
                'secret': {'name': self.secret, 'key': KEY}}}
        return {'files': [{'path': _PATH, 'owner': 'root:root',
                           'permissions': '0600', **source}],
                'preKubeadmCommands': ['systemctl daemon-reload',
                                       'systemctl restart containerd']}


def proxies(spec: spec_model.ClusterSpec,
            labels: label_rules.Labels) -> ProxyFile | None:
    """The file for the proxies of a cluster; None: it has none.

    The template's proxies are only used to pull container images; pods have
    their own settings.
    """
    wanted = spec.proxies
    urls = [url for url in (wanted.http, wanted.https) if url]
    if not urls:
        return None
    own = [part.strip() for part in (wanted.no or '').split(',')]
    direct = ','.join(dict.fromkeys(filter(None, (
        *own, *LOCAL, *_domain(labels), *cluster_networks(spec, labels),
        labels.fixed_subnet_cidr))))
    lines = ['[Service]']
    for name, value in (('HTTP_PROXY', wanted.http),
                        ('HTTPS_PROXY', wanted.https), ('NO_PROXY', direct)):
        if value:
            # "%" begins a specifier of systemd.
            lines.append(f'Environment="{name}={value.replace("%", "%%")}"')
    content = '\n'.join(lines) + '\n'
    hidden = any('@' in url for url in urls)
    return ProxyFile(content, names.proxies(
        spec.release, digest(content, spec.release)) if hidden else None)


def _domain(labels: label_rules.Labels) -> typing.Iterator[str]:
    if labels.dns_cluster_domain:
        yield f'.{labels.dns_cluster_domain}'


def cluster_networks(spec: spec_model.ClusterSpec,
                     labels: label_rules.Labels) -> tuple[str, str]:
    """Networks of the pods and of Services."""
    pods, services = CLUSTER_NETWORKS
    return (label_rules.pods(spec, labels) or pods,
            labels.service_cluster_ip_range or services)


def digest(content: str, salt: str) -> str:
    """A digest of a file that makes guessing a password in it slow."""
    return hashlib.scrypt(content.encode(), salt=salt.encode(), n=2 ** 14,
                          r=8, p=1, dklen=5).hex()
