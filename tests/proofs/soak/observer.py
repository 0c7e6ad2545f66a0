# SPDX-License-Identifier: Apache-2.0

"""Observes clusters in Magnum, Cluster API and Keystone."""

import collections

import requests

from magnum_capi.driver.desired import names
from magnum_capi import errors
from tests.proofs.soak import model
from tests.proofs.soak import secrets

_MACHINES = '/apis/cluster.x-k8s.io/v1beta1/machines'
_PLANE = 'cluster.x-k8s.io/control-plane'
_DEPLOYMENT = 'cluster.x-k8s.io/deployment-name'


class Observer:
    """Observes the clusters of one sandbox.

    :param box: box.Box.
    :param its: users.Users.
    """

    def __init__(self, box, its):
        self._box, self._users = box, its
        #: Read position of each log.
        self._read = collections.Counter()

    def workers(self, cluster) -> list[dict]:
        """Machines of a cluster other than the control plane's."""
        return [m for m in self._box.api.items(_MACHINES)
                if cluster.uuid and m['spec']['clusterName']
                == cluster.release and _PLANE not in m['metadata']['labels']]

    def observe_all(self, clusters) -> dict:
        """Observe clusters once.

        :param clusters: users.Cluster.
        :returns: model.Seen by cluster, without those that gave no answer.
        """
        try:
            of_magnum = {cluster: self._magnum(cluster)
                         for cluster in clusters if cluster.uuid}
            credentials = {
                name: [c['name'] for c in of.application_credentials()]
                for name, of in self._users.clouds.items()}
            machines = collections.defaultdict(list)
            for machine in self._box.api.items(_MACHINES):
                machines[machine['spec']['clusterName']].append(machine)
        except (requests.RequestException, errors.MagnumCapiError):
            return {}
        found = {cluster: model.Seen() for cluster in clusters
                 if not cluster.uuid}
        for cluster, (row, groups) in of_magnum.items():
            if row is not None and groups is not None:
                found[cluster] = _seen(
                    row, groups, machines[cluster.release], sum(
                        name.startswith(f'magnum-{cluster.uuid}')
                        for name in credentials[cluster.user]))
        return found

    def _magnum(self, cluster):
        row = self._users.row(cluster)
        groups = row and self._users.get(
            cluster.user, f'clusters/{cluster.uuid}/nodegroups')
        return row, (groups or {}).get('nodegroups', None if row else [])

    def misplaced(self, clusters) -> list[str]:
        """Texts on secrets in wrong places.

        :param clusters: users.Cluster, all complete.
        """
        found, places = secrets.contents(self._box.api), []
        texts = [('log', name, text) for name, text in self._logs()]
        for cluster in clusters:
            secret = secrets.needles(found, cluster.release)
            if len(set(secret.values())) != 2:
                return [f'lost: Secrets of {cluster.release}']
            places += secrets.places(found, cluster.release, secret, (
                *texts,
                ('answer', cluster.uuid, str(self._users.row(cluster)))))
        return model.misplaced(places, {
            c.release: self._users.namespaces[c.user] for c in clusters})

    def _logs(self):
        """New content of the logs since the last call."""
        for path in self._box.layout.log.rglob('*'):
            if path.is_file():
                with open(path, 'rb') as file:
                    file.seek(self._read[path])
                    text = file.read()
                self._read[path] += len(text)
                yield path.name, text.decode(errors='replace')

    def objects(self) -> set[str]:
        """Texts on all objects of projects in the management cluster."""
        return {f'{kind} {namespace}/{name}' for kind, namespace, name
                in secrets.contents(self._box.api)
                if namespace in self._users.namespaces.values()
                and kind != 'Event'
                # Kubernetes itself makes these in each namespace.
                and name not in ('default', 'kube-root-ca.crt')}


def _seen(row, groups, machines, credentials):
    release = names.cluster(row['uuid']) if row else ''
    by_group, strangers = collections.defaultdict(list), []
    masters = [g['name'] for g in groups if g['role'] == 'master']
    workers = {names.machine_deployment(release, names.node_group(g['uuid'])):
               g['name'] for g in groups if g['role'] != 'master'}
    for machine in machines:
        labels = machine['metadata'].get('labels') or {}
        group = (masters or [None])[0] if _PLANE in labels \
            else workers.get(labels.get(_DEPLOYMENT))
        if group is None:
            strangers.append(f'Machine {machine["metadata"]["name"]}')
            continue
        by_group[group].append(model.Machine(
            machine['metadata']['uid'], machine['spec'].get('version', ''),
            machine.get('status', {}).get('phase') == 'Running'
            and not machine['metadata'].get('deletionTimestamp')))
    return model.Seen(
        row.get('status'), row.get('status_reason') or '',
        (row.get('cluster_template_id', ''), row.get('coe_version', '')),
        {g['name']: model.Group(g['status'], g['node_count'],
                                tuple(by_group[g['name']]))
         for g in groups}, tuple(strangers), credentials)
