# SPDX-License-Identifier: Apache-2.0


"""Directives for what the code knows better than a page could."""

import ast
import configparser
import os
import pathlib
import re
from unittest import mock

from cliff import sphinxext
from docutils import nodes
from sphinx.util import docutils
import yaml

import drawing
from magnum_capi.driver.desired import labels
from magnum_capi import driver_info
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import suite
import sequence

TOP = pathlib.Path(__file__).resolve().parents[2]


class Commands(docutils.SphinxDirective):
    """Commands of ``magnum-capi`` whose names match a pattern."""

    required_arguments = 1

    def run(self):
        # Defaults of options name folders: the reader's, not the builder's.
        with mock.patch.dict(os.environ, {'HOME': '/home/you'}):
            for name in list(os.environ):
                if name.startswith(('MAGNUM_CAPI_', 'OS_', 'XDG_')):
                    del os.environ[name]
            return sphinxext.AutoprogramCliffDirective(
                self.name, ['magnum_capi.cli'],
                {'command': self.arguments[0], 'application': 'magnum-capi'},
                self.content, self.lineno, self.content_offset,
                self.block_text, self.state, self.state_machine).run()


class Doors(docutils.SphinxDirective):
    """Which room uses which, as import-linter checks it."""

    def run(self):
        self.env.note_dependency(str(drawing.CONFIG))
        lines = ['.. list-table::', '   :header-rows: 1', '',
                 '   * - part', '     - imports']
        for package, room, used in drawing.lines():
            names = ['any' if door == drawing.ANY else door for door in used]
            lines += [f'   * - ``{package}.{room}``',
                      f'     - {", ".join(f"``{n}``" for n in names)}']
        return self.parse_text_to_nodes('\n'.join(lines))


class Rooms(docutils.SphinxDirective):
    """The rooms and their doors as a drawing, from the same table."""

    def run(self):
        self.env.note_dependency(str(drawing.CONFIG))
        return [nodes.raw('', drawing.svg(drawing.doors()), format='html')]


class RoomList(docutils.SphinxDirective):
    """The rooms in a folder and what each is for, from their docstrings."""

    required_arguments = 1

    def run(self):
        rows = [('part', 'what it is for')]
        folder = TOP / self.arguments[0]
        for path in rooms(folder):
            self.env.note_dependency(str(path))
            name = path.parent.name if path.stem == '__init__' else path.stem
            rows.append((f'``{name}``', _purpose(path)))
        return self.parse_text_to_nodes(_table(rows))


def rooms(folder: pathlib.Path) -> list[pathlib.Path]:
    """The files with the docstrings of the rooms in a folder: packages first.

    The modules of the driver's top belong together; its page explains them.
    """
    modules = [] if folder.name == 'driver' else sorted(
        folder.glob('[!_]*.py'))
    return [*sorted(folder.glob('*/__init__.py')), *modules]


def _purpose(path):
    text = ast.get_docstring(ast.parse(path.read_text())) or ''
    return ' '.join(text.split('\n\n')[0].split())


class Sequence(docutils.SphinxDirective):
    """Who asks whom for what; see :mod:`sequence`. The title is given."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self):
        try:
            messages = sequence.parse(self.content)
        except ValueError as e:
            raise self.error(str(e)) from e
        return [nodes.raw('', sequence.svg(messages, self.arguments[0]),
                          format='html')]


class Floors(docutils.SphinxDirective):
    """Floors of the driver, as import-linter checks them."""

    def run(self):
        path = TOP / '.importlinter'
        self.env.note_dependency(str(path))
        parser = configparser.ConfigParser()
        parser.read(path)
        floors = parser['importlinter:contract:driver']['layers']
        lines = [
            '#. ' + ', '.join(f'``{name}``' for name in floor.split(' | '))
            for floor in floors.strip().splitlines()]
        return self.parse_text_to_nodes('\n'.join(lines))


class DriverLabels(docutils.SphinxDirective):
    """The labels that the driver knows."""

    def run(self):
        rows = [('Label', 'Accepted', 'Default', 'Set in', 'Meaning',
                 'magnum-capi-helm 1.4', 'magnum-cluster-api 0.38')]
        for name, field in labels.REGISTRY.items():
            label = field.metadata
            rows.append((
                f'``{name}``', label['kind'].form, self._shown(field.default),
                label['scope'].value, label['text'], label['helm'] or '',
                label['capi'] or ''))
        return self.parse_text_to_nodes(_table(rows))

    @staticmethod
    def _shown(default):
        """A default as a user writes it."""
        if default in (None, ()):
            return '(none)'
        return str(default).lower() if isinstance(default, bool) else default


class RefusedLabels(docutils.SphinxDirective):
    """Labels of another driver that are refused, and what to do instead."""

    def run(self):
        return self.parse_text_to_nodes(_table([
            ('Label', 'Instead'), *(
                (f'``{name}``', f'{instead[0].upper()}{instead[1:]}.')
                for name, instead in sorted(labels.REFUSED.items()))]))


class DriverDescription(docutils.SphinxDirective):
    """The fields of a driver's description, magnum-capi.yaml."""

    def run(self):
        schema = driver_info.schema()
        return self.parse_text_to_nodes(_table([
            ('Field', 'Meaning'), *(
                (f'``{name}``' + (
                    ', required' if name in schema['required'] else ''),
                 _escaped(field['description']))
                for name, field in schema['properties'].items()
                if 'const' not in field)]))


class ZuulJobs(docutils.SphinxDirective):
    """The Zuul jobs, and the pipelines of this project that run them."""

    def run(self):
        pipelines = {}
        project = self.read('zuul.d/project.yaml')[0]['project']
        for pipeline, found in project.items():
            jobs = found['jobs'] if isinstance(found, dict) else ()
            for job in jobs:
                name, changed = next(iter(job.items())) if isinstance(
                    job, dict) else (job, {})
                vote = '' if changed.get('voting', True) else ' (no vote)'
                pipelines.setdefault(name, []).append(
                    pipeline.removeprefix('periodic-') + vote)
        rows = [('Job', 'What it does', 'Runs in')]
        for path in sorted((TOP / 'zuul.d').glob('*-jobs.yaml')):
            for job in (one['job'] for one in self.read(
                    f'zuul.d/{path.name}') if 'job' in one):
                rows.append((
                    f'``{job["name"]}``', _escaped(' '.join(
                        job['description'].split())),
                    'abstract' if job.get('abstract') else ', '.join(
                        pipelines.get(job['name'], ()))))
        return self.parse_text_to_nodes(_table(rows))

    def read(self, name):
        path = TOP / name
        self.env.note_dependency(str(path))
        return yaml.safe_load(path.read_text())


class ZuulRoles(docutils.SphinxDirective):
    """The Ansible roles, by their argument specifications."""

    def run(self):
        rows = [('Role', 'What it does')]
        for path in sorted(TOP.glob('roles/*/meta/argument_specs.yaml')):
            self.env.note_dependency(str(path))
            spec = yaml.safe_load(path.read_text())['argument_specs']['main']
            rows.append((f'``{path.parents[1].name}``',
                         _escaped(' '.join(spec['description']))))
        return self.parse_text_to_nodes(_table(rows))


def _table(rows):
    """A list-table of reStructuredText with a header."""
    lines = ['.. list-table::', '   :header-rows: 1', '']
    for row in rows:
        lines += [f'   {"* -" if n == 0 else "  -"} {cell}'.rstrip()
                  for n, cell in enumerate(row)]
    return '\n'.join(lines)


class Scorecard(docutils.SphinxDirective):
    """The promises and their tests."""

    def run(self):
        for path in (promises.REGISTRY, promises.OF_MAGNUM):
            self.env.note_dependency(str(path))
        lines = []
        for profile in promises.PROFILES:
            lines += [*_title(f'Profile {profile}'), _table([
                ('promise', 'what and why'), *(
                    (f'``{one.id}``' + (', core' if one.core else ''),
                     _escaped(f'{one.title}. {one.rationale}'))
                    for one in promises.known().values()
                    if one.profile == profile)])]
        lines += [*_title('Magnum'), _table([
            ('promise', 'what', 'unmodified Magnum 23'), *(
                (f'``{one.id}``', _escaped(f'{one.title}.'),
                 _escaped(one.otherwise))
                for one in promises.of_magnum().values())])]
        lines += [*_title('Tests'), _table([('test', 'promise', 'needs'), *(
            (f'``{test.id}``', f'``{test.promise}``' if test.promise else '',
             ', '.join(f'``{name}``' for name in sorted(test.required)))
            for test in suite.tests())])]
        return self.parse_text_to_nodes(
            '\n'.join(lines), allow_section_headings=True)


def _title(title):
    return ['', title, '~' * len(title), '']


def _escaped(text):
    """A text without effect in reStructuredText."""
    return re.sub(r'([\\`*_|<>:])', r'\\\1', text)


def setup(app):
    """Entry point for Sphinx."""
    app.setup_extension('cliff.sphinxext')
    app.add_directive('doors', Doors)
    app.add_directive('floors', Floors)
    app.add_directive('rooms', Rooms)
    app.add_directive('room-list', RoomList)
    app.add_directive('driver-labels', DriverLabels)
    app.add_directive('driver-refused-labels', RefusedLabels)
    app.add_directive('driver-description', DriverDescription)
    app.add_directive('magnum-capi', Commands)
    app.add_directive('sequence', Sequence)
    app.add_directive('scorecard', Scorecard)
    app.add_directive('zuul-jobs', ZuulJobs)
    app.add_directive('zuul-roles', ZuulRoles)
    return {'parallel_read_safe': True}
