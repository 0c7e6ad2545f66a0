# SPDX-License-Identifier: Apache-2.0

"""By what a driver's clusters are recognized. Pure.

A driver's description declares its mark (``mark`` in magnum-capi.yaml):

``stack_id``
  regular expression for Magnum's ``stack_id``;
``objects``
  what every operation leaves in the management cluster;
``deletion``
  what the driver writes into a Secret, before it deletes the ``objects``.

The last two are pairs of "KIND/NAME" and a regular expression. The name is a
regular expression, too, in which ``{stack_id}`` stands for that of the
cluster. The other must be found in each such object, as JSON with sorted keys,
whose Secrets are decoded; of a Helm release only the values count.
"""

import collections.abc
import dataclasses
import json
import re

from magnum_capi_tempest.evidence import helm
from magnum_capi_tempest import json_types
from magnum_capi_tempest.kubeclient import kube


@dataclasses.dataclass(frozen=True)
class Mark:
    """The mark of a driver; see above."""

    driver: str
    stack_id: str = ''
    objects: dict[str, str] = dataclasses.field(default_factory=dict)
    deletion: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def kinds(self) -> set[str]:
        """Kinds of its objects."""
        return {where.partition('/')[0] for where in self.objects}

    def lacks(
            self,
            stack_id: str,
            objects: collections.abc.Iterable[
                tuple[str, json_types.Object]] | None = None) -> list[str]:
        """Return how a cluster lacks this mark, one line each.

        :param objects: pairs of kind and object of the management cluster;
            None: it cannot be read.
        """
        found = []
        if self.stack_id and not re.fullmatch(self.stack_id, stack_id):
            found.append(f'its stack_id {stack_id} is not {self.stack_id}')
        if objects is None:
            return found
        for where, pattern in self.objects.items():
            its = [(kind, obj) for kind, obj in objects
                   if _is(where, kind, obj, stack_id)]
            if not its:
                found.append(f'there is no {_filled(where, stack_id)}')
            found += [f'{kind} {obj["metadata"]["name"]} has no {pattern}'
                      for kind, obj in its
                      if not re.search(pattern, text(kind, obj))]
        return found

    def lacks_deletion(
            self, stack_id: str,
            changes: collections.abc.Sequence[tuple[str, json_types.Object]]
    ) -> list[str]:
        """Return how a deletion lacks this mark, one line each.

        :param changes: of the cluster's Secrets: pairs of ADDED, MODIFIED or
            DELETED and the Secret, in order.
        """
        return [
            f'{_filled(where, stack_id)} did not get {pattern} first'
            for where, pattern in self.deletion.items()
            if not self._came_first(where, pattern, stack_id, changes)]

    def _came_first(
            self, where: str, pattern: str, stack_id: str,
            changes: collections.abc.Sequence[tuple[str, json_types.Object]]
    ) -> bool:
        for how, obj in changes:
            if (how != 'DELETED' and _is(where, 'Secret', obj, stack_id)
                    and re.search(pattern, text('Secret', obj))):
                return True
            if any(_is(other, 'Secret', obj, stack_id)
                   for other in self.objects):
                return False
        return False


def text(kind: str, obj: json_types.Object) -> str:
    """Return an object as the text in which a mark is searched.

    It may contain secrets.
    """
    data = obj.get('data')
    if kind == 'Secret' and data:
        if obj['metadata']['name'].startswith('sh.helm.release.v1.'):
            try:
                data = helm.decode(obj).get('config')
            except helm.BROKEN:
                data = None
        else:
            data = {key: _meaning(kube.secret_text(value))
                    for key, value in data.items()}
        obj = {**obj, 'data': data}
    return json.dumps(obj, sort_keys=True, ensure_ascii=False)


def _meaning(text: str | None) -> object:
    """Return a text, or what it means if it is JSON."""
    try:
        return text and json.loads(text)
    except (ValueError, RecursionError):
        return text


def _is(where: str, kind: str, obj: json_types.Object, stack_id: str) -> bool:
    wanted, _, name = _filled(where, stack_id).partition('/')
    return kind == wanted and bool(
        re.fullmatch(name, obj['metadata']['name']))


def _filled(where: str, stack_id: str) -> str:
    return where.replace('{stack_id}', re.escape(stack_id))
