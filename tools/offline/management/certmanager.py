# SPDX-License-Identifier: Apache-2.0
"""cert-manager, which signs the certificates of Cluster API's webhooks.

Its manifests are rendered from the chart of its released Go module, like
those of its releases. When images come from archives, a stand-in is used: the
released controllers with the self-signed issuer and the released CA injector,
linked into one program (``go/cert-manager``), without the admission
webhook, whose package cannot be imported.
"""

import copy
import shutil

import yaml

from magnum_capi import processes

NAMESPACE = 'cert-manager'
DEPLOYMENTS = ('cert-manager', 'cert-manager-cainjector')

#: Marks what is not upstream's.
STAND_IN = 'io.magnum-capi.stand-in'

_COMPONENT = 'app.kubernetes.io/component'
_CHART = 'deploy/charts/cert-manager'

#: As the release's static manifest is rendered (make/manifests.mk).
_VALUES = ('crds.enabled=true', 'creator=static',
           'startupapicheck.enabled=false')

#: Mode of the stand-in by component.
_MODES = {'controller': 'controller', 'cainjector': 'cainjector'}


def render(helm, sources, version, scratch) -> list[dict]:
    """The objects of a release.

    :param helm: path of the program.
    :param sources: folder of the Go module.
    :param version: of the release; the module's chart has none.
    :param scratch: folder for a copy of the chart.
    :raises CommandFailed: helm failed.
    """
    chart = scratch / 'chart'
    shutil.copytree(sources / _CHART, chart, copy_function=shutil.copy)
    for path in (chart, *chart.rglob('*')):
        path.chmod(0o700 if path.is_dir() else 0o600)
    description = chart / 'Chart.yaml'
    description.write_text(
        description.read_text().replace('v0.0.0', version))
    text = processes.run(
        [helm, 'template', 'cert-manager', chart, '--namespace', NAMESPACE,
         *(a for value in _VALUES for a in ('--set', value))], timeout=120)
    return [{'apiVersion': 'v1', 'kind': 'Namespace',
             'metadata': {'name': NAMESPACE}},
            *(o for o in yaml.load_all(text, _loader()) if o)]


def stand_in(objects) -> list[dict]:
    """The objects that run the stand-in instead; pure.

    Keeps CRDs, RBAC rules and two Deployments, and drops the webhook with
    everything that belongs to it.
    """
    found = []
    for o in objects:
        if o['kind'].endswith('WebhookConfiguration') or _of_webhook(o):
            continue
        found.append(_deployment(o) if o['kind'] == 'Deployment' else o)
    return found


def images(objects) -> set[str]:
    """References of the images that Deployments run."""
    return {c['image'] for o in objects if o['kind'] == 'Deployment'
            for c in o['spec']['template']['spec']['containers']}


def _of_webhook(o):
    return o['metadata'].get('labels', {}).get(_COMPONENT) == 'webhook'


def _deployment(o):
    o = copy.deepcopy(o)
    template = o['spec']['template']
    mode = _MODES[template['metadata']['labels'][_COMPONENT]]
    for labels in (o['metadata']['labels'], template['metadata']['labels']):
        labels[STAND_IN] = 'true'
    # The stand-in serves neither metrics nor probes.
    template['metadata'].pop('annotations', None)
    for container in template['spec']['containers']:
        container['args'] = [mode]
        for key in ('ports', 'livenessProbe', 'readinessProbe'):
            container.pop(key, None)
    return o


def _loader():
    return getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
