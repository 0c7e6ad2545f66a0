# SPDX-License-Identifier: Apache-2.0


"""Directives for what the code knows better than a page could."""

import configparser
import os
import pathlib
from unittest import mock

from cliff import sphinxext
from docutils import nodes
from sphinx.util import docutils

import drawing
from magnum_capi.driver.desired import labels
from magnum_capi_tempest import promises
from magnum_capi_tempest.scorecard import rst
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
                 '   * - room', '     - uses']
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
        return self.parse_text_to_nodes(labels.documentation())


class Scorecard(docutils.SphinxDirective):
    """The promises and their tests."""

    def run(self):
        self.env.note_dependency(str(promises.REGISTRY))
        return self.parse_text_to_nodes(
            rst.render(suite.tests()), allow_section_headings=True)


def setup(app):
    """Entry point for Sphinx."""
    app.setup_extension('cliff.sphinxext')
    app.add_directive('doors', Doors)
    app.add_directive('floors', Floors)
    app.add_directive('rooms', Rooms)
    app.add_directive('driver-labels', DriverLabels)
    app.add_directive('magnum-capi', Commands)
    app.add_directive('sequence', Sequence)
    app.add_directive('scorecard', Scorecard)
    return {'parallel_read_safe': True}
