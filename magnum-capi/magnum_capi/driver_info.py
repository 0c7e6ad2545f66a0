# SPDX-License-Identifier: Apache-2.0

"""What a Magnum driver says of itself: ``magnum-capi.yaml``.

The file is in a package of the driver's distribution, which names that package
in the entry point group :data:`GROUP`, under the name of the driver::

    [project.entry-points."magnum_capi.driver_info"]
    k8s_x_v1 = "magnum_x"

``driver_info.schema.json`` says what is in it.
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
    """A driver in its own words.

    :param document: the file, parsed.
    :param where: what it was read from.
    :param distribution: name and version of what has it, empty if unknown.
    """

    document: Document
    where: str
    distribution: str = ''

    @property
    def name(self) -> str:
        return str(self.document['name'])

    @property
    def profiles(self) -> tuple[str, ...]:
        """Profiles of promises that it supports."""
        return tuple(self.document['profiles'])

    @property
    def companions(self) -> tuple[str, ...]:
        """Requirements that must be beside its distribution."""
        return tuple(self.document.get('companions', ()))

    @property
    def services(self) -> tuple[str, ...]:
        """Types of services of the cloud that it cannot do without."""
        return tuple(self.document.get('services', ()))

    @property
    def environment(self) -> dict[str, str]:
        """Variables that Magnum's programs must have for it."""
        return dict(self.document.get('environment', {}))

    @property
    def unsupported(self) -> tuple[str, ...]:
        """Ids of promises that it does not make."""
        return tuple(self.document.get('unsupported', ()))

    @property
    def known_issues(self) -> dict[str, str]:
        """Promises that it breaks: a link or a sentence for each id."""
        return dict(self.document.get('known_issues', {}))

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
    """What is in a file that may be a description.

    :raises UsageError: it cannot be read.
    """
    try:
        return path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise errors.UsageError('The description cannot be read', where=path,
                                last_seen=e) from e


def parse(text: str, where: object) -> Description:
    """Read a description.

    :raises UsageError: it is none; the first three faults are in the text.
    """
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as e:
        raise errors.UsageError(
            'The description of a driver is no YAML', where=where,
            last_seen=' '.join(str(e).split())) from None
    found = problems(document)
    if found:
        raise errors.UsageError(
            'The description of a driver is wrong', where=where,
            last_seen='; '.join(found[:3]),
            hint='"magnum-capi driver info --check" has all of it')
    return Description(document, str(where))


def problems(document: typing.Any) -> list[str]:
    """What of a description does not fit its schema, as :func:`unfit`."""
    return unfit(document, schema())


def unfit(document: typing.Any, schema: Document) -> list[str]:
    """What of a document does not fit a JSON Schema, a line each.

    :raises EnvironmentProblem: the package jsonschema is not installed.
    """
    try:
        import jsonschema
    except ImportError as e:
        raise errors.EnvironmentProblem(
            'The package jsonschema is not installed', last_seen=e,
            hint='pip install jsonschema') from None
    validator = jsonschema.Draft202012Validator(schema)
    return [f'{one.json_path}: {one.message}' for one in sorted(
        validator.iter_errors(document), key=lambda one: one.json_path)]


def schema() -> Document:
    """The JSON Schema of a description."""
    text = importlib.resources.files('magnum_capi').joinpath(
        'driver_info.schema.json').read_text(encoding='utf-8')
    return typing.cast(Document, json.loads(text))


def installed() -> collections.abc.Iterator[tuple[str, str, str, str]]:
    """Yield a driver, the text of its description, its place, and whose it is.

    :raises UsageError: an entry point names a package without the file.
    """
    for entry in sorted(importlib.metadata.entry_points(group=GROUP),
                        key=lambda one: one.name):
        try:
            path = importlib.resources.files(entry.value).joinpath(FILE)
            text = path.read_text(encoding='utf-8')
        # The package is somebody else's: it may raise anything.
        except Exception as e:
            raise errors.UsageError(
                f'{entry.value} has no {FILE} that can be read',
                where=f'entry point {entry.name} of {GROUP}',
                last_seen=f'{type(e).__name__}: {e}') from e
        dist = entry.dist
        yield (entry.name, text, str(path),
               f'{dist.name} {dist.version}' if dist else '')


def of(name: str) -> Description | None:
    """The description that an installed driver has; None: it has none.

    :raises UsageError: it is wrong, or speaks of another driver.
    """
    for entry, text, where, whose in installed():
        if entry == name:
            found = dataclasses.replace(parse(text, where),
                                        distribution=whose)
            if found.name != name:
                raise errors.UsageError(
                    f'The description of {name} is that of {found.name}',
                    where=where)
            return found
    return None
