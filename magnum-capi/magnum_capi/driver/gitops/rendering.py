# SPDX-License-Identifier: Apache-2.0

"""Renders what a cluster would be in the management cluster.

For users of Flux or Argo: the values of a chart, and the manifests that Helm
renders from them. Application credentials and certificates are not included:
both refer to Secrets, which must be created by other means.
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
    """A rendered cluster.

    :param values: of the chart.
    :param credentials: name of the Secret with ``clouds.yaml`` and perhaps
        ``cacert``, in ``namespace``.
    :param proxies: name of the Secret with the file for proxies that have a
        password, see node_files; None: there are none.
    :param registries: name of the Secret with CA certificates and logins of
        registries; None: there are none.
    :param server_groups: names of Nova's server groups that the driver would
        create.
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

    :param template, cluster, groups: from description.read, or Magnum's rows.
    :param creating: whether the cluster is new.
    :raises: see gather.plan.
    """
    plan = gather.plan(
        rows_module.Rows(cluster, tuple(groups), template,
                         gather.policy(settings), settings.scale_from_zero),
        cloud, settings, creating=creating, joining=None if creating else (),
        defaults=defaults)
    release = plan.spec.release
    return Rendered(
        release, names.namespace(cluster.project_id,
                                 settings.namespace_prefix),
        plan.chart, plan.values, names.credentials(release),
        plan.proxies.secret if plan.proxies else None,
        plan.registries.registries.secret,
        tuple(group.name for group in plan.unplaced.values()))


def manifests(rendered: Rendered, helm: helm_module.Helm) -> str:
    """The manifests that Helm renders, YAML text. Needs no management cluster.

    :raises helm_errors.HelmFailed: the chart refuses, or does not exist.
    """
    return helm.template(rendered.release, rendered.chart, rendered.values,
                         rendered.namespace)
