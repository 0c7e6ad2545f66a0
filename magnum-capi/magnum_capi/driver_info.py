# SPDX-License-Identifier: Apache-2.0

"""A Magnum driver's description of itself: ``magnum-capi.yaml``.

The file is in a package of the driver's distribution, which names that package
in the entry point group :data:`GROUP`, under the name of the driver::

    [project.entry-points."magnum_capi.driver_info"]
    k8s_x_v1 = "magnum_x"

``driver_info.schema.json`` defines its contents.
"""

import collections.abc
import dataclasses
import importlib.metadata
import importlib.resources
import json
import pathlib
import typing

import yaml

from magnum_capi import errors

GROUP = 'magnum_capi.driver_info'
FILE = 'magnum-capi.yaml'

Document: typing.TypeAlias = dict[str, typing.Any]


@dataclasses.dataclass(frozen=True)
class Description:
    """A driver's description.

    :param document: the file, parsed.
    :param where: what it was read from.
    :param distribution: its name and version, empty if unknown.
    """

    document: Document
    where: str
    distribution: str = ''

    @property
    def name(self) -> str:
        return str(self.document['name'])

    def require(self, name: str) -> 'Description':
        """Return it, if it is that of a driver.

        :raises UsageError: it describes another driver.
        """
        if self.name != name:
            raise errors.UsageError(
                f'The description of {name} describes {self.name}',
                where=self.where)
        return self

    @property
    def profiles(self) -> tuple[str, ...]:
        """Profiles of promises that the driver supports."""
        return tuple(self.document['profiles'])

    @property
    def companions(self) -> tuple[str, ...]:
        """Requirements to install along with its distribution."""
        return tuple(self.document.get('companions', ()))

    @property
    def services(self) -> tuple[str, ...]:
        """Types of cloud services that it needs."""
        return tuple(self.document.get('services', ()))

    def environment(self, magnum: int) -> dict[str, str]:
        """Environment variables that Magnum's programs need for it.

        :param magnum: first number of Magnum's version.
        """
        found = {}
        for name, value in self.document.get('environment', {}).items():
            if isinstance(value, str):
                found[name] = value
            elif magnum >= value['magnum']:
                found[name] = value['value']
        return found

    @property
    def magnum_conf(self) -> dict[str, dict[str, str]]:
        """Options of magnum.conf that it needs: {group: {option: value}}."""
        return dict(self.document.get('magnum_conf', {}))

    @property
    def mark(self) -> dict[str, typing.Any]:
        """By what its clusters are recognized; empty: it does not say."""
        return dict(self.document.get('mark', {}))

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Ids of promises that it does not make."""
        return tuple(self.document.get('unsupported', ()))

    @property
    def known_issues(self) -> dict[str, str]:
        """Promises that it breaks: {id: link or sentence}."""
        return dict(self.document.get('known_issues', {}))

    @property
    def known_races(self) -> dict[str, str]:
        """Tests that fail in some runs for its races: {Class.test: reason}."""
        return dict(self.document.get('known_races', {}))

    @property
    def tempest(self) -> dict[str, str]:
        """Options of [magnum_capi] that its tests need."""
        found = dict(self.document.get('tempest', {}))
        for key in ('labels', 'upgrade_labels'):
            if self.document.get(key):
                found[key] = ','.join(
                    f'{name}:{value}'
                    for name, value in self.document[key].items())
        return found


def text_of(path: pathlib.Path) -> str:
    """The text of a file that may be a description.

    :raises UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('The description cannot be read', where=path,
                                last_seen=e) from e


def parse(text: str, where: object) -> Description:
    """Read a description.

    :raises UsageError: it is invalid; the message has the first three faults.
    """
    document = document_of(text, where)
    found = problems(document)
    if found:
        raise errors.UsageError(
            'The description of a driver is invalid', where=where,
            last_seen='; '.join(found[:3]),
            hint='"magnum-capi driver info --check" lists all faults')
    return Description(document, str(where))


def document_of(text: str, where: object) -> typing.Any:
    """What the text of a description says, whether it is valid or not.

    :raises UsageError: it is not YAML.
    """
    try:
        return yaml.safe_load(text)
    # "2026-99-99" is an invalid date, "[[[[..." too deep.
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        raise errors.UsageError(
            'The description of a driver is not YAML', where=where,
            last_seen=' '.join(str(e).split())) from None


def problems(document: typing.Any) -> list[str]:
    """How a description violates its schema; see :func:`unfit`."""
    return unfit(document, schema())


def mark_problems(mark: typing.Any) -> list[str]:
    """How the mark of a description violates its schema; see :func:`unfit`."""
    whole = schema()
    return unfit(mark, {**whole['properties']['mark'],
                        '$defs': whole['$defs']})


def unfit(document: typing.Any, schema: Document) -> list[str]:
    """How a document violates a JSON Schema, one line per violation.

    :raises EnvironmentProblem: the package jsonschema is not installed.
    """
    try:
        import jsonschema
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'The package jsonschema is not installed', last_seen=e,
            hint='pip install jsonschema') from None
    kind = jsonschema.Draft202012Validator
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    return [f'{one.json_path}: {one.message}' for one in sorted(
        validator.iter_errors(document), key=lambda one: one.json_path)]


def schema() -> Document:
    """The JSON Schema of a description."""
    text = importlib.resources.files('magnum_capi').joinpath(
        'driver_info.schema.json').read_text(encoding='utf-8')
    return typing.cast(Document, json.loads(text))


def installed(name: str | None = None
              ) -> collections.abc.Iterator[tuple[str, str, str, str]]:
    """Yield (driver, text of its description, place, distribution).

    :param name: of a driver; None: all. Packages of others are not imported.
    :raises UsageError: an entry point names a package without the file.
    """
    for entry in sorted(importlib.metadata.entry_points(group=GROUP),
                        key=lambda one: one.name):
        if name not in (None, entry.name):
            continue
        try:
            path = importlib.resources.files(entry.value).joinpath(FILE)
            text = path.read_text(encoding='utf-8')
        # A third party's package may raise anything, or exit.
        except (Exception, SystemExit) as e:
            raise errors.UsageError(
                f'{entry.value} has no readable {FILE}',
                where=f'entry point {entry.name} of {GROUP}',
                last_seen=f'{type(e).__name__}: {e}') from e
        dist = entry.dist
        yield (entry.name, text, str(path),
               f'{dist.name} {dist.version}' if dist else '')


def of(name: str) -> Description | None:
    """The description of an installed driver; None: it has none.

    :raises UsageError: it is invalid, or describes another driver.
    """
    for _, text, where, whose in installed(name):
        return dataclasses.replace(
            parse(text, where), distribution=whose).require(name)
    return None
