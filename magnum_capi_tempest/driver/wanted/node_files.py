# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""Files of nodes that charts have no value for: proxies.

Charts pass kubeadmConfigSpec on, and concatenate its lists with their own.
"""

#: Never asked by way of a proxy: the node, the metadata service, Services.
LOCAL = ('localhost', '127.0.0.1', '169.254.169.254', '.svc',
         '.cluster.local')
#: Pods and Services of both charts.
CLUSTER_NETWORKS = ('172.16.0.0/13', '172.24.0.0/13')

_PATH = '/etc/systemd/system/containerd.service.d/50-proxy.conf'


def proxies(wanted, networks=()) -> dict:
    """A kubeadmConfigSpec by which containerd uses proxies; {} for none.

    The template's proxies are for images of containers; pods are told by
    whoever writes them.

    :param wanted: spec.Proxies.
    :param networks: more networks that are not asked by way of a proxy.
    """
    if not (wanted.http or wanted.https):
        return {}
    own = [part.strip() for part in (wanted.no or '').split(',')]
    direct = ','.join(dict.fromkeys(
        filter(None, (*own, *LOCAL, *CLUSTER_NETWORKS, *networks))))
    lines = ['[Service]']
    for name, value in (('HTTP_PROXY', wanted.http),
                        ('HTTPS_PROXY', wanted.https), ('NO_PROXY', direct)):
        if value:
            # "%" begins a specifier of systemd.
            lines.append(f'Environment="{name}={value.replace("%", "%%")}"')
    return {
        'files': [{'path': _PATH, 'owner': 'root:root',
                   'permissions': '0600', 'content': '\n'.join(lines) + '\n'}],
        'preKubeadmCommands': ['systemctl daemon-reload',
                               'systemctl restart containerd']}
