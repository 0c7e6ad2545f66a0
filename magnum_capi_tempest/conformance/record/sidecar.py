# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""A Result as JSON, beside the archive that it was read from.

To read a big archive takes a second, to read this takes milliseconds: who
retrieves an archive writes it, who shows or compares results finds it.

It is keyed by the archive's SHA-256 and bound to the very file that had it:
device, inode, size, times of change. Nobody can set the time of a file's
status, so a sidecar that came along with somebody's archive fits no file of
this machine, and an archive that was replaced, moved or touched is read
again. It says what was found and never what that is worth: the verdict is
given anew.
"""

import dataclasses
import datetime
import json
import math
import pathlib

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.record import beside
from magnum_capi_tempest.conformance.record import damage
from magnum_capi_tempest import texts

#: Of what :func:`to_json` writes; another one is not read.
FORMAT = 'magnum-capi-conformance-result/1'
#: Bytes of a sidecar that are read; a run of 7144 specs has 1 MB.
_MOST = 64 << 20
_STATUSES = frozenset(model.STATUSES)


def to_json(result, stamp=None) -> str:
    """A Result as a JSON document.

    :param stamp: what binds it to a file, kept under ``archive``.
    """
    plain = {field.name: getattr(result, field.name)
             for field in dataclasses.fields(result)}
    plain['started'] = (result.started.isoformat() if result.started
                        else None)
    plain['specs'] = [_bare(spec) for spec in result.specs]
    for name in ('suite_nodes', 'infra_errors'):
        plain[name] = [_bare(item) for item in plain[name]]
    plain['plugins'] = [{'name': p.name, 'status': p.status,
                         'counts': dict(p.counts)} for p in result.plugins]
    plain['cluster'] = _bare(result.cluster)
    plain['facts'] = dict(result.facts)
    return json.dumps({'format': FORMAT, 'archive': stamp or {},
                       'result': plain}, ensure_ascii=False,
                      separators=(',', ':'))


def from_json(text) -> model.Result:
    """The Result that a document holds.

    :raises Damage: it is no such document.
    """
    return _result(_document(text))


def write(result, archive) -> pathlib.Path:
    """Write the sidecar of an archive, whole or not at all.

    :param result: read from the whole archive just now.
    :raises Damage: the result is not of that archive, or was not read to
        the archive's end.
    """
    archive = pathlib.Path(archive)
    if not (result.whole and result.sha256):
        raise damage.Damage('Only a result of a whole archive is kept',
                            where=archive)
    target = beside.path(archive)
    draft = target.with_name(f'.{target.name}.part')
    try:
        stamp = {'sha256': result.sha256, **_stamp(archive)}
        draft.touch(mode=0o600)
        draft.write_text(to_json(result, stamp), encoding='utf-8')
        draft.replace(target)
    except OSError as e:
        draft.unlink(missing_ok=True)
        raise damage.Damage(f'Cannot keep the result: {e.strerror}',
                            where=target) from e
    return target


def load(archive, expect_sha256=None) -> model.Result | None:
    """The Result of an archive from its sidecar.

    :param expect_sha256: hex digest that the archive must have had.
    :returns: None when there is no sidecar, or one of another file.
    :raises Damage: a sidecar is there and is none.
    """
    archive = pathlib.Path(archive)
    target = beside.path(archive)
    try:
        if target.stat().st_size > _MOST:
            raise damage.Damage('It is too big to be a sidecar',
                                where=target)
        text = target.read_bytes()
        stamp = _stamp(archive)
    except OSError:
        return None
    try:
        document = _document(text)
        said = document['archive']
        sha256 = said.get('sha256')
        if ({key: said.get(key) for key in stamp} != stamp
                or expect_sha256 not in (None, sha256)):
            return None
        result = _result(document)
    except damage.Damage as e:
        e.where = target
        e.hint = 'Delete it; the archive is read again then'
        raise
    if result.sha256 != sha256:
        return None
    return dataclasses.replace(result, source=str(archive))


def _stamp(archive):
    info = archive.stat()
    return {'device': info.st_dev, 'inode': info.st_ino,
            'size': info.st_size, 'mtime_ns': info.st_mtime_ns,
            'ctime_ns': info.st_ctime_ns}


def _bare(item):
    """Fields of a flat dataclass that are not their default."""
    return {field.name: value for field in dataclasses.fields(item)
            if (value := getattr(item, field.name)) != field.default}


def _document(text):
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise damage.Damage('The sidecar is no JSON',
                            last_seen=str(e)) from e
    if not isinstance(document, dict) or document.get('format') != FORMAT:
        raise damage.Damage('It is no sidecar of this version')
    if not isinstance(document.get('archive'), dict):
        raise damage.Damage('The sidecar is not complete')
    return document


def _result(document):
    plain = document.get('result')
    try:
        plain = dict(plain)
        plain['specs'] = tuple(_spec(item) for item in plain['specs'])
        plain['suite_nodes'] = tuple(
            _checked(model.SuiteNode, item) for item in plain['suite_nodes'])
        plain['infra_errors'] = tuple(
            _checked(model.InfraError, item)
            for item in plain['infra_errors'])
        plain['plugins'] = tuple(_plugin(item) for item in plain['plugins'])
        cluster = {**plain['cluster']}
        cluster['nodes'] = tuple(map(_line, cluster.get('nodes', ())))
        plain['cluster'] = model.Cluster(**{
            key: value if key == 'nodes' else _line(value)
            for key, value in cluster.items()})
        plain['problems'] = tuple(map(_line, plain['problems']))
        plain['signs'] = tuple(map(_line, plain.get('signs', ())))
        plain['facts'] = {_line(k): _line(v)
                          for k, v in plain['facts'].items()}
        plain['seconds'] = _number(plain['seconds'])
        if plain['started'] is not None:
            plain['started'] = datetime.datetime.fromisoformat(
                plain['started'])
        for key in ('verified', 'suite_finished', 'whole',
                    'stand_in_images'):
            if not isinstance(plain[key], bool):
                raise TypeError(f'{key} is no boolean')
        if plain['mode'] not in model.MODES:
            raise ValueError('an unknown mode')
        if not isinstance(plain['planned'], int | None):
            raise TypeError('planned is no number')
        for key in ('title', 'source', 'backend', 'backend_version',
                    'sha256'):
            plain[key] = _line(plain[key])
        return model.Result(**plain)
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise damage.Damage('The sidecar is not complete',
                            last_seen=f'{type(e).__name__}: {e}') from e


def _spec(item):
    spec = _checked(model.Spec, item)
    if spec.status not in _STATUSES:
        raise ValueError('an unknown status')
    _number(spec.seconds)
    return spec


def _checked(kind, item):
    """A flat dataclass whose texts are texts, cleaned."""
    return kind(**{key: value if key == 'seconds' else _line(value)
                   for key, value in item.items()})


def _plugin(item):
    counts = {_line(key): int(value)
              for key, value in item['counts'].items()}
    return model.PluginResult(_line(item['name']), _line(item['status']),
                              counts)


def _line(value):
    if not isinstance(value, str):
        raise TypeError('a text is none')
    return texts.clean(value)


def _number(value):
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or (
            not math.isfinite(value)):
        raise TypeError('a number is none')
    return value
