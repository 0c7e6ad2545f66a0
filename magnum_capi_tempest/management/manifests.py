# SPDX-License-Identifier: Apache-2.0

"""The API of a management cluster: its CRDs and webhook configurations.

Taken from the providers' released Go modules, where Cluster API keeps them
as kustomize trees. Only CRDs and webhook configurations are kept: there is no
cert-manager and there are no pods, and a process serves the webhooks. The
rendered objects do not depend on the address of a cluster and are cached
(rendering costs 4 CPU seconds); :func:`aim` then makes them point at our
webhook server.
"""

import collections.abc
import copy
import hashlib
import json
import pathlib
import typing

import yaml

from magnum_capi import errors
from magnum_capi import outfile
from magnum_capi import processes
from magnum_capi import progress
from magnum_capi_tempest import json_types
from magnum_capi_tempest.management import addons
from magnum_capi_tempest import paths
from magnum_capi_tempest.toolchain import go

#: Objects that one request after the other creates, by their purpose.
Objects: typing.TypeAlias = dict[str, list[json_types.Object]]

CLUSTER_API = ('sigs.k8s.io/cluster-api', 'v1.14.0')
TEST = ('sigs.k8s.io/cluster-api/test', 'v1.14.0')
OPENSTACK = ('sigs.k8s.io/cluster-api-provider-openstack', 'v0.14.6')

#: Kustomize trees of Cluster API since 1.14, which moved them. The plain
#: files below config/crd/bases are not enough: kustomize adds contract labels
#: and conversion webhooks.
TREES = ('core/config/default', 'bootstrap/kubeadm/config/default',
         'controlplane/kubeadm/config/default')

#: Tree of the provider "docker" in the module TEST, and its resources that
#: are served; the older kinds "Docker..." do the same and are left out.
DOCKER = 'infrastructure/docker/config/default'
DOCKER_RESOURCES = frozenset((
    'devclusters', 'devclustertemplates', 'devmachines',
    'devmachinetemplates'))

#: For the provider's CRDs plain files are enough, as they have one version
#: each and the provider serves its own webhooks. The label says which contract
#: of Cluster API they follow (docs/book/src/developer/providers/contracts).
OPENSTACK_CRDS = 'config/crd/bases'

#: Where the provider itself runs: its webhooks, and images, the only kind of
#: its resource controller that it reads.
OPENSTACK_TREE = 'config/default'
RESOURCE_CONTROLLER = (
    'github.com/k-orc/openstack-resource-controller/v2', 'v2.4.0')
RESOURCE_CRD = 'config/crd/bases/openstack.k-orc.cloud_images.yaml'

CONTRACT = {'cluster.x-k8s.io/v1beta1': 'v1beta1'}

#: Part of the name of the cache file: raise it when rendering changes.
FORMAT = 1

#: What the webhooks of the OpenStack provider refuse to change in a cluster
#: (pkg/webhooks/openstackcluster_webhook.go), as CEL. Its Go package needs an
#: older Cluster API, so the program "capi" cannot serve them. What may change
#: under conditions that only a real cloud meets, may not change here.
_SAME = 'object.spec.?{0} == oldObject.spec.?{0}'
_CLUSTER = ' && '.join(f'({rule})' for rule in (
    *(_SAME.format(field) for field in (
        'router', 'network', 'subnets', 'networkMTU', 'externalRouterIPs',
        'externalNetwork', 'disableExternalNetwork', 'disablePortSecurity',
        'disableAPIServerFloatingIP', 'apiServerFloatingIP', 'tags',
        *(f'apiServerLoadBalancer.?{field}' for field in (
            'enabled', 'additionalPorts', 'provider', 'network', 'subnets',
            'availabilityZone', 'flavor')))),
    'has(object.spec.apiServerLoadBalancer) == '
    'has(oldObject.spec.apiServerLoadBalancer)',
    'has(object.spec.managedSecurityGroups) || '
    '!has(oldObject.spec.managedSecurityGroups)',
    'has(object.spec.managedSubnets) == has(oldObject.spec.managedSubnets)',
    *(' == '.join(
        f'{of}.spec.?managedSubnets.orValue([]).map(s, s.?{field})'
        for of in ('object', 'oldObject'))
      for field in ('cidr', 'allocationPools')),
    *(f'{_SAME.format(field)} || !has(oldObject.spec.{field}) && '
      'oldObject.spec.?disableAPIServerFloatingIP.orValue(false)'
      for field in ('apiServerFixedIP', 'apiServerPort')),
    f'{_SAME.format("controlPlaneEndpoint")} || '
    'oldObject.spec.?controlPlaneEndpoint.?host.orValue("") == ""'))

#: The same of a template, except in dry runs of Cluster API's topology.
_TEMPLATE = ('object.spec.template.spec == oldObject.spec.template.spec || '
             'request.dryRun && "topology.cluster.x-k8s.io/dry-run" in '
             'object.metadata.?annotations.orValue({})')

_CRD = 'CustomResourceDefinition'
_WEBHOOKS = ('MutatingWebhookConfiguration',
             'ValidatingWebhookConfiguration')
_INJECT = 'cert-manager.io/inject-ca-from'


def load(capi: str | pathlib.Path, progress: progress.Progress,
         directory: pathlib.Path | None = None, docker: bool = False,
         openstack: bool = False) -> Objects:
    """The rendered objects, from the cache if possible.

    :param capi: path of the program, for ``capi kustomize``.
    :param directory: folder of the cache.
    :param docker: whether to include the provider "docker".
    :param openstack: whether the OpenStack provider runs.
    :returns: ``{'crds': [dict], 'webhooks': [dict]}``, and with the OpenStack
        provider ``'openstack_webhooks': [dict]``.
    :raises CommandFailed: kustomize failed.
    """
    directory = directory or paths.cache() / 'manifests'
    cached = pathlib.Path(directory) / f'{_key(docker, openstack)}.json'
    try:
        return _kept(cached)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as e:
        progress.info(f'Rendering the manifests again, as {cached} is '
                      f'damaged: {e}')
    with progress.step('Rendering the manifests of Cluster API'):
        rendered = render(capi, docker, openstack)
        _keep(cached, rendered)
    return rendered


def _keep(target: pathlib.Path, objects: Objects) -> None:
    """Write a file of the cache, whose first line is the rest's SHA-256.

    :raises EnvironmentProblem: it cannot be written.
    """
    body = json.dumps(objects).encode()
    outfile.write_private(target, _digest(body) + b'\n' + body)


def _kept(source: pathlib.Path) -> Objects:
    """Read a file of :func:`_keep`.

    :raises OSError: it cannot be read; FileNotFoundError: there is none.
    :raises ValueError: the checksum is wrong.
    """
    digest, _, body = source.read_bytes().partition(b'\n')
    if digest != _digest(body):
        raise ValueError('its checksum is wrong')
    objects: Objects = json.loads(body)
    return objects


def render(capi: str | pathlib.Path, docker: bool = False,
           openstack: bool = False) -> Objects:
    """Render the objects from the modules' sources, see :func:`load`."""
    objects = []
    sources = go.module_directory(*CLUSTER_API)
    for tree in TREES:
        objects += _kustomize(capi, sources / tree)
    if docker:
        objects += served(_kustomize(
            capi, go.module_directory(*TEST) / DOCKER), DOCKER_RESOURCES)
    bases = go.module_directory(*OPENSTACK) / OPENSTACK_CRDS
    for path in sorted(bases.glob('*.yaml')):
        objects += [labelled(o, CONTRACT) for o in _parse(path.read_text())]
    objects += addons.CRDS
    more = {}
    if openstack:
        objects += _parse((go.module_directory(*RESOURCE_CONTROLLER)
                           / RESOURCE_CRD).read_text())
        more['openstack_webhooks'] = select(_kustomize(
            capi, go.module_directory(*OPENSTACK) / OPENSTACK_TREE)
        )['webhooks']
    found = select(objects)
    if not found['webhooks'] or len(found['crds']) < len(addons.CRDS) + 2:
        raise errors.MagnumCapiError(
            'The Go modules have no manifests where they are expected',
            where=f'{sources}, {bases}')
    return found | more


def select(objects: collections.abc.Sequence[json_types.Object]) -> Objects:
    """Keep CRDs and webhook configurations, without cert-manager's annotation.

    :returns: ``{'crds': [dict], 'webhooks': [dict]}``.
    """
    found: Objects = {'crds': [], 'webhooks': []}
    for o in objects:
        if o['kind'] == _CRD:
            found['crds'].append(_without_injection(o))
        elif o['kind'] in _WEBHOOKS:
            found['webhooks'].append(_without_injection(o))
    return found


def served(objects: collections.abc.Sequence[json_types.Object],
           resources: collections.abc.Set[str]) -> list[json_types.Object]:
    """CRDs and webhook configurations of these resources only.

    :param resources: plurals, without a group.
    """
    kept = []
    for o in objects:
        if o['kind'] == _CRD and o['spec']['names']['plural'] in resources:
            kept.append(o)
        elif o['kind'] in _WEBHOOKS:
            hooks = [w for w in o['webhooks'] if resources >= {
                r for rule in w['rules'] for r in rule['resources']}]
            kept += [{**o, 'webhooks': hooks}] if hooks else []
    return kept


def immutability() -> list[json_types.Object]:
    """Policies by which the API refuses what the OpenStack provider would.

    For management clusters in which that provider does not run.
    """
    return [o for plural, rule, message in (
        ('openstackclusters', _CLUSTER, 'spec: Forbidden: cannot be modified'),
        *((plural, _TEMPLATE, 'spec.template.spec field is immutable. Please '
                              'create a new resource instead.')
          for plural in ('openstackclustertemplates',
                         'openstackmachinetemplates')))
        for o in _policy(plural, rule, message)]


def _policy(plural: str, rule: str, message: str
            ) -> collections.abc.Iterator[json_types.Object]:
    name = f'{plural}.sandbox.magnum-capi'
    for kind, spec in (
            ('ValidatingAdmissionPolicy', {
                'failurePolicy': 'Fail',
                'matchConstraints': {'resourceRules': [{
                    'apiGroups': ['infrastructure.cluster.x-k8s.io'],
                    'apiVersions': ['*'], 'operations': ['UPDATE'],
                    'resources': [plural]}]},
                'validations': [{'expression': rule, 'message': message}]}),
            ('ValidatingAdmissionPolicyBinding', {
                'policyName': name, 'validationActions': ['Deny']})):
        yield {'apiVersion': 'admissionregistration.k8s.io/v1', 'kind': kind,
               'metadata': {'name': name}, 'spec': spec}


def labelled(o: json_types.Object, labels: collections.abc.Mapping[str, str]
             ) -> json_types.Object:
    """A copy of the object with more labels."""
    metadata = o['metadata']
    return {**o, 'metadata': {
        **metadata, 'labels': {**metadata.get('labels', {}), **labels}}}


def aim(o: json_types.Object, base_url: str, ca_bundle: str
        ) -> json_types.Object:
    """A copy whose webhooks point at ``base_url`` instead of a Service.

    :param o: CRD or webhook configuration.
    :param base_url: ``https://127.77.0.1:25943``.
    :param ca_bundle: base64 of the PEM that signed the webhook server, str.
    """
    o = copy.deepcopy(o)
    if o['kind'] == _CRD:
        conversion = o['spec'].get('conversion', {}).get('webhook')
        configs = [conversion['clientConfig']] if conversion else []
    else:
        configs = [w['clientConfig'] for w in o['webhooks']]
    for config in configs:
        service = config.pop('service', None)
        if service is not None:
            config['url'] = base_url + service.get('path', '/')
            config['caBundle'] = ca_bundle
    return o


def names(objects: collections.abc.Sequence[json_types.Object]) -> list[str]:
    """metadata.name of each."""
    return [o['metadata']['name'] for o in objects]


def _without_injection(o: json_types.Object) -> json_types.Object:
    annotations = o['metadata'].get('annotations', {})
    if _INJECT not in annotations:
        return o
    kept = {k: v for k, v in annotations.items() if k != _INJECT}
    return {**o, 'metadata': {**o['metadata'], 'annotations': kept}}


def _key(docker: bool, openstack: bool) -> str:
    made_of = [FORMAT, CLUSTER_API, OPENSTACK, TREES, addons.CRDS]
    if docker:
        made_of += [TEST, DOCKER, sorted(DOCKER_RESOURCES)]
    if openstack:
        made_of += [OPENSTACK_TREE, RESOURCE_CONTROLLER, RESOURCE_CRD]
    text = json.dumps(made_of, sort_keys=True).encode()
    return (f'capi-{CLUSTER_API[1]}-capo-{OPENSTACK[1]}-'
            f'{hashlib.sha256(text).hexdigest()[:8]}')


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _kustomize(capi: str | pathlib.Path, tree: str | pathlib.Path
               ) -> list[json_types.Object]:
    return _parse(processes.run(
        [capi, 'kustomize', tree], timeout=120,
        hint='The Go module may be damaged: remove the folder of modules, '
             'which "go env GOMODCACHE" names'))


def _parse(text: str) -> list[json_types.Object]:
    # The C parser is ten times faster; wheels of PyYAML have it.
    loader = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)
    return [o for o in yaml.load_all(text, loader) if o]
