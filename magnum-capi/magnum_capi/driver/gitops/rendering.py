# SPDX-License-Identifier: Apache-2.0

"""What a cluster would be handed to the management cluster as, undone.

For those who apply with Flux or Argo: the values of a chart, and what Helm
makes of them. Application credentials and certificates are not in it: both
name Secrets, which somebody else has to make.
"""

import dataclasses
import typing

from magnum_capi.driver.desired import names
from magnum_capi.driver.desired import rows as rows_module
from magnum_capi.driver import gather


@dataclasses.dataclass(frozen=True)
class Rendered:
    """A cluster, ready to be applied.

    :param chart: settings.Chart.
    :param values: of the chart.
    :param credentials: name of the Secret with ``clouds.yaml`` and perhaps
        ``cacert``, in ``namespace``.
    :param proxies: name of the Secret with the file for proxies that have a
        password, see node_files; None: there are none.
    """

    release: str
    namespace: str
    chart: object
    values: typing.Mapping
    credentials: str
    proxies: str | None = None


def render(template, cluster, groups, cloud, settings, *, creating=True,
           defaults=gather.Defaults()) -> Rendered:
    """Make the values of a cluster.

    :param template, cluster, groups: of description.read, or Magnum's rows.
    :param cloud: openstack.Cloud, or alike.
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
        plan.proxies and plan.proxies.secret)


def manifests(rendered, helm) -> str:
    """What Helm makes of it, YAML text. Needs no management cluster.

    :param helm: helm.Helm.
    :raises helm_errors.HelmFailed: the chart refuses, or is not there.
    """
    return helm.template(rendered.release, rendered.chart, rendered.values,
                         rendered.namespace)
