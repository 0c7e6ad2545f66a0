# SPDX-License-Identifier: Apache-2.0

"""Which ways of naming a driver a Magnum has, found by trying them.

A driver is named that nobody has: where the name counts, Magnum refuses the
cluster template and says so; where it does not, the template is made, and
deleted again.
"""

from tempest.lib import exceptions as lib_exc

from magnum_capi_tempest.tests.common import factories
from magnum_capi_tempest.tests.common import images

#: Nobody registers a driver, and no operating system has the name.
NOBODY = 'k8s_nobody_wrote_it'


def counts_in_template(conf, magnum, cleanup) -> bool:
    """Return whether the field ``driver`` of a request counts.

    :param cleanup: ``self.addCleanup`` of a test.
    :raises tempest.lib.exceptions.TempestException: refused for another
        reason, or not answered.
    """
    return _refused(magnum, cleanup, factories.template_body(
        conf, driver=NOBODY))


def counts_in_image(conf, manager, magnum, cleanup) -> bool:
    """Return whether the property ``magnum_driver`` of an image counts.

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
