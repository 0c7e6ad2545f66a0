# SPDX-License-Identifier: Apache-2.0
"""The files and environment variables that give access to a sandbox."""

import collections.abc
import json
import pathlib
import shlex
import sys

import yaml

from magnum_capi import driver_info
from magnum_capi import outfile
from magnum_capi_sandbox.cloud import configuration
from magnum_capi_sandbox import layout as layouts
from magnum_capi_sandbox import nodes
from magnum_capi_sandbox import options as magnum_options
from magnum_capi_sandbox import spec
from magnum_capi_tempest import promises
from magnum_capi_tempest import resources


#: What clusters of servers promise, and no sandbox can keep.
_VOLUMES = 'network.service.volume'
#: The same without pods.
_SERVICES = 'network.service'


def write(layout: layouts.Layout, passwords: collections.abc.Mapping[str, str]
          ) -> None:
    """Write clouds.yaml; the kubeconfig is the management cluster's own."""
    outfile.write_private(
        layout.directory / 'clouds.yaml',
        configuration.render('clouds.yaml', layout=layout,
                             passwords=passwords))


def variables(layout: layouts.Layout, venv: pathlib.Path,
              made_of: nodes.Nodes = nodes.Nodes()) -> dict[str, str]:
    """Environment variables that select this sandbox.

    The clouds are ``sandbox`` (user demo, role member) and
    ``sandbox-admin``.

    :param made_of: what the nodes of its clusters are.
    """
    authority = {'OS_CACERT': str(layout.authority)} \
        if layout.authority else {}
    return of_nodes(made_of) | authority | {
        'OS_CLIENT_CONFIG_FILE': str(layout.directory / 'clouds.yaml'),
        'OS_CLOUD': 'sandbox',
        'KUBECONFIG': str(layout.kubeconfig),
        'TEMPEST_CONFIG_DIR': str(layout.directory / 'tempest' / 'etc'),
        'SANDBOX_OPENSTACK': str(venv / 'bin' / 'openstack'),
        'SANDBOX_MAGNUM_CAPI': str(layout.magnum_env / 'bin/magnum-capi'),
        'SANDBOX_MAGNUM_CONF': str(layout.magnum_conf[0]),
        'SANDBOX_MAGNUM_CONF_DIR': str(layout.magnum_conf[1]),
    }


def beside_proxy(layout: layouts.Layout,
                 shell: collections.abc.Mapping[str, str]) -> dict[str, str]:
    """Environment variables with which no proxy is asked for the sandbox.

    :param shell: the variables of the user's shell; without a proxy none is
        needed.
    """
    if not any(name.lower().endswith('_proxy') for name in shell):
        return {}
    known = shell.get('no_proxy') or shell.get('NO_PROXY') or ''
    words = [word for word in known.split(',') if word]
    words += [network for network in (
        layout.management.workload_network, layout.external_network)
        if network not in words]
    # Python prefers the one, Go (kubectl) the other.
    return dict.fromkeys(('no_proxy', 'NO_PROXY'), ','.join(words))


def of_nodes(made_of: nodes.Nodes) -> dict[str, str]:
    """Environment variables that describe the nodes.

    ``MAGNUM_CAPI_IMAGES`` makes every conformance report say which images
    it used. ``DOCKER_HOST`` is not set: the user's own Docker may be another
    one by now.
    """
    found = {}
    if made_of.real:
        found['SANDBOX_DOCKER_HOST'] = made_of.docker
    if made_of.stand_ins:
        found['MAGNUM_CAPI_IMAGES'] = 'stand-in'
    return found


def _not_of_magnum(
        layout: layouts.Layout, wanted: spec.Spec, promise: str) -> set[str]:
    """Ids of what Magnum does not promise here, whatever the driver.

    :param wanted: :class:`.spec.Spec`.
    :param promise: see :class:`.tempest_run.Order`.
    """
    release = wanted.release
    # The two modes of the filter make opposite promises.
    first = magnum_options.value(
        layout.magnum_conf[1], 'k8s_discovery', 'mode') == 'hibiscus'
    asked = promise in ('discovery', 'all')
    found = {*promises.not_of_magnum(
        release.microversion, filtered=wanted.discovery_filter or asked,
        takes_first=first)}
    if release.version >= 22:
        # It has the microversion of Magnum 21.
        found -= {'magnum.cluster.failed-polled'}
    if asked:
        # What no filter in front of Magnum can do.
        found = {one for one in found if not one.startswith('discovery.')
                 or promises.of_magnum()[one].filter}
    if promise == 'all':
        # Defects of the REST API itself.
        found = {one for one in found if one.startswith('discovery.')
                 or promises.of_magnum()[one].since}
    return found


def configure_command(layout: layouts.Layout) -> str:
    """A command line that changes Magnum's configuration.

    The caller appends ``GROUP.OPTION=VALUE`` arguments.
    """
    return shlex.join([
        sys.executable, '-m', 'magnum_capi.cli.main', 'sandbox',
        'set', '--directory', str(layout.directory)])


def _not_of_driver(
        described: driver_info.Description | None, promise: str) -> set[str]:
    """Ids of what a driver does not promise, or is known to break."""
    if not described:
        return set()
    issues = described.known_issues if promise in (
        'kept', 'discovery') else ()
    return {*described.unsupported, *issues}


def _not_of_nodes(wanted: spec.Spec) -> set[str]:
    """Ids of what the nodes cannot do."""
    if not wanted.openstack:
        return set()
    return {_VOLUMES if wanted.machines.real else _SERVICES}


def _of_driver(described: driver_info.Description | None,
               discovery_filter: bool) -> dict[str, str]:
    """Options of [magnum_capi] that the tests of a driver need."""
    found = dict(described.tempest) if described else {}
    if discovery_filter:
        # The filter gives every template a driver.
        found.pop('nameless_os_distro', None)
    return found


def of_clash() -> dict[str, str]:
    """Fields of a discovery fixture for the drivers of ``--clash``."""
    path = resources.find(spec.CLASH) / 'discovery_fixture.yaml'
    found: dict[str, str] = yaml.safe_load(path.read_text(encoding='utf-8'))
    return found


def tempest_config(layout: layouts.Layout,
                   passwords: collections.abc.Mapping[str, str],
                   wanted: spec.Spec, driver: str | None = None,
                   third_party: bool = False, promise: str = 'kept',
                   options: collections.abc.Sequence[tuple[str, str]] = (),
                   artifact_dir: pathlib.Path | None = None,
                   described: driver_info.Description | None = None) -> str:
    """Text of a tempest.conf for this sandbox.

    :param wanted: its :class:`.spec.Spec`.
    :param driver: name of the Magnum driver that templates ask for.
    :param third_party: also configure magnum-tempest-plugin.
    :param promise: see :class:`.tempest_run.Order`, like options.
    :param artifact_dir: folder for evidence.
    :param described: driver_info.Description of the driver under test.
    """
    seeded = json.loads((layout.directory / 'seeded.json').read_text())
    made_of = wanted.machines
    images = [*map(nodes.image_name, made_of.kubernetes)] or [
        'ubuntu-capi', 'ubuntu-capi-1.35']
    return configuration.render(
        'tempest.conf', layout=layout, passwords=passwords, driver=driver,
        third_party=third_party, artifact_dir=artifact_dir,
        not_promised=sorted(
            _not_of_magnum(layout, wanted, promise)
            | _not_of_driver(described, promise) | _not_of_nodes(wanted)),
        options={**_of_driver(described, wanted.discovery_filter),
                 **dict(options)},
        configure_command=configure_command(layout),
        workspace=layout.directory / 'tempest',
        nodes=made_of, real=made_of.real, servers=wanted.openstack,
        image_id=seeded['images'][images[0]],
        upgrade_image=images[1] if len(images) > 1 else None,
        network_id=seeded['networks']['public'])
