# SPDX-License-Identifier: Apache-2.0


"""A small world for the driver's operations: Magnum, a cloud, a helm.

Magnum and the cloud are those of ``tests.lib``, which the driver's own store
asks. The management cluster is ``tests.lib.kube_server``; this helm makes
there, at once, what a chart and Cluster API would have made in the end.
"""

import base64
import contextlib
import dataclasses
import datetime
import functools
import gzip
import json
import pathlib
import types

import fixtures
from oslo_config import cfg
import yaml

from magnum_capi.driver import config
from magnum_capi.driver.desired import names
from magnum_capi.driver.helm import helm_errors
from magnum_capi.driver.helm import releases
from magnum_capi.driver.keys import cluster_secrets
from magnum_capi.driver import scope
from magnum_capi import errors
from tests.lib import magnum_api
from tests.lib import openstack_api
from tests.unit.driver import in_magnum
from tests.unit.driver import objects

CLUSTER = '06fbf6dc-3c2d-4899-b017-d2b06c0ccd9f'
MASTERS = '11111111-3c2d-4899-b017-d2b06c0ccd9f'
WORKERS = '22222222-3c2d-4899-b017-d2b06c0ccd9f'
OTHERS = '33333333-3c2d-4899-b017-d2b06c0ccd9f'
TEMPLATE, NEWER = 'template-1', 'template-2'
PROJECT = '1112df52554546628b0307420f6ddcdd'
RELEASE = names.cluster(CLUSTER)
NAMESPACE = names.namespace(PROJECT)

NOW = objects.NOW

_CAPI = 'cluster.x-k8s.io/v1beta2'

#: In the names of the machines of workers.
_WORKER = '-worker-node-'


class Magnum(in_magnum.Magnum):
    """Magnum with a cluster, in a cloud without volumes and networks.

    :ivar store: store.Store of who asks now.
    :ivar context: of the request.
    """

    def __init__(self, options=None):
        super().__init__()
        self._options = options or config.Options.read(cfg.ConfigOpts())
        self._asked = {}

    def _setUp(self):
        super()._setUp()
        self.cloud.images = {
            'ubuntu-34': {'kube_version': 'v1.34.2'},
            'ubuntu-35': {'kube_version': 'v1.35.0'},
            'ubuntu-37': {'kube_version': 'v1.37.0'}}
        self.cloud.flavors = {
            **dict.fromkeys(('m1', 'm2', 'm3'), (4096, 2, 20)),
            'tiny': (512, 1, 20)}
        self.cloud.types = {'identity', 'image', 'compute'}
        self.rows.clusters[CLUSTER] = {
            **dict.fromkeys(magnum_api.CLUSTER_FIELDS), 'uuid': CLUSTER,
            'name': 'First_1', 'project_id': PROJECT, 'user_id': 'u1',
            'cluster_template_id': TEMPLATE, 'labels': {},
            'master_flavor_id': 'm1', 'status': 'CREATE_IN_PROGRESS',
            'create_timeout': 60, 'floating_ip_enabled': True,
            'master_lb_enabled': False, 'created_at': NOW}
        self.rows.groups |= {
            MASTERS: _group(MASTERS, 'default-master', role='master'),
            WORKERS: _group(WORKERS, 'default-worker')}
        self.rows.templates |= {
            TEMPLATE: _template(TEMPLATE, 'ubuntu-34'),
            NEWER: _template(NEWER, 'ubuntu-35')}
        self._authorities = pathlib.Path(
            self.useFixture(fixtures.TempDir()).path) / 'ca.pem'
        self.trust('pem')
        self.ask_as('u1', 'member', 'admin')

    def trust(self, authorities):
        """Have Magnum trust these for the cloud; None: verify nothing."""
        self.conf.set_override(
            'verify_ca', authorities is not None, 'drivers')
        self.conf.set_override(
            'openstack_ca_file', str(self._authorities), 'drivers')
        self._authorities.write_text(authorities or '')

    def ask_as(self, user=None, *roles):
        """Whose token comes with the next requests; None: of nobody here."""
        if user:
            has = self.cloud.users.setdefault(user, {})
            has[PROJECT] = tuple({*has.get(PROJECT, ()), *roles})
        if (user, roles) not in self._asked:
            context = magnum_api.Context(
                openstack_api.token(user, PROJECT), user, PROJECT, roles
            ) if user else magnum_api.admin()
            self._asked[user, roles] = context, self.stores.Store(
                context, self._options, PROJECT)
        self.context, self.store = self._asked[user, roles]

    def row(self, uuid=CLUSTER):
        table, kind = next(
            found for found in ((self.rows.clusters, magnum_api.Cluster),
                                (self.rows.groups, magnum_api.NodeGroup))
            if uuid in found[0])
        return kind(self.rows, table, magnum_api.admin(), table[uuid])

    def add_group(self, **kwargs):
        self.rows.groups[OTHERS] = _group(
            OTHERS, 'A_b', is_default=False, **kwargs)


def _group(uuid, name, **kwargs):
    return dict.fromkeys(magnum_api.GROUP_FIELDS) | {
        'uuid': uuid, 'name': name, 'role': 'worker', 'node_count': 1,
        'cluster_id': CLUSTER, 'project_id': PROJECT, 'min_node_count': 0,
        'flavor_id': 'm1', 'image_id': 'ubuntu-34', 'labels': {},
        'node_labels': {}, 'node_taints': [], 'is_default': True,
        'status': 'CREATE_IN_PROGRESS', **kwargs}


def _template(uuid, image):
    return dict.fromkeys(magnum_api.TEMPLATE_FIELDS) | {
        'uuid': uuid, 'name': uuid, 'image_id': image, 'labels': {},
        'dns_nameserver': '192.0.2.1', 'network_driver': 'calico',
        'driver': 'k8s_capi_v1', 'coe': 'kubernetes', 'server_type': 'vm',
        'cluster_distro': 'ubuntu', 'master_lb_enabled': False,
        'tls_disabled': False, 'registry_enabled': False}


class Helm:
    """Makes the objects of a chart, all well and complete."""

    dead_after = 130

    def __init__(self, api):
        self._api = api
        #: Values, and charts.Chart, of each upgrade.
        self.upgrades = []
        self.charts = []
        self.uninstalls = 0
        #: Called at the beginning of an upgrade, and at its end; may raise.
        self.before = lambda: None
        self.after = lambda: None
        #: By version of a chart: ``plane`` and ``workers``, what their nodes
        #: are made of beside the values.
        self.own = {}
        #: As charts do, not the version that the server prefers.
        self.version = 'v1beta1'

    @contextlib.contextmanager
    def refusing(self):
        """It refuses the chart for the duration of a ``with`` block."""
        def refuse():
            raise helm_errors.HelmFailed('bad values', reason='refused')
        self.before = refuse
        yield
        self.before = lambda: None

    def preview(self, release, chart, values, namespace):
        rendered = self.manifest(release, chart, values)
        self.look_up('upgrade', release, rendered)
        return rendered

    def look_up(self, command, release, rendered=''):
        """Helm finds the kinds of all that it renders and has recorded."""
        recorded = releases.applied(self._api.kube(), NAMESPACE, release)
        for manifest, where in ((rendered, ''), (
                recorded, 'unable to build kubernetes objects from current '
                'release manifest: ')):
            for obj in yaml.safe_load_all(manifest or ''):
                if obj and not self._api.serves(
                        obj['apiVersion'], f'{obj["kind"].lower()}s'):
                    raise helm_errors.failure(command, errors.CommandFailed(
                        ['helm'], 1, f'Error: {where}no matches for kind '
                        f'"{obj["kind"]}" in version "{obj["apiVersion"]}"'))

    def manifest(self, release, chart, values):
        """What the chart renders, as far as it tells who is replaced."""
        own = self.own.get(chart.version, {})
        version = values['kubernetesVersion']
        found = [{
            'apiVersion': 'v1', 'kind': 'Secret',
            'metadata': {'name': f'{release}-addons'},
            'stringData': {'values': f'geheim of {chart.version}'}}, {
            'apiVersion': f'controlplane.cluster.x-k8s.io/{self.version}',
            'kind': 'KubeadmControlPlane',
            'metadata': {'name': names.control_plane(release),
                         'labels': {'chart': f'{chart.version}'}},
            'spec': {'version': f'v{version}', 'kubeadmConfigSpec': {
                'files': [{'path': own.get('plane', '/etc/one')}]}}}]
        for group in values['nodeGroups']:
            size = ({} if group.get('autoscale') else
                    {'replicas': group.get('machineCount')})
            found.append({
                'apiVersion': f'cluster.x-k8s.io/{self.version}',
                'kind': 'MachineDeployment',
                'metadata': {'name': names.machine_deployment(
                    release, group['name'])},
                'spec': size | {'template': {'spec': {
                    'version': 'v' + group.get('kubernetesVersion', version),
                    'infrastructureRef': {
                        'kind': 'OpenStackMachineTemplate',
                        'name': own.get('workers', _machine_template(
                            group, values))}}}}})
        return yaml.safe_dump_all(found)

    def upgrade(self, release, chart, values, namespace, *, digest=None,
                adopted=False):
        self.before()
        manifest = self.manifest(release, chart, values)
        self.look_up('upgrade', release, manifest)
        known = self.known(release)
        self.upgrades.append(values)
        self.charts.append(chart)
        record = functools.partial(
            self.record, len(self.upgrades), digest, chart=chart,
            manifest=manifest,
            release=release, values=values, adopted=adopted)
        record('pending-upgrade')
        found = json.loads(json.dumps([
            objects.cluster(),
            objects.control_plane(
                count=values['controlPlane']['machineCount'],
                kube=f'v{values["kubernetesVersion"]}'),
            objects.addon()]).replace('"c0', f'"{release}'))
        for plural, obj in zip(('clusters', 'kubeadmcontrolplanes',
                                'helmreleases'), found):
            obj['metadata'].setdefault('labels', {})[
                'capi.stackhpc.com/cluster'] = release
            self.put(plural, obj)
        wanted = {}
        for number in range(values['controlPlane']['machineCount']):
            machine = objects.machine(f'{number}', 'control-plane', node='n')
            machine['metadata']['labels'] = {
                names.CAPI_CLUSTER_NAME: release,
                'cluster.x-k8s.io/control-plane': ''}
            machine['spec']['version'] = f'v{values["kubernetesVersion"]}'
            wanted['machines', f'{release}-control-plane-{number}'] = machine
        for group in values['nodeGroups']:
            image = group.get('machineImageId', values['machineImageId'])
            name = _machine_template(group, values)
            wanted['openstackmachinetemplates', name] = {'spec': {
                'template': {'spec': {'image': {'id': image}}}}}
            kwargs = {'key': group['name'], 'machine': name, 'kube': 'v' + (
                group.get('kubernetesVersion', values['kubernetesVersion']))}
            if group.get('autoscale'):
                # Helm leaves alone what the chart does not write.
                kwargs['count'] = self.replicas(release, group['name'])
                if kwargs['count'] is None:
                    kwargs['count'] = group['machineCountMin']
            elif 'machineCount' in group:
                kwargs['count'] = group['machineCount']
            for plural, made in (('machinedeployments', objects.deployment),
                                 ('machinesets', objects.machine_set)):
                obj = json.loads(json.dumps(made(**kwargs)).replace(
                    '"c0', f'"{release}'))
                wanted[plural, obj['metadata']['name']] = obj
        alone = list(self.left_alone(release, known, values))
        for path in list(self._api.objects):
            if ('/machinedeployments/' in path or '/machinesets/' in path
                    or '-control-plane-' in path or _WORKER in path):
                if not any(name in path for name in alone):
                    del self._api.objects[path]
        for (plural, name), obj in wanted.items():
            if any(name.startswith(one) for one in alone):
                continue
            if plural == 'machinedeployments':
                obj['metadata']['annotations'] = {
                    'meta.helm.sh/release-name': release}
            self.put(plural, obj, name)
            if plural == 'machinedeployments':
                self.join(name, obj['spec']['replicas'], release,
                          obj['spec']['template']['spec']['version'])
        try:
            self.after()
        except helm_errors.HelmFailed:
            record('failed')
            raise
        record('deployed')
        return len(self.upgrades)

    def known(self, release):
        """Node groups of the values that Helm compares with, by name.

        They are those of the last deployed revision, else of the last one
        (helm 3, pkg/action/upgrade.go, prepareUpgrade).
        """
        kube = self._api.kube()
        found = releases.deployed(kube, NAMESPACE, release)
        if found is None:
            last = releases.revisions(kube, NAMESPACE, release)[-1:]
            if not last:
                return {}
            found = releases._record(kube, NAMESPACE, last[0])
        return _of_groups(found['config'] or {})

    def left_alone(self, release, known, values):
        """Names of MachineDeployments that are there and not written.

        Helm compares manifests, not objects; one that is in none of them, or
        only in the new one, stays as it is.
        """
        new = _of_groups(values)
        for path in self._api.objects:
            if '/machinedeployments/' in path:
                name = path.rpartition('/')[2]
                group = name.removeprefix(f'{release}-')
                if known.get(group, new.get(group)) == new.get(group):
                    yield name

    def replicas(self, release, group):
        """Machines that a MachineDeployment is asked for, None: no such."""
        name = names.machine_deployment(release, group)
        for path, obj in self._api.objects.items():
            if path.endswith(f'/machinedeployments/{name}'):
                return obj['spec']['replicas']
        return None

    def machines(self, release, group, count):
        """Cluster API has made a MachineDeployment's machines."""
        name = names.machine_deployment(release, group)
        for path, obj in list(self._api.objects.items()):
            if (path.endswith(f'/machinedeployments/{name}')
                    or f'/machinesets/{name}-' in path):
                obj['spec']['replicas'] = count
                obj['status'].update(objects.counts(count))
            if f'/machines/{name}{_WORKER}' in path:
                del self._api.objects[path]
        self.join(name, count, release)

    def join(self, deployment, count, release, version='v1.34.2'):
        """Make a MachineDeployment's machines, each of them a node."""
        for number in range(count or 0):
            machine = objects.machine(node=f'{deployment}-{number}')
            machine['spec']['version'] = version
            machine['metadata']['labels'] = {
                names.CAPI_CLUSTER_NAME: release,
                'cluster.x-k8s.io/deployment-name': deployment}
            self.put('machines', machine, f'{deployment}{_WORKER}{number}')

    def uninstall(self, release, namespace):
        self.uninstalls += 1
        self.look_up('uninstall', release)
        kept = ('secrets', 'leases')
        for path in list(self._api.objects):
            kind = path.split('/')[-2]
            if '/namespaces/' in path and (
                    kind not in kept and kind != 'namespaces'
                    or 'sh.helm' in path):
                del self._api.objects[path]
        return True

    def record(self, revision, digest, status='deployed', chart=None,
               manifest='', release=RELEASE, values=None, adopted=False):
        """Helm's Secret of a revision."""
        content = gzip.compress(json.dumps({
            'name': release, 'manifest': manifest, 'config': values,
            'chart': {
                'metadata': {'name': chart.name, 'version': chart.version}
                if chart else {}}}).encode())
        labels = {'owner': 'helm', 'name': release, 'status': status,
                  'version': str(revision)}
        if digest:
            labels[releases.DIGEST] = digest
        if adopted:
            labels[releases.ADOPTED] = 'true'
        self._api.put(
            f'/api/v1/namespaces/{NAMESPACE}/secrets/'
            f'sh.helm.release.v1.{release}.v{revision}',
            {'kind': 'Secret', 'metadata': {'labels': labels}, 'data': {
                # Helm's own base64, and that of Secrets around it.
                'release': base64.b64encode(
                    base64.b64encode(content)).decode()}})

    def put(self, plural, obj, name=None):
        group = {'kubeadmcontrolplanes': 'controlplane.cluster.x-k8s.io/'
                 'v1beta2', 'helmreleases': 'addons.stackhpc.com/v1alpha1',
                 'openstackmachinetemplates':
                 'infrastructure.cluster.x-k8s.io/v1beta1'}
        path = (f'/apis/{group.get(plural, _CAPI)}/namespaces/{NAMESPACE}/'
                f'{plural}/{name or obj["metadata"]["name"]}')
        kept = self._api.put(path, obj)
        if 'observedGeneration' in kept.get('status', {}):
            # Its controller has seen it.
            kept['status']['observedGeneration'] = (
                kept['metadata']['generation'])
        return path


def _see(before, now):
    """A controller that has seen all changes sees this one, too."""
    known = (before or {}).get('metadata', {}).get('generation')
    seen = (now.get('status') or {}).get('observedGeneration')
    if known and seen == known:
        now['status']['observedGeneration'] = now['metadata']['generation']


def _machine_template(group, values):
    image = group.get('machineImageId', values['machineImageId'])
    return f'of-{group["name"]}-{image}'


def _of_groups(values):
    """What nodes of each node group in a chart's values are made of."""
    common = [values.get(key) for key in (
        'kubernetesVersion', 'machineImageId')]
    return {group['name']: [group, *common]
            for group in values.get('nodeGroups', ())}


def _key_pairs(new=cluster_secrets.key_pair):
    while True:
        yield from _kept(new)


@functools.cache
def _kept(new):
    return new(), new()


#: Instead of ``cluster_secrets.key_pair``: one of two, another one each time.
key_pair = _key_pairs().__next__


class World(Magnum):
    """All of it; ``later`` moves the clock."""

    def __init__(self, api, options):
        super().__init__(options)
        self.api = api
        api.namespaces = {NAMESPACE}
        api.controller = _see
        self.helm = Helm(api)
        self.runtime = scope.Runtime(
            options, api.kube(), self.helm, lambda: self.clock.datetime())

    def restart(self):
        """Forget what is known of the management cluster."""
        self.runtime = dataclasses.replace(self.runtime, kube=self.api.kube())

    def later(self, **kwargs):
        self.clock.now += datetime.timedelta(**kwargs).total_seconds()

    def credentials(self):
        """Application credentials in Keystone, as numbers in their order."""
        return [number for number, made in enumerate(self.cloud.made)
                if made.id in self.cloud.credentials]

    @property
    def cluster(self):
        """The row as it is in the database."""
        return types.SimpleNamespace(**self.rows.clusters[CLUSTER])

    def group(self, uuid=WORKERS):
        return types.SimpleNamespace(**self.rows.groups[uuid])

    def secrets(self):
        """Names of the cluster's Secrets that are not Helm's."""
        return sorted(path.rpartition('/')[2].removeprefix(f'{RELEASE}-')
                      for path in self.api.objects
                      if '/secrets/' in path and 'sh.helm' not in path)

    def left(self):
        return [path for path in self.api.objects
                if path != f'/api/v1/namespaces/{NAMESPACE}']
