# SPDX-License-Identifier: Apache-2.0


"""What a workload that serves traffic consists of: Kubernetes objects. Pure.

Two replicas of a web server with a disruption budget, and on every node, also
of the control plane, a client that asks for it without end and writes down
each answer. The clients are there for measuring: what they wrote survives an
API server that is away. All of it runs from one image, agnhost of Kubernetes
(test/images/agnhost): its ``netexec`` serves, and has another server ask.
"""

#: Namespace of the objects.
NAMESPACE = 'magnum-capi-workload'
WEB, CLIENT = 'web', 'client'
REPLICAS = 2
PORT = 8080

#: Of nodes of the control plane.
_TOLERATIONS = [{'key': key, 'operator': 'Exists', 'effect': 'NoSchedule'}
                for key in ('node-role.kubernetes.io/control-plane',
                            'node-role.kubernetes.io/master')]

#: A line for every round: how it went by address and by name. The time is
#: that of the container's log. A round without answer takes two seconds.
_ASK = '''
ask() {
  curl -fs -m 1 -o /dev/null "http://$1/hostname" && echo ok || echo no
}
while :; do
  echo "address=$(ask "$WEB_SERVICE_HOST") name=$(ask web)"
  sleep 0.5
done
'''


def objects(image):
    """What to create, in this order: (path of the API, object) pairs.

    :param image: agnhost, or what has its ``netexec``, a shell and curl.
    """
    core = f'/api/v1/namespaces/{NAMESPACE}'
    apps = f'/apis/apps/v1/namespaces/{NAMESPACE}'
    policy = f'/apis/policy/v1/namespaces/{NAMESPACE}'
    return [
        ('/api/v1/namespaces', _object('v1', 'Namespace', NAMESPACE)),
        # Before the clients: they get its address as a variable.
        (f'{core}/services', _service()),
        (f'{apps}/deployments', _web(image)),
        (f'{policy}/poddisruptionbudgets', _budget()),
        (f'{apps}/daemonsets', _client(image)),
    ]


def _object(version, kind, name, spec=None):
    obj = {'apiVersion': version, 'kind': kind, 'metadata': {'name': name}}
    return obj if spec is None else {**obj, 'spec': spec}


def _labels(name):
    return {'app': name}


def _service():
    return _object('v1', 'Service', WEB, {
        'selector': _labels(WEB),
        'ports': [{'port': 80, 'targetPort': PORT}]})


def _budget():
    return _object('policy/v1', 'PodDisruptionBudget', WEB, {
        'minAvailable': REPLICAS - 1,
        'selector': {'matchLabels': _labels(WEB)}})


def _server(image):
    return {
        'name': 'server', 'image': image, 'imagePullPolicy': 'IfNotPresent',
        'args': ['netexec', f'--http-port={PORT}', '--udp-port=-1'],
        'readinessProbe': {'periodSeconds': 1, 'httpGet': {
            'path': '/hostname', 'port': PORT}}}


def _template(name, containers, **spec):
    return {'metadata': {'labels': _labels(name)},
            'spec': {'containers': containers, 'enableServiceLinks': True,
                     'automountServiceAccountToken': False,
                     'terminationGracePeriodSeconds': 15, **spec}}


def _web(image):
    # It goes on answering until every node knows that it leaves.
    server = {**_server(image), 'lifecycle': {'preStop': {
        'exec': {'command': ['sleep', '5']}}}}
    return _object('apps/v1', 'Deployment', WEB, {
        'replicas': REPLICAS,
        'selector': {'matchLabels': _labels(WEB)},
        # A cluster of one worker may be without it while it is replaced:
        # charts delete it first, to take no more room.
        'template': _template(
            WEB, [server], tolerations=_TOLERATIONS,
            topologySpreadConstraints=[{
                'maxSkew': 1, 'topologyKey': 'kubernetes.io/hostname',
                'whenUnsatisfiable': 'ScheduleAnyway',
                'labelSelector': {'matchLabels': _labels(WEB)}}])})


def _client(image):
    asks = {'name': CLIENT, 'image': image,
            'imagePullPolicy': 'IfNotPresent',
            'command': ['/bin/sh', '-c', _ASK]}
    return _object('apps/v1', 'DaemonSet', CLIENT, {
        'selector': {'matchLabels': _labels(CLIENT)},
        # Of a node that is being made, or left, nobody expects anything.
        'updateStrategy': {'rollingUpdate': {'maxUnavailable': '100%'}},
        'template': _template(CLIENT, [_server(image), asks],
                              tolerations=_TOLERATIONS)})
