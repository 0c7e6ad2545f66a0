# SPDX-License-Identifier: Apache-2.0

"""The difference between two renderings of a chart, without secrets."""

import collections.abc
import difflib
import typing

import yaml

from magnum_capi.driver.adoption import secret_values
from magnum_capi.kube import kinds

_SECRET_FIELDS = ('data', 'stringData')

#: Replace secrets: one that stays, and both sides of one that changes.
_SAME = secret_values.HIDDEN
_NOW, _THEN = '<hidden, as now>', '<hidden, another one>'

#: Name and version of the chart; charts put it on every object
#: (https://helm.sh/docs/chart_best_practices/labels/).
_LABEL = 'helm.sh/chart'

_ONLY_SECRETS = '# What differs is secret'

#: Largest number of libyaml: no line is broken.
_WIDTH = 0x7fffffff

#: Kind and name of an object.
_Key: typing.TypeAlias = tuple[str, str]
_ByKey: typing.TypeAlias = dict[_Key, kinds.Object]


def difference(now: kinds.Objects, then: kinds.Objects) -> str:
    """A unified difference, object by object.

    An object whose name ends with a hash is compared with the one that it
    replaces.

    :param now, then: of :func:`.releases.parse`.
    :returns: text, empty when both are the same.
    """
    old, new = _by_key(now), _by_key(then)
    gone = [key for key in old if key not in new]
    came = {key: _predecessor(key, gone, new, old)
            for key in new if key not in old}
    pairs: list[tuple[_Key | None, _Key | None]] = [
        (came.get(key, key), key) for key in new]
    pairs += [(key, None) for key in gone if key not in came.values()]
    alike = {key for key in old.keys() & new
             if _only_label(old[key], new[key])}
    lines = [line for one, other in pairs if other not in alike
             for line in _lines(_of(one, old), _of(other, new))]
    if alike:
        lines.append(f'# Objects in which only the label {_LABEL} differs: '
                     f'{len(alike)}')
    return '\n'.join(lines)


def _by_key(objects: kinds.Objects) -> _ByKey:
    return {_key(one): one for one in objects}


def _key(found: kinds.Object) -> _Key:
    return found['kind'], found['metadata'].get('name', '')


def _of(key: _Key | None, objects: _ByKey) -> kinds.Object | None:
    return objects.get(key) if key else None


def _predecessor(key: _Key, gone: list[_Key], new: _ByKey,
                 old: _ByKey) -> _Key | None:
    """The replaced object, whose name differs at its end; None: unknown."""
    kind, stem = key[0], key[1].rpartition('-')[0]
    before, after = ([other for other in keys if other[0] == kind
                      and other[1].rpartition('-')[0] == stem]
                     for keys in (gone, [one for one in new
                                         if one not in old]))
    return before.pop() if stem and len(before) == len(after) == 1 else None


def _only_label(old: kinds.Object, new: kinds.Object) -> bool:
    return old != new and _unlabelled(old) == _unlabelled(new)


def _unlabelled(found: kinds.Object) -> kinds.Object:
    """An object without the version of its chart."""
    metadata = found['metadata']
    labels = {key: value for key, value in (
        metadata.get('labels') or {}).items() if key != _LABEL}
    return {**found, 'metadata': {**metadata, 'labels': labels}}


def _lines(old: kinds.Object | None, new: kinds.Object | None
           ) -> collections.abc.Iterator[str]:
    if old == new:
        return
    found = list(difflib.unified_diff(
        _text(_hidden(old, new, _NOW)), _text(_hidden(new, old, _THEN)),
        _title(old), _title(new), lineterm=''))
    if not found:
        # The difference is in what was hidden as a secret.
        found = [f'--- {_title(old)}', f'+++ {_title(new)}', _ONLY_SECRETS]
    yield from found


def _title(found: kinds.Object | None) -> str:
    return '/dev/null' if found is None else '/'.join(_key(found))


def _text(found: kinds.Object | None) -> list[str]:
    """Lines of an object."""
    if not found:
        return []
    return str(yaml.dump(
        found, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
        width=_WIDTH)).splitlines()


def _hidden(found: kinds.Object | None, other: kinds.Object | None,
            changed: str) -> kinds.Object | None:
    """An object without secret values and the contents of a Secret."""
    if not found:
        return found
    made: kinds.Object = secret_values.hide(found)
    for field in _SECRET_FIELDS if found['kind'] == 'Secret' else ():
        there = ((other or {}).get(field)) or {}
        if found.get(field):
            made[field] = {
                key: _SAME if there.get(key) == value else changed
                for key, value in found[field].items()}
    return made


#: The C version, if PyYAML has it.
_SafeDumper: typing.Any = getattr(yaml, 'CSafeDumper', yaml.SafeDumper)


class _Dumper(_SafeDumper):
    """Writes multi-line texts as blocks."""

    def ignore_aliases(self, data: typing.Any) -> bool:
        return True


def _scalar(dumper: typing.Any, text: str) -> typing.Any:
    return dumper.represent_scalar('tag:yaml.org,2002:str', text,
                                   style='|' if '\n' in text else None)


_Dumper.add_representer(str, _scalar)
