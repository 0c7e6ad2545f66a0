# SPDX-License-Identifier: Apache-2.0

"""Reads the labels of templates, clusters and node groups, and merges them.

Magnum merges them once, when a cluster is created; :data:`MERGING` explains
how, and what this driver makes of it.
"""

import dataclasses
import difflib
import typing

from magnum_capi.driver.desired import label_registry
from magnum_capi.driver.desired import label_types
from magnum_capi.driver.desired import other_drivers
from magnum_capi.driver.desired import spec

Labels = label_registry.Labels
Scope = label_registry.Scope
REGISTRY = label_registry.REGISTRY

#: For users (reStructuredText); read in Magnum 23, api/controllers/v1/cluster
#: and nodegroup.
MERGING = """\
Magnum merges labels when a cluster is created. With ``a=1,b=2`` in the
template:

==========================  ===============  ==========================
Asked for                   The cluster has  Because
==========================  ===============  ==========================
no labels                   ``a=1,b=2``      the template's are copied
``b=3``                     ``b=3``          nothing is inherited
``b=3`` with merge_labels   ``a=1,b=3``      the cluster's win
==========================  ===============  ==========================

Node groups get the cluster's labels in the same way. Nothing is copied later:
after an upgrade to another template a cluster keeps its labels. Labels that
only a template may set are read from the present template, so
``kube_tag=v1.35.0`` of the new template counts, and not the copy
``kube_tag=v1.34.2`` in the cluster.
"""

#: Older names of labels, and the present ones.
_OLDER = {'extra_network_name': 'extra_network_names',
          'etcd_volume_size': 'etcd_blockdevice_size',
          'etcd_volume_type': 'etcd_blockdevice_volume_type'}
_LONGEST_SHOWN = 80

#: Labels as Magnum has them.
Texts: typing.TypeAlias = typing.Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Policy:
    """An operator's options about labels.

    :param defaults: values of labels that are not set.
    :param ignored: names to accept without effect, so that templates of
        another driver can be used unchanged.
    """

    defaults: Texts = dataclasses.field(default_factory=dict)
    ignored: frozenset[str] = frozenset()


def documentation() -> str:
    """All labels as a list-table, and how they are merged."""
    return f'{label_registry.documentation()}\n{MERGING}'


def parse(labels: Texts, policy: Policy = Policy()) -> Labels:
    """Read labels; all of them or none.

    :param labels: from :func:`merged`.
    :raises spec.InvalidSpec: with every problem, not only the first.
    """
    problems: list[str] = []
    given = _layer(labels, policy.ignored, problems)
    values = _layer(policy.defaults, policy.ignored, problems) | given
    problems += _contradictions(values)
    if problems:
        raise spec.InvalidSpec(problems)
    return Labels(given=frozenset(given), **values)


def merged(cluster: Texts | None, template: Texts | None) -> dict[str, str]:
    """The effective labels of a cluster.

    They are the cluster's own, as Magnum merged them, and those of its present
    template that only a template may set.

    Example: a cluster was made from a template with ``kube_tag=v1.34.2`` and
    upgraded to one with ``kube_tag=v1.35.0``. Magnum keeps the copy v1.34.2
    in the cluster; v1.35.0 counts.
    """
    own = {k: v for k, v in (cluster or {}).items() if not _of_template(k)}
    return own | {
        k: v for k, v in (template or {}).items() if _of_template(k)}


def misplaced(cluster: Texts | None,
              template: Texts | None) -> tuple[str, ...]:
    """Problems of a new cluster: labels that only its template may carry.

    Magnum's copies of the template's labels are allowed. ``kube_tag`` may be
    set in both if it is correct (validation.check). Not for upgraded clusters,
    whose copies are those of an older template.
    """
    return tuple(
        f'label {name}: only the template may set it, the cluster asks for '
        f'{_cut(text)}' for name, text in sorted((cluster or {}).items())
        if _of_template(name) and name != 'kube_tag'
        and (template or {}).get(name) != text)


def node_group(labels: Labels, group: Texts | None, cluster: Texts | None,
               policy: Policy = Policy()) -> Labels:
    """Labels of a node group.

    Labels that a node group may override are read from its own, as Magnum
    copied or merged them; the rest are the cluster's.

    :param labels: the cluster's, read.
    :param group: the node group's.
    :param cluster: the cluster's, as Magnum has them.
    :raises spec.InvalidSpec: a label is invalid, or differs although it
        applies to the whole cluster.
    """
    group, cluster = group or {}, cluster or {}
    problems = [
        f'label {name}: it applies to a whole cluster, a node group cannot '
        f'have its own value {_cut(text)}'
        for name, text in sorted(group.items())
        if name in REGISTRY and not _of_node_group(name)
        and cluster.get(name) != text]
    try:
        read = parse({
            name: text for name, text in group.items()
            if _of_node_group(name) or name not in REGISTRY}, policy)
    except spec.InvalidSpec as e:
        problems += e.problems
    if problems:
        raise spec.InvalidSpec(problems)
    own = {name: getattr(read, name) for name in REGISTRY
           if _of_node_group(name)}
    given = {n for n in labels.given if not _of_node_group(n)} | read.given
    return dataclasses.replace(labels, given=frozenset(given), **own)


def _layer(labels: Texts | None, ignored: frozenset[str],
           problems: list[str]) -> dict[str, typing.Any]:
    """Values of one layer, under the present names of labels."""
    values: dict[str, typing.Any] = {}
    older: dict[str, typing.Any] = {}
    for name, text in sorted((labels or {}).items()):
        if name in REGISTRY:
            try:
                (older if name in _OLDER else values)[name] = _read(name, text)
            except ValueError as e:
                problems.append(str(e))
        elif name not in ignored:
            problems.append(_unknown(name))
    for name, value in older.items():
        if values.setdefault(_OLDER[name], value) != value:
            problems.append(
                f'label {name}: it is an older name of {_OLDER[name]}, and '
                'both are set, to different values')
    return values


def _of_template(name: str) -> bool:
    return (name in REGISTRY
            and REGISTRY[name].metadata['scope'] is Scope.TEMPLATE)


def _of_node_group(name: str) -> bool:
    return (name in REGISTRY
            and REGISTRY[name].metadata['scope'] is Scope.NODE_GROUP)


def _read(name: str, text: str) -> typing.Any:
    kind: label_types.LabelType = REGISTRY[name].metadata['kind']
    try:
        return kind.read(str(text))
    except ValueError as e:
        why = f' ({e})' if str(e) else ''
        raise ValueError(f'label {name}: {_cut(text)}{why} is not accepted, '
                         f'only {kind.form}') from None


def _unknown(name: str) -> str:
    refusal = other_drivers.refusal(name)
    if refusal:
        return refusal
    near = difflib.get_close_matches(name, REGISTRY, n=1)
    hint = f', perhaps {near[0]} is meant' if near else ''
    return (f'label {_cut(name)}: this driver has no such label{hint}; see '
            'its documentation for the accepted ones')


def _contradictions(values: typing.Mapping[str, typing.Any]
                    ) -> typing.Iterator[str]:
    low, high = values.get('min_node_count'), values.get('max_node_count')
    if low is not None and high is not None and high < low:
        yield (f'label max_node_count: {high} is less than min_node_count '
               f'{low}')
    if 0 < values.get('certificates_expiry_days', 0) < 7:
        # The webhook of KubeadmControlPlane requires this.
        yield ('label certificates_expiry_days: it must be 0, or from 7 to '
               '364')
    if values.get('manila_csi_enabled') and not values.get(
            'manila_csi_share_type'):
        yield ('label manila_csi_enabled: it requires '
               'manila_csi_share_type, which is not set')
    if ('oidc_issuer_url' in values) != ('oidc_client_id' in values):
        yield ('label oidc_issuer_url: it goes with oidc_client_id, but only '
               'one of them is set')
    if (values.get('octavia_provider') == 'ovn' and values.get(
            'octavia_lb_algorithm', 'SOURCE_IP_PORT') != 'SOURCE_IP_PORT'):
        yield ('label octavia_lb_algorithm: the provider ovn only supports '
               'SOURCE_IP_PORT')


def _cut(text: str) -> str:
    shown = repr(str(text))
    if len(shown) <= _LONGEST_SHOWN:
        return shown
    return f"{shown[:_LONGEST_SHOWN]}...'"
