# SPDX-License-Identifier: Apache-2.0
"""Moves a cloud to another driver: makes new templates, hides old ones.

Clusters stay with their driver; ``driver adopt`` hands over those of
magnum-capi-helm. A template stays visible while it has clusters: Magnum 23.0.0
does not show a hidden public template to users (get_cluster_template_by_uuid
of magnum/db/sqlalchemy/api.py), so the owners of its clusters would get 404
for the list of all their clusters, and resizing or deleting one would do
nothing.
"""

import collections
import collections.abc
import dataclasses
import typing

from openstack.container_infrastructure_management.v1 import cluster
from openstack import exceptions
from openstack import proxy

from magnum_capi.discovery import cloud
from magnum_capi.discovery import translate

#: As Magnum shows it.
Stored = collections.abc.Mapping[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Step:
    """What to do about one template of the old driver.

    :param new: the translation of a public template for the new driver; None
        for a private one, which its project has to translate.
    :param made: whether the new template exists.
    :param used: number of clusters; the template is hidden when it is 0.
    """

    old: Stored
    new: translate.Translation | None = None
    made: bool = False
    used: int = 0

    @property
    def text(self) -> str:
        """What is to be done."""
        if self.new is None:
            return f'private: project {self.old["project_id"]} moves it'
        hide = (f'hide it after its {self.used} clusters' if self.used
                else 'hide it')
        return (hide if self.made else
                f'make {self.new.template["name"]}, {hide}')

    @property
    def lost(self) -> str:
        """Names of the fields and labels that the new one does not have."""
        return ', '.join(row.name for row in self.new.lost
                         ) if self.new else ''


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is left of the old driver.

    :param steps: for templates that new clusters can be made of.
    :param clusters: (uuid, name, name of the template).
    """

    steps: tuple[Step, ...]
    clusters: tuple[tuple[str, str, str], ...]


def plan(templates: collections.abc.Sequence[Stored],
         clusters: collections.abc.Iterable[Stored], old: str, new: str,
         judge: translate.Judge, proxies: bool) -> Plan:
    """Plan the move from one driver to another; pure.

    :param templates: all of a cloud, including hidden ones.
    :param clusters: all of a cloud.
    :param old: name of a driver; templates without a driver are left alone.
    :param judge, proxies: see :func:`.translate.translate`.
    """
    public = {t['name'] for t in templates
              if t.get('driver') == new and t.get('public')}
    mine = {t['uuid']: t for t in templates if t.get('driver') == old}
    clusters = [c for c in clusters if c['cluster_template_id'] in mine]
    used = collections.Counter(c['cluster_template_id'] for c in clusters)
    steps = []
    for template in mine.values():
        if template.get('hidden'):
            continue
        if not template.get('public'):
            steps.append(Step(template))
            continue
        found = translate.translate(template, new, judge,
                                    template['image_id'], proxies)
        steps.append(Step(template, found, found.template['name'] in public,
                          used[template['uuid']]))
    return Plan(tuple(steps), tuple(
        (c['uuid'], c['name'], mine[c['cluster_template_id']]['name'])
        for c in clusters))


def connect(name: str | None) -> proxy.Proxy:
    """Magnum of a cloud; call within :func:`.cloud.explained`.

    :raises EnvironmentProblem: the cloud has none.
    """
    return typing.cast(proxy.Proxy, cloud.service(
        cloud.connect(name), 'container_infrastructure_management',
        'Magnum', name))


def read(magnum: proxy.Proxy) -> tuple[list[Stored], list[Stored]]:
    """All templates and clusters that an administrator is shown."""
    templates, clusters = (
        [found.to_dict(computed=False, original_names=True)
         for found in cloud.listed(magnum, kind)]
        for kind in (cloud.Template, cluster.Cluster))
    return templates, clusters


def carry_out(magnum: proxy.Proxy, step: Step) -> None:
    """Make the new template, if it is missing; hide the old one, if unused.

    :raises HttpException: Magnum refused; earlier steps stay, and a new plan
        continues from there.
    """
    if step.new is None:
        return
    if not step.made:
        exceptions.raise_from_response(
            magnum.post('/clustertemplates', json=step.new.template))
    if not step.used:
        exceptions.raise_from_response(magnum.patch(
            f'/clustertemplates/{step.old["uuid"]}',
            json=[{'op': 'replace', 'path': '/hidden', 'value': 'True'}]))
