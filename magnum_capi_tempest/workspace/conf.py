# SPDX-License-Identifier: Apache-2.0

"""What tempest.conf says about who runs the tests, and where evidence goes.

Users of an accounts.yaml are locked while the tests of a class use them. A
class that finds none left fails ("Insufficient number of users provided", in
tempest/lib/common/preprov_creds.py).
"""

import collections.abc
import dataclasses
import os
import pathlib

from oslo_config import cfg
import yaml

from magnum_capi import progress
from magnum_capi_tempest import json_types
from magnum_capi_tempest.workspace import selection

_OPTS = {
    'auth': [cfg.BoolOpt('use_dynamic_credentials', default=True),
             *(cfg.StrOpt(name) for name in (
                 'test_accounts_file', 'admin_username', 'admin_password',
                 'admin_project_name', 'admin_domain_name'))],
    'identity': [
        cfg.StrOpt('uri_v3'), cfg.StrOpt('region'),
        # Not that of Tempest, which only its requests to Keystone have.
        cfg.StrOpt('v3_endpoint_type', default='publicURL'),
        cfg.BoolOpt('disable_ssl_certificate_validation', default=False),
        cfg.StrOpt('ca_certificates_file')],
    'magnum_capi': [cfg.StrOpt('artifact_dir', default=''),
                    cfg.StrOpt('management_kubeconfig', default='')],
    'magnum_capi_feature_enabled': [
        cfg.BoolOpt('real_nodes', default=False)],
}


@dataclasses.dataclass(frozen=True)
class Conf:
    """The relevant part of a configuration.

    :param admin: Tempest creates the users that it needs, as ``users[0]``.
    :param users: settings of each user for openstacksdk, as in clouds.yaml;
        empty: none is configured, or Tempest itself will say what is wrong.
    :param artifact_dir: folder for evidence; empty: none is configured.
    :param workers: how many tests there are users for at the same time; None:
        any number.
    """

    admin: bool
    users: tuple[json_types.Object, ...]
    artifact_dir: str
    management_kubeconfig: str = ''
    real_nodes: bool = False
    workers: int | None = None


def read(etc: pathlib.Path) -> Conf:
    """Read the configuration of a workspace.

    :param etc: folder of tempest.conf.
    """
    conf = cfg.ConfigOpts()
    for group, options in _OPTS.items():
        conf.register_opts(options, group=group)
    try:
        conf([], project='tempest', default_config_files=[
            str(pathlib.Path(etc) / 'tempest.conf')], default_config_dirs=[])
        admin = conf.auth.use_dynamic_credentials
        accounts = () if admin else _accounts(conf, etc)
        users = _admin(conf) if admin else map(_user, accounts)
        return Conf(admin, tuple({**_cloud(conf), 'auth': {
            'auth_url': conf.identity.uri_v3, **user}} for user in users),
            conf.magnum_capi.artifact_dir,
            conf.magnum_capi.management_kubeconfig,
            conf.magnum_capi_feature_enabled.real_nodes,
            selection.most_workers(
                (*one.get('types', ()), *one.get('roles', ()))
                for one in accounts) if accounts else None)
    except (cfg.Error, OSError, ValueError, yaml.YAMLError, TypeError,
            AttributeError, KeyError):
        return Conf(False, (), '')


def _cloud(conf: cfg.ConfigOpts) -> json_types.Object:
    identity = conf.identity
    return {
        'region_name': identity.region,
        'interface': identity.v3_endpoint_type.removesuffix('URL'),
        'verify': not identity.disable_ssl_certificate_validation,
        'cacert': identity.ca_certificates_file}


def _admin(conf: cfg.ConfigOpts) -> collections.abc.Iterator[dict[str, str]]:
    auth = conf.auth
    if auth.admin_username and conf.identity.uri_v3:
        yield {'username': auth.admin_username,
               'password': auth.admin_password,
               'project_name': auth.admin_project_name,
               'user_domain_name': auth.admin_domain_name,
               'project_domain_name': auth.admin_domain_name}


def _accounts(
        conf: cfg.ConfigOpts, etc: pathlib.Path) -> list[json_types.Object]:
    """The users in accounts.yaml, dicts."""
    if not conf.auth.test_accounts_file:
        return []
    # Tempest runs in the folder of the workspace.
    path = os.path.join(pathlib.Path(etc).parent, conf.auth.test_accounts_file)
    found: list[json_types.Object] = yaml.safe_load(
        pathlib.Path(path).read_text())
    return found


def _user(account: json_types.Object) -> dict[str, str]:
    return {'username': account['username'], 'password': account['password'],
            'project_name': account['project_name'],
            **{key: account.get(key) or 'Default' for key in (
                'user_domain_name', 'project_domain_name')}}


def concurrency(asked: int, allowed: int | None) -> int:
    """Return the number of workers to start, and say if it is limited.

    :param asked: 0: one for each CPU, as in stestr.
    :param allowed: None: any number.
    """
    if allowed is None:
        return asked
    wanted = asked or os.cpu_count() or 1
    if wanted <= allowed:
        return wanted
    progress.Progress().info(
        f'{allowed} parallel worker{"s" if allowed > 1 else ""} instead of '
        f'{wanted}: accounts.yaml has no users for more')
    return allowed
