# SPDX-License-Identifier: Apache-2.0

"""The page "Operate the driver and the filter", on deployers' paste files.

The real Magnum's own code loads each file and makes its application from it.
The layouts are those of the deployers' repositories in 2026.
"""

import configparser
import io
import json
import pathlib
import re
import shlex
import subprocess
import textwrap

import fixtures
import jinja2
import testtools
import yaml

from magnum_capi import progress
from magnum_capi_sandbox.cloud import environment
from magnum_capi_sandbox.cloud import overlay
from magnum_capi_sandbox import releases
from tests.unit.docs import pages

#: The values of OpenStack-Helm's chart, below conf.paste.
_HELM = {
    'pipeline:main': {
        'pipeline': 'cors healthcheck request_id authtoken api_v1'},
    'app:api_v1': {'paste.app_factory': 'magnum.api.app:app_factory'},
    'filter:authtoken': {
        'acl_public_routes': '/, /v1',
        'paste.filter_factory':
            'magnum.api.middleware.auth_token:AuthTokenMiddleware.factory'},
    'filter:request_id': {
        'paste.filter_factory': 'oslo_middleware:RequestId.factory'},
    'filter:cors': {
        'paste.filter_factory': 'oslo_middleware.cors:filter_factory',
        'oslo_config_project': 'magnum'},
    'filter:healthcheck': {
        'paste.filter_factory': 'oslo_middleware:Healthcheck.factory'}}

#: Keystone is never asked: the request has no token.
_CONF = '''
[keystone_auth]
auth_type = password
auth_url = http://127.0.0.1:9/v3
username = magnum
password = unused
[keystone_authtoken]
auth_section = keystone_auth
www_authenticate_uri = http://127.0.0.1:9/v3
'''

#: Prints what is behind the filter, if Magnum has it, and the answer to a
#: request without a token.
_LOAD = '''
import json, sys
from magnum.api import app
from magnum.conf import CONF
from magnum_capi.discovery import filter as filter_
import webob

CONF([], project='magnum', default_config_files=sys.argv[2:])
CONF.set_override('api_paste_config', sys.argv[1], 'api')
behind = []
made = filter_.Filter.__init__
def init(self, app, *args, **more):
    behind.append(type(app).__module__.partition('.')[0])
    made(self, app, *args, **more)
filter_.Filter.__init__ = init
application = app.load_app()
request = webob.Request.blank('/v1/clustertemplates', method='POST')
print(json.dumps([behind, request.get_response(application).status_int]))
'''


class DeploymentsTest(testtools.TestCase):

    def setUp(self):
        super().setUp()
        self.venv = self.magnum = environment.ensure(progress.Progress())
        self.file = pathlib.Path(self.useFixture(
            fixtures.TempDir()).path) / 'api-paste.ini'
        # With its metadata, which a checkout may lack: the commands are entry
        # points.
        self.library = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        overlay.add_library(self.library)
        self.own = (self.venv / 'etc/magnum/api-paste.ini').read_text()
        self.text = pages.section('operations', 'The filter')

    def snippet(self, section, language):
        """The block in a section of the page."""
        body = re.split(rf'^{section}\n~+$', self.text, flags=re.M)[1]
        found = re.search(rf'^\.\. code-block:: {language}\n\n'
                          r'((?:   .*\n|\n)+)', body, re.M)
        return textwrap.dedent(found[1])

    def python(self, venv, *argv):
        ended = subprocess.run(
            [venv / 'bin/python', '-W', 'ignore', *argv],
            env={'PYTHONPATH': str(self.library)}, cwd=self.file.parent,
            capture_output=True, text=True, timeout=300)
        return ended.returncode, ended.stdout, ended.stderr

    def command(self, text):
        """Run a command of the page on our file; (exit code, output)."""
        program, *argv = shlex.split(text.replace(
            '/etc/magnum/api-paste.ini', str(self.file)))
        self.assertEqual('magnum-capi', pathlib.Path(program).name)
        code, out, err = self.python(
            self.venv, '-m', 'magnum_capi.cli.main', *argv)
        self.assertEqual('', err)
        return code, out

    def assert_loaded(self, behind):
        conf = self.file.with_name('magnum.conf')
        conf.write_text(_CONF)
        code, out, err = self.python(
            self.magnum, '-c', _LOAD, self.file, conf)
        self.assertEqual(0, code, err)
        self.assertEqual([behind, 401], json.loads(
            out.splitlines()[-1]))

    def assert_filtered(self):
        """Assert that Magnum runs with the filter, and after its removal."""
        _, check, remove = pages.blocks(self.text)[0]
        for command in check, remove:
            self.assertEqual(
                (0, '\n'.join(command.shown) + '\n'),
                self.command(command.text))
            if command is check:
                self.assert_loaded(['pecan'])
        self.assertEqual((1, 'changed\n'), self.command(check.text))
        self.assert_loaded([])

    def write(self, sections):
        """Write {section: {option: value}}, like both deployers."""
        parser = configparser.RawConfigParser()
        parser.optionxform = str
        parser.read_dict(sections)
        text = io.StringIO()
        parser.write(text)
        self.file.write_text(text.getvalue())

    def test_kolla(self):
        built = jinja2.Environment(
            loader=jinja2.DictLoader({'parent': (
                '{% block magnum_base_footer %}{% endblock %}')}),
            keep_trailing_newline=True).from_string(
                self.snippet('kolla-ansible', 'jinja')).render(
                    parent_template='parent')
        run, = (line for line in built.replace('\\\n', ' ').splitlines()
                if line.strip())
        install, put = run.removeprefix('RUN ').split('&&')
        self.assertEqual('/var/lib/kolla/venv/bin/pip',
                         shlex.split(install)[0])
        self.file.write_text(self.own)
        self.assertEqual((0, 'changed\n'), self.command(put))
        self.assert_filtered()

    def test_openstack_ansible(self):
        overrides = yaml.safe_load(self.snippet('OpenStack-Ansible', 'yaml'))
        parser = configparser.RawConfigParser()
        parser.optionxform = str
        parser.read_string(self.own)
        changed = overrides['magnum_api_paste_ini_overrides']
        self.assertEqual(
            parser['pipeline:api']['pipeline'].split(),
            [name for name in changed['pipeline:api']['pipeline'].split()
             if name != 'driver_discovery'])
        self.write({**parser, **changed})
        self.assert_filtered()

    def test_openstack_helm(self):
        # The release of the chart's images; oslo.middleware of 2026.2 refuses
        # to be used as the filter "healthcheck".
        self.magnum = environment.ensure(
            progress.Progress(), releases.get('2025.1'))
        paste = yaml.safe_load(
            self.snippet('OpenStack-Helm', 'yaml'))['conf']['paste']
        self.write({**_HELM, **paste})
        self.assert_filtered()
