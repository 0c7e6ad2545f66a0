# SPDX-License-Identifier: Apache-2.0

"""Whether a call of ``magnum-capi`` that is written somewhere can be made."""

import configparser
import functools
import importlib
import pathlib
import re
import tomllib

_TOP = pathlib.Path(__file__).resolve().parents[3]


@functools.cache
def commands():
    """Entry points of ``magnum-capi``, by name: "sandbox_up"."""
    parser = configparser.ConfigParser(delimiters='=')
    parser.read(_TOP / 'setup.cfg')
    lines = parser['entry_points']['magnum_capi.cli'].split('\n')
    found = dict(re.split(r'\s*=\s*', line) for line in lines if line)
    for folder in ('magnum-capi', 'sandbox'):
        project = tomllib.loads(
            (_TOP / folder / 'pyproject.toml').read_text())['project']
        found |= project['entry-points']['magnum_capi.cli']
    return found


@functools.cache
def _flags(command):
    """Options that a command of ``magnum-capi`` has."""
    module, _, name = commands()[command].partition(':')
    made = getattr(importlib.import_module(module), name)(None, None)
    return set(made.get_parser('x')._option_string_actions)


def misused(words):
    """What is wrong with words of a call of ``magnum-capi``.

    :param words: its arguments; None for those that nobody knows.
    """
    if words[:1] == ['timeout']:
        words = [w for w in words[1:] if w and '--kill-after=' not in w]
    plain = [w for w in words if w and re.fullmatch('[a-z_]+', w)]
    for length in (3, 2, 1):
        command = '_'.join(plain[:length])
        if command in commands():
            return [f'{command} has no {w}' for w in words
                    if w and re.fullmatch(r'--?[a-z].*', w)
                    and w not in _flags(command)]
    return [f'no command of magnum-capi: {plain[:3]}']
