# SPDX-License-Identifier: Apache-2.0

"""Faults: real programs end, stop or answer late, machines disappear.

Each is a context manager for its duration; its value says what was affected,
and is false if there was nothing to break.
"""

import contextlib
import functools
import signal
import threading

import psutil

from magnum_capi_tempest.kubeclient import kube
from tests.proofs import boxes
from tests.proofs.driver_faults import api_faults

_MACHINES = 'apis/cluster.x-k8s.io/v1beta1'
_NODE = 'sandbox.magnum-capi/node'


def begin(kind, of, box, machines):
    """A fault, as a context manager.

    :param kind, of: of stories.Step.
    :param box: box.Box of the soak.
    :param machines: function that returns the workers' Machines of the
        cluster ``of``.
    """
    if kind in _API:
        return _answers(box, _API[kind])
    if kind.startswith('machine-'):
        return _MACHINE[kind](box, machines)
    if kind.startswith('conductor-'):
        return _conductor(box, int(of), 'helm' in kind)
    return _PROGRAM[kind](box)


_API = {'api-slow': api_faults.SLOW.rule, 'api-409': api_faults.CONFLICT.rule,
        'api-429': api_faults.TOO_MANY.rule, 'api-500': api_faults.ERROR.rule}


@contextlib.contextmanager
def _answers(box, rule):
    with box.proxy.disturbed(rule):
        yield 'the management API'


@contextlib.contextmanager
def _during(name, begin, end):
    begin()
    try:
        yield name
    finally:
        end()


def _killed(box, name):
    return _during(name, lambda: box.sandbox.supervisor.signal(name, 'KILL'),
                   box.repair)


def _asleep(box, name):
    send = functools.partial(box.sandbox.supervisor.signal, name)
    return _during(name, lambda: send('STOP'), lambda: send('CONT'))


def _conductor(box, number, helm):
    name = box.conductors[number - 1]

    def kill():
        box.kill(name)
        if helm:
            boxes.kill(box.helms())

    return _during(name, kill, box.repair)


@contextlib.contextmanager
def _each_helm(box, number, after=None):
    """Send a signal to each helm that runs during the fault."""
    met, over = [], threading.Event()

    def hunt():
        while not over.wait(0.2):
            for process in box.helms():
                if process not in met:
                    met.append(process)
                    _signal(process, number)

    hunter = threading.Thread(target=hunt, daemon=True)
    hunter.start()
    try:
        yield met
    finally:
        over.set()
        hunter.join()
        for process in met if after else ():
            _signal(process, after)


def _signal(process, number):
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


_PROGRAM = {
    'api-down': lambda box: _during(
        'the management API', box.proxy.refuse, box.proxy.listen),
    'api-killed': lambda box: _killed(box, 'kube-apiserver'),
    'helm-killed': lambda box: _each_helm(box, signal.SIGKILL),
    'helm-slow': lambda box: _each_helm(box, signal.SIGSTOP, signal.SIGCONT),
    'helm-missing': lambda box: _during(
        'helm', box.helm_away, box.helm_back),
    'keystone-down': lambda box: _during(
        'keystone', lambda: box.stop('keystone'), box.repair),
    'keystone-killed': lambda box: _killed(box, 'keystone'),
    'keystone-slow': lambda box: _asleep(box, 'keystone'),
}


def _first(machines):
    """Metadata of a running worker's Machine, None if there is none."""
    try:
        return next((m for m in machines()
                     if m.get('status', {}).get('phase') == 'Running'), None)
    except kube.KubeError:
        return None


@contextlib.contextmanager
def _machine_gone(box, machines):
    """Delete a Machine behind Magnum's back."""
    found = _first(machines)
    if found:
        box.api.delete(_path('machines', found['metadata']))
    yield found and found['metadata']['uid']


@contextlib.contextmanager
def _machine_ill(box, machines):
    """Make a node not Ready for a while, too short to be replaced."""
    found = _first(machines)
    if not found:
        yield None
        return
    reference = found['spec']['infrastructureRef']
    path = ('apis/infrastructure.cluster.x-k8s.io/v1beta1/namespaces/'
            f'{found["metadata"]["namespace"]}/openstackmachines/'
            f'{reference["name"]}')

    def annotated(value):
        with contextlib.suppress(kube.KubeError):
            box.api.ask('PATCH', f'/{path}', {'metadata': {'annotations': {
                _NODE: value}}}, 'application/merge-patch+json')

    annotated('not-ready')
    try:
        yield f'node of Machine {found["metadata"]["name"]}'
    finally:
        annotated(None)


_MACHINE = {'machine-gone': _machine_gone, 'machine-ill': _machine_ill}


def _path(plural, metadata):
    return (f'/{_MACHINES}/namespaces/{metadata["namespace"]}/{plural}/'
            f'{metadata["name"]}')
