# SPDX-License-Identifier: Apache-2.0


"""Run with the cloud's Python: the real Magnum calls the driver.

Writes answers as JSON. The folder in its argument is for a database.
"""

import inspect
import json
import pathlib
import sys
from unittest import mock
import uuid

from magnum.common import context as contexts
from magnum.common import exception
import magnum.conf
from magnum.db import api as db_api
from magnum.db.sqlalchemy import api as sqlalchemy
from magnum.db.sqlalchemy import models
from magnum.drivers.common import driver as drivers
from magnum import objects
from oslo_log import log

from magnum_capi.driver import operations
from magnum_capi.driver import upgrading

CONF = magnum.conf.CONF

#: Positional arguments of the conductor (magnum/conductor/handlers).
CALLS = {
    'create_cluster': 3, 'update_cluster': 4, 'delete_cluster': 2,
    'resize_cluster': 6, 'upgrade_cluster': 6, 'create_nodegroup': 3,
    'update_nodegroup': 3, 'delete_nodegroup': 3, 'rotate_credential': 2,
    'rotate_ca_certificate': 2, 'update_cluster_status': 2,
    'get_monitor': 2, 'get_scale_manager': 3, 'validate_master_size': 1,
    'validate_master_resize': 1}


def main(folder):
    sys.path.insert(0, folder)
    log.register_options(CONF)
    CONF(['--config-file', str(pathlib.Path(folder) / 'magnum.conf')],
         project='magnum')
    found = drivers.Driver.get_drivers()
    driver = found['vm', 'ubuntu', 'kubernetes']['class']()
    answers = {
        'map': {os: entry['entry_point_name']
                for (_type, os, _coe), entry in found.items()},
        'calls': [name for name, count in CALLS.items()
                  if not _takes(getattr(driver, name), count)],
        'by_name': type(drivers.Driver.get_driver(
            'vm', 'ubuntu', 'kubernetes', 'k8s_capi_v1')).__name__,
        'sizes': [_error(driver.validate_master_resize, size)
                  for size in (1, 2, 3, 0)],
    }
    answers |= _with_rows(driver)
    json.dump(answers, sys.stdout)


def _takes(method, count):
    try:
        inspect.signature(method).bind(*range(count))
    except TypeError:
        return False
    return True


def _error(function, *args):
    try:
        function(*args)
    except Exception as e:
        return type(e).__name__
    return None


def _with_rows(driver):
    models.Base.metadata.create_all(
        sqlalchemy.enginefacade.writer.get_engine())
    db_api.get_instance()
    admin = contexts.make_admin_context(all_tenants=True)
    template = objects.ClusterTemplate(
        admin, uuid=str(uuid.uuid4()), name='t', project_id='p', user_id='u',
        image_id='image', coe='kubernetes', server_type='vm',
        cluster_distro='ubuntu', driver='k8s_capi_v1')
    template.create()
    cluster = objects.Cluster(
        admin, uuid=str(uuid.uuid4()), name='c', project_id='p', user_id='u',
        cluster_template_id=template.uuid, status='CREATE_COMPLETE',
        ca_cert_ref='old', magnum_cert_ref='old', etcd_ca_cert_ref='old',
        front_proxy_ca_cert_ref='old', create_timeout=60)
    cluster.create()
    objects.NodeGroup(
        admin, uuid=str(uuid.uuid4()), name='default-worker',
        cluster_id=cluster.uuid, project_id='p', role='worker',
        node_count=1, is_default=True, status='CREATE_COMPLETE').create()
    return {'reached': _reached(driver, admin, cluster.uuid),
            'ca': _refused_rotation(driver, admin, cluster.uuid),
            'reload': _reloaded(driver, admin, cluster.uuid),
            'taken': _taken(driver, admin, template),
            'alive': _alive(driver, admin, cluster),
            'gone': _gone(driver, admin),
            'unconfigured': _unconfigured(driver, admin, cluster.uuid)}


def _reached(driver, admin, uuid_):
    """Which operation, on which node group, each request becomes.

    Called with positional arguments, like by the conductor; the operations
    themselves do nothing here.
    """
    cluster = objects.Cluster.get_by_uuid(admin, uuid_)
    workers = cluster.default_ng_worker
    group = objects.NodeGroup(admin, name='others', is_default=False)
    requests = {
        'create_cluster': (60,),
        'update_cluster': (None, False),
        'delete_cluster': (),
        'resize_cluster': (None, 3, ['node-1'], group),
        'upgrade_cluster': (_template_of(cluster), 1, workers, False),
        'create_nodegroup': (group,),
        'update_nodegroup': (group,),
        'delete_nodegroup': (group,),
        'rotate_credential': ()}
    return {name: _recorded(driver, name, (admin, cluster, *rest))
            for name, rest in requests.items()}


def _template_of(cluster):
    return objects.ClusterTemplate.get_by_uuid(
        cluster._context, cluster.cluster_template_id)


def _recorded(driver, name, arguments):
    """Texts of the calls to operations, or of the error."""
    with (mock.patch.object(type(driver), '_reconciler'),
          mock.patch.object(operations, 'Operations') as found,
          mock.patch.object(upgrading, 'Upgrade') as upgrade):
        try:
            getattr(driver, name)(*arguments)
        except Exception as e:
            return [f'{type(e).__name__}: {e}']
    calls = [(call[0], call.args, call.kwargs)
             for call in found.return_value.mock_calls]
    calls += [('upgrade', upgrade.call_args.args[1:], {})
              for _call in upgrade.return_value.run.mock_calls]
    return [_text(*call) for call in calls]


def _text(name, args, kwargs):
    def readable(value):
        return str(getattr(value, 'name', value))
    return ' '.join([name, *map(readable, args), *(
        f'{key}={readable(value)}' for key, value in sorted(
            kwargs.items()))])


def _refused_rotation(driver, admin, uuid_):
    """Like in the conductor: new references, the driver, save."""
    cluster = objects.Cluster.get_by_uuid(admin, uuid_)
    made = []
    for field in ('ca_cert_ref', 'magnum_cert_ref', 'etcd_ca_cert_ref',
                  'front_proxy_ca_cert_ref'):
        pair = objects.X509KeyPair(
            admin, certificate='c', private_key='k', project_id='p',
            user_id='u')
        pair.create()
        cluster[field] = pair.uuid
        made.append(pair.uuid)
    try:
        driver.rotate_ca_certificate(admin, cluster)
    except exception.NotSupported as e:
        text = str(e)
    cluster.save()
    saved = objects.Cluster.get_by_uuid(admin, uuid_)
    left = [pair.uuid for pair in objects.X509KeyPair.list(admin)
            if pair.uuid in made]
    return {'text': text, 'left': left, 'refs': sorted({
        saved.ca_cert_ref, saved.magnum_cert_ref, saved.etcd_ca_cert_ref,
        saved.front_proxy_ca_cert_ref})}


def _reloaded(driver, admin, uuid_):
    """A reloaded row writes nothing back."""
    mine = objects.Cluster.get_by_uuid(admin, uuid_)
    store = driver._store(admin, mine)
    other = objects.Cluster.get_by_uuid(admin, uuid_)
    other.status = 'UPDATE_IN_PROGRESS'
    other.save()
    there = store.reload(mine)
    return {'there': there, 'status': mine.status,
            'changed': sorted(mine.obj_what_changed()),
            'groups': [group.name for group in store.groups(mine)],
            'template': store.template(mine.cluster_template_id).name,
            'user': store.user.id}


def _taken(driver, admin, template):
    """Drivers of templates that name one, none, or an unsupported type."""
    store, found = driver._store(admin, template), [template]
    for distro in ('ubuntu', 'nobodys'):
        found.append(objects.ClusterTemplate(
            admin, coe='kubernetes', server_type='vm', cluster_distro=distro,
            driver=None))
    return [store.driver_of(one) for one in found]


def _alive(driver, admin, made):
    """Signs of life of a request: each text updates updated_at."""
    store = driver._store(admin, made)
    times = [made.created_at]
    for text in ('one', 'two'):
        mine = objects.Cluster.get_by_uuid(admin, made.uuid)
        mine.status_reason = text
        store.save(mine)
        store.reload(mine)
        times.append(mine.updated_at)
    return {'aware': all(time.tzinfo for time in times),
            'moved': times == sorted(set(times))}


def _gone(driver, admin):
    cluster = objects.Cluster(admin, uuid=str(uuid.uuid4()), name='gone',
                              project_id='p')
    cluster.obj_reset_changes()
    cluster.status = 'UPDATE_FAILED'
    store = driver._store(admin, cluster)
    return [store.reload(cluster), store.status(cluster),
            _error(store.save, cluster)]


def _unconfigured(driver, admin, uuid_):
    """Without a kubeconfig: readable errors, and still a monitor."""
    cluster = objects.Cluster.get_by_uuid(admin, uuid_)
    monitor = driver.get_monitor(admin, cluster)
    monitor.poll_health_status()
    try:
        driver.resize_cluster(admin, cluster, None, 1, [], None)
    except exception.MagnumException as e:
        return {'health': monitor.data['health_status'], 'told': str(e)}


if __name__ == '__main__':
    main(sys.argv[1])
