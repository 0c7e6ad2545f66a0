# SPDX-License-Identifier: Apache-2.0


"""The Kubernetes objects of a workload that serves traffic. Pure.

It consists of two replicas of a web server with a disruption budget, and a
client on every node, including the control plane, that queries the server
continuously and logs each answer. The clients are for measuring: their logs
survive an outage of the API server. All containers use one image, agnhost of
Kubernetes (test/images/agnhost): its ``netexec`` serves, and can have another
server query a third.
"""

import typing

from magnum_capi_tempest import json_types

#: Namespace of the objects.
NAMESPACE = 'magnum-capi-workload'
WEB, CLIENT = 'web', 'client'
REPLICAS = 2
PORT = 8080

#: For nodes of the control plane.
_TOLERATIONS = [{'key': key, 'operator': 'Exists', 'effect': 'NoSchedule'}
                for key in ('node-role.kubernetes.io/control-plane',
                            'node-role.kubernetes.io/master')]

#: Logs a line per round: the result by address and by name. The time comes
#: from the container's log. A round without an answer takes two seconds.
_ASK = '''
ask() {
  curl -fs -m 1 -o /dev/null "http://$1/hostname" && echo ok || echo no
}
while :; do
  echo "address=$(ask "$WEB_SERVICE_HOST") name=$(ask web)"
  sleep 0.5
done
'''


def objects(image: str) -> list[tuple[str, json_types.Object]]:
    """What to create, in this order: (API path, object) pairs.

    :param image: agnhost, or an image with ``netexec``, a shell and curl.
    """
    core = f'/api/v1/namespaces/{NAMESPACE}'
    apps = f'/apis/apps/v1/namespaces/{NAMESPACE}'
    policy = f'/apis/policy/v1/namespaces/{NAMESPACE}'
    return [
        ('/api/v1/namespaces', _object('v1', 'Namespace', NAMESPACE)),
        # Before the clients: they get its address in a variable.
        (f'{core}/services', _service()),
        (f'{apps}/deployments', _web(image)),
        (f'{policy}/poddisruptionbudgets', _budget()),
        (f'{apps}/daemonsets', _client(image)),
    ]


def _object(version: str, kind: str, name: str,
            spec: json_types.Object | None = None) -> json_types.Object:
    obj = {'apiVersion': version, 'kind': kind, 'metadata': {'name': name}}
    return obj if spec is None else {**obj, 'spec': spec}


def _labels(name: str) -> dict[str, str]:
    return {'app': name}


def _service() -> json_types.Object:
    return _object('v1', 'Service', WEB, {
        'selector': _labels(WEB),
        'ports': [{'port': 80, 'targetPort': PORT}]})


def _budget() -> json_types.Object:
    return _object('policy/v1', 'PodDisruptionBudget', WEB, {
        'minAvailable': REPLICAS - 1,
        'selector': {'matchLabels': _labels(WEB)}})


def _server(image: str) -> json_types.Object:
    return {
        'name': 'server', 'image': image, 'imagePullPolicy': 'IfNotPresent',
        'args': ['netexec', f'--http-port={PORT}', '--udp-port=-1'],
        'readinessProbe': {'periodSeconds': 1, 'httpGet': {
            'path': '/hostname', 'port': PORT}}}


def _template(name: str, containers: list[json_types.Object],
              **spec: typing.Any) -> json_types.Object:
    return {'metadata': {'labels': _labels(name)},
            'spec': {'containers': containers, 'enableServiceLinks': True,
                     'automountServiceAccountToken': False,
                     'terminationGracePeriodSeconds': 15, **spec}}


def _web(image: str) -> json_types.Object:
    # It keeps answering until every node knows that it is going away.
    server = {**_server(image), 'lifecycle': {'preStop': {
        'exec': {'command': ['sleep', '5']}}}}
    return _object('apps/v1', 'Deployment', WEB, {
        'replicas': REPLICAS,
        'selector': {'matchLabels': _labels(WEB)},
        # With a single worker, the service may be down while that is
        # replaced: charts delete it first, to need no more room.
        'template': _template(
            WEB, [server], tolerations=_TOLERATIONS,
            topologySpreadConstraints=[{
                'maxSkew': 1, 'topologyKey': 'kubernetes.io/hostname',
                'whenUnsatisfiable': 'ScheduleAnyway',
                'labelSelector': {'matchLabels': _labels(WEB)}}])})


def _client(image: str) -> json_types.Object:
    asks = {'name': CLIENT, 'image': image,
            'imagePullPolicy': 'IfNotPresent',
            'command': ['/bin/sh', '-c', _ASK]}
    return _object('apps/v1', 'DaemonSet', CLIENT, {
        'selector': {'matchLabels': _labels(CLIENT)},
        # Nodes that are being created or deleted need not answer.
        'updateStrategy': {'rollingUpdate': {'maxUnavailable': '100%'}},
        'template': _template(CLIENT, [_server(image), asks],
                              tolerations=_TOLERATIONS)})
