# SPDX-License-Identifier: Apache-2.0

"""Finds out by trial which ways of naming a driver a Magnum supports.

The trial names a driver that does not exist: where the name is evaluated,
Magnum refuses the cluster template with a matching error; otherwise the
template is created, and deleted again.
"""

from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import images

#: No driver and no operating system has this name.
NOBODY = 'k8s_nobody_wrote_it'


def counts_in_template(conf, magnum, cleanup) -> bool:
    """Return whether the field ``driver`` of a request is evaluated.

    :param cleanup: ``self.addCleanup`` of a test.
    :raises tempest.lib.exceptions.TempestException: refused for another
        reason, or not answered.
    """
    return _refused(magnum, cleanup, factories.template_body(
        conf, driver=NOBODY))


def counts_in_image(conf, manager, magnum, cleanup) -> bool:
    """Return whether the property ``magnum_driver`` of an image is evaluated.

    :param manager: tempest client manager of a user who may create images.
    :raises tempest.lib.exceptions.TempestException: as above.
    """
    client = manager.image_client_v2
    found = images.properties(images.find(client, conf.magnum_capi.image_id))
    tagged = images.create(
        client, cleanup, conf, {**found, 'magnum_driver': NOBODY})
    return _refused(magnum, cleanup, factories.template_body(
        conf, driver=None, image_id=tagged['id']))


def _refused(magnum, cleanup, body):
    try:
        template = magnum.templates.create_cluster_template(**body)
    except lib_exc.BadRequest as e:
        if NOBODY in str(e):
            return True
        raise
    cleanup(magnum.templates.delete_cluster_template, template['uuid'])
    return False
