# SPDX-License-Identifier: Apache-2.0
"""Writes the configuration files of the cloud, mode 0600."""

import functools
import pathlib
import typing

import jinja2

from magnum_capi.discovery import paste
from magnum_capi import outfile
from magnum_capi_sandbox import catalog
from magnum_capi_sandbox import infrastructure
from magnum_capi_sandbox import layout as layouts
from magnum_capi_tempest.workspace import selection

REGION = 'RegionOne'

#: Values that cluster templates of k8s_capi_v1 can name.
OVERLAY = 'operators.yaml'


def render(name: str, **values: typing.Any) -> str:
    """Text of a file of ``templates/``."""
    return _environment().get_template(f'{name}.j2').render(
        region=REGION, **values)


@functools.cache
def _environment() -> jinja2.environment.Environment:
    # It keeps the templates that it has compiled.
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader('magnum_capi_sandbox'),
        undefined=jinja2.StrictUndefined, trim_blocks=True,
        keep_trailing_newline=True, autoescape=False)
    environment.filters['value'] = selection.value
    return environment


def write_services(layout: layouts.Layout, *, venv: pathlib.Path,
                   magnum_venv: pathlib.Path, discovery_filter: bool = False,
                   kind: str = infrastructure.MEMORY, containers: bool = False,
                   **values: typing.Any) -> None:
    """Write the files of all services.

    :param venv: environment of the cloud.
    :param magnum_venv: that of Magnum.
    :param discovery_filter: whether Magnum's API gets the filter.
    :param kind: one of :data:`.infrastructure.KINDS`.
    :param containers: whether Nova's servers are containers.
    :param values: profile, release, passwords, chart, transport_url, and url:
        a function of a database's name.
    """
    layout.etc.mkdir(mode=0o700, parents=True, exist_ok=True)
    layout.magnum_conf[1].mkdir(mode=0o700, exist_ok=True)
    api_paste = magnum_venv / 'etc' / 'magnum' / 'api-paste.ini'
    if discovery_filter:
        text = paste.with_filter(api_paste.read_text())
        api_paste = layout.etc / 'magnum-api-paste.ini'
        outfile.write_private(api_paste, text)
    for name in (*(s.file for s in catalog.services(kind)), OVERLAY):
        outfile.write_private(layout.etc / name, render(
            name, layout=layout, venv=venv, api_paste=api_paste,
            real=kind == infrastructure.OPENSTACK, containers=containers,
            **values))
