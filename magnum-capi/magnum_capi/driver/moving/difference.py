# SPDX-License-Identifier: Apache-2.0

"""The difference between two renderings of a chart, without secrets."""

import difflib

import yaml

from magnum_capi import redact

_SECRET_FIELDS = ('data', 'stringData')

#: In the place of a secret, and of one that changes.
_SAME, _NOW, _THEN = '<hidden>', '<hidden, as now>', '<hidden, another one>'

#: Name and version of the chart; charts put it on whatever they make
#: (https://helm.sh/docs/chart_best_practices/labels/).
_LABEL = 'helm.sh/chart'

_ONLY_SECRETS = '# What differs is secret'


def parse(text: str) -> list[dict]:
    """Objects in the YAML that Helm renders."""
    return [one for one in yaml.load_all(text, _Loader)
            if isinstance(one, dict) and one.get('kind')]


def difference(now: list[dict], then: list[dict]) -> str:
    """A unified difference, object by object.

    An object whose name ends with a hash is compared with the one that it
    takes the place of.

    :param now, then: of :func:`parse`.
    :returns: text, empty when both are the same.
    """
    old, new = _by_key(now), _by_key(then)
    gone = [key for key in old if key not in new]
    came = {key: _predecessor(key, gone, new, old)
            for key in new if key not in old}
    pairs = [(came.get(key, key), key) for key in new]
    pairs += [(key, None) for key in gone if key not in came.values()]
    alike = {key for key in old.keys() & new
             if _only_label(old[key], new[key])}
    lines = [line for one, other in pairs if other not in alike
             for line in _lines(one, old.get(one), other, new.get(other))]
    if alike:
        lines.append(f'# Objects in which only the label {_LABEL} differs: '
                     f'{len(alike)}')
    return '\n'.join(lines)


def _by_key(objects):
    return {(one['kind'], one['metadata'].get('name', '')): one
            for one in objects}


def _predecessor(key, gone, new, old):
    """The former holder of the name, but for its last part; None: unknown."""
    kind, stem = key[0], key[1].rpartition('-')[0]
    before, after = ([other for other in keys if other[0] == kind
                      and other[1].rpartition('-')[0] == stem]
                     for keys in (gone, [one for one in new
                                         if one not in old]))
    return before.pop() if stem and len(before) == len(after) == 1 else None


def _only_label(old, new):
    return old != new and _unlabelled(old) == _unlabelled(new)


def _unlabelled(found):
    """An object without the version of its chart."""
    metadata = found['metadata']
    labels = {key: value for key, value in (
        metadata.get('labels') or {}).items() if key != _LABEL}
    return {**found, 'metadata': {**metadata, 'labels': labels}}


def _lines(old_key, old, new_key, new):
    if old == new:
        return
    found = list(difflib.unified_diff(
        *_texts(old, new), _title(old_key, old), _title(new_key, new),
        lineterm=''))
    if not found:
        # The secret is elsewhere, where it was recognised.
        found = [f'--- {_title(old_key, old)}', f'+++ {_title(new_key, new)}',
                 _ONLY_SECRETS]
    yield from found


def _title(key, found):
    return '/dev/null' if found is None else '/'.join(key)


def _texts(old, new):
    old, new = _hidden(old, new, _NOW), _hidden(new, old, _THEN)
    return [redact.redact(yaml.dump(
        one, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=200
    )).splitlines() if one else [] for one in (old, new)]


def _hidden(found, other, changed):
    """An object without what a Secret holds."""
    if not found or found['kind'] != 'Secret':
        return found
    made = dict(found)
    for field in _SECRET_FIELDS:
        there = ((other or {}).get(field)) or {}
        if made.get(field):
            made[field] = {
                key: _SAME if there.get(key) == value else changed
                for key, value in made[field].items()}
    return made


class _Loader(getattr(yaml, 'CSafeLoader', yaml.SafeLoader)):
    """Leaves alone what only looks like a time."""


class _Dumper(getattr(yaml, 'CSafeDumper', yaml.SafeDumper)):
    """Shows texts of several lines as such."""

    def ignore_aliases(self, data):
        return True


def _text(dumper, text):
    return dumper.represent_scalar('tag:yaml.org,2002:str', text,
                                   style='|' if '\n' in text else None)


_Dumper.add_representer(str, _text)
_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs
            if pair[0] != 'tag:yaml.org,2002:timestamp']
    for first, pairs in _Loader.yaml_implicit_resolvers.items()}
