# SPDX-License-Identifier: Apache-2.0

"""What a cluster would be handed to the management cluster as, undone.

For those who apply with Flux or Argo: the values of a chart, and what Helm
makes of them. Application credentials and certificates are not in it: both
name Secrets, which somebody else has to make.
"""

import dataclasses
import typing

from magnum_capi.driver.cloud import openstack
from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import gather
from magnum_capi.driver.gitops import described_cloud
from magnum_capi.driver.helm import helm as helm_module
from magnum_capi.driver import settings as settings_module


@dataclasses.dataclass(frozen=True)
class Rendered:
    """A cluster, ready to be applied.

    :param values: of the chart.
    :param credentials: name of the Secret with ``clouds.yaml`` and perhaps
        ``cacert``, in ``namespace``.
    :param proxies: name of the Secret with the file for proxies that have a
        password, see node_files; None: there are none.
    :param registries: name of the Secret with authorities and log-ins of
        registries; None: there are none.
    :param server_groups: of Nova, that the driver would make.
    """

    release: str
    namespace: str
    chart: settings_module.Chart
    values: helm_module.Values
    credentials: str
    proxies: str | None = None
    registries: str | None = None
    server_groups: tuple[str, ...] = ()


def render(template: typing.Any, cluster: typing.Any,
           groups: typing.Iterable[typing.Any],
           cloud: openstack.Cloud | described_cloud.DescribedCloud,
           settings: settings_module.Settings, *, creating: bool = True,
           defaults: gather.Defaults = gather.Defaults()) -> Rendered:
    """Make the values of a cluster.

    :param template, cluster, groups: of description.read, or Magnum's rows.
    :param creating: whether the cluster is a new one.
    :raises: as gather.plan.
    """
    plan = gather.plan(
        rows_module.Rows(cluster, tuple(groups), template,
                         gather.policy(settings), settings.scale_from_zero),
        cloud, settings, creating=creating, defaults=defaults)
    release = plan.spec.release
    return Rendered(
        release, names.namespace(cluster.project_id,
                                 settings.namespace_prefix),
        plan.chart, plan.values, names.credentials(release),
        plan.proxies.secret if plan.proxies else None,
        plan.registries.registries.secret,
        tuple(group.name for group in plan.unplaced.values()))


def manifests(rendered: Rendered, helm: helm_module.Helm) -> str:
    """What Helm makes of it, YAML text. Needs no management cluster.

    :raises helm_errors.HelmFailed: the chart refuses, or is not there.
    """
    return helm.template(rendered.release, rendered.chart, rendered.values,
                         rendered.namespace)
