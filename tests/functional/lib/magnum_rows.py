# SPDX-License-Identifier: Apache-2.0


"""Run with the cloud's Python: what Magnum's objects do, step by step.

Writes what they answered as JSON. The folder in its argument is for a
database; without one, Magnum's stand-in answers.
"""

import json
import sys
import uuid


def main():
    if len(sys.argv) > 1:
        json.dump(speak(*_real(sys.argv[1])), sys.stdout)


def _real(folder):
    from magnum.common import context
    import magnum.conf
    from magnum.db import api
    from magnum.db.sqlalchemy import api as sqlalchemy
    from magnum.db.sqlalchemy import models
    from magnum import objects
    from oslo_log import log

    log.register_options(magnum.conf.CONF)
    magnum.conf.CONF(['--config-file', f'{folder}/magnum.conf'],
                     project='magnum')
    models.Base.metadata.create_all(
        sqlalchemy.enginefacade.writer.get_engine())
    api.get_instance()
    admin = context.make_admin_context(all_tenants=True)

    def made(kind):
        def new(**fields):
            row = getattr(objects, kind)(admin, **fields)
            row.create()
            return row
        return new

    return (made('ClusterTemplate'), made('Cluster'), made('NodeGroup'),
            objects, admin, context.RequestContext(
                project_id='another', user_id='u', is_admin=False))


def speak(new_template, new_cluster, new_group, objects, admin, other):
    """The same with both: creates, reads, writes rows.

    :param objects: with Cluster, ClusterTemplate and NodeGroup.
    :returns: texts and values by what was done.
    """
    template = new_template(
        uuid=_uuid(1), name='t', project_id='p', user_id='u',
        image_id='i', coe='kubernetes', server_type='vm',
        cluster_distro='ubuntu', driver='d', labels={})
    row = new_cluster(
        uuid=_uuid(2), name='c', project_id='p', user_id='u',
        cluster_template_id=template.uuid, status='CREATE_IN_PROGRESS',
        labels={'a': 'b'}, create_timeout=60)
    for number, (name, role, default) in enumerate((
            ('default-master', 'master', True),
            ('default-worker', 'worker', True), ('more', 'worker', False))):
        new_group(uuid=_uuid(3 + number), name=name, cluster_id=row.uuid,
                  project_id='p', role=role, is_default=default,
                  node_count=number + 1, status='CREATE_IN_PROGRESS')
    found = {}

    def get(context=admin):
        return objects.Cluster.get_by_uuid(context, _uuid(2))

    found['not seen by others'] = _error(get, other)
    found['fields of a cluster'] = sorted(row.fields)
    found['fields of a group'] = sorted(get().default_ng_worker.fields)
    found['fields of a template'] = sorted(template.fields)
    one, two = get(), get()
    one.status, two.name = 'CREATE_COMPLETE', 'another'
    found['changed'] = sorted(one.obj_what_changed())
    one.save()
    two.save()
    found['both are written'] = [get().status, get().name]
    found['not read again'] = two.status
    one.obj_reset_changes()
    one.save()
    found['reset is not written'] = get().name
    # The stand-in alone also refuses to set one.
    found['no such field'] = _error(getattr, one, 'nothing')
    found['updated'] = get().updated_at is not None
    found['groups'] = sorted(group.name for group in one.nodegroups)
    found['defaults'] = [one.default_ng_worker.name,
                         one.default_ng_master.name]
    found['counts'] = [one.node_count, one.master_count]
    group = objects.NodeGroup.list(admin, _uuid(2))[-1]
    same = next(one for one in objects.NodeGroup.list(admin, _uuid(2))
                if one.uuid == group.uuid)
    group.destroy()
    same.status = 'DELETE_FAILED'
    found['group that is gone'] = _error(same.save)
    found['groups left'] = len(objects.NodeGroup.list(admin, _uuid(2)))
    found['listed'] = [
        len(objects.Cluster.list(admin, filters={'status': statuses}))
        for statuses in (['CREATE_COMPLETE'], ['DELETE_COMPLETE'])]
    late = get()
    get().destroy()
    found['cluster that is gone'] = _error(get)
    late.status = 'UPDATE_FAILED'
    found['write to one that is gone'] = _error(late.save)
    return found


def _uuid(number):
    return str(uuid.UUID(int=number))


def _error(call, *args):
    try:
        call(*args)
    except Exception as e:
        return type(e).__name__
    return 'none'


if __name__ == '__main__':
    main()
