# SPDX-License-Identifier: Apache-2.0
"""Every secret that a run in a sandbox uses.

The sandbox's secrets are in its files, those of temporary users are sent over
HTTP (:mod:`.witness.sitecustomize`), and those of clusters are in Secrets of
the management cluster as long as the clusters exist.
"""

import base64
import json
import pathlib
import re
import threading

import fixtures

from magnum_capi_tempest.kubeclient import kube

WITNESS = pathlib.Path(__file__).with_name('witness')

_PEM = re.compile(r'-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END')
_CODED = re.compile(r'[A-Za-z0-9+/]{40,}={0,2}')
#: Values of YAML, JSON, INI and the arguments of kubeadm.
_NAMED = re.compile(
    r'''(?:password|secret|token|certificateKey)["']?[ \t]*[:=][ \t]*'''
    r'''["']?([^\s"',}]{12,})''')


class UsedSecrets(fixtures.Fixture):
    """Collects secrets as long as it is in use.

    :param directory: folder of the sandbox.
    :param passwords: of the sandbox, by name.
    """

    def __init__(self, directory, passwords):
        super().__init__()
        self._directory = pathlib.Path(directory)
        self._passwords = passwords
        self._of_clusters = {}
        self._stop = threading.Event()

    def _setUp(self):
        self.folder = self.useFixture(fixtures.TempDir()).path
        #: Variables for the watched programs.
        self.env = {'PYTHONPATH': str(WITNESS),
                    'WITNESS_FOLDER': self.folder}
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        self.addCleanup(self._thread.join, 30)
        self.addCleanup(self._stop.set)

    def _watch(self):
        reader = kube.Client(self._directory / 'management' / 'kubeconfig')
        while not self._stop.wait(1):
            try:
                found = reader.core('secrets')
            except kube.KubeError:
                continue
            for secret in found:
                where = '/'.join((secret['metadata'].get('namespace', ''),
                                  secret['metadata']['name']))
                for name, value in (secret.get('data') or {}).items():
                    text = base64.b64decode(value).decode(errors='replace')
                    for number, part in enumerate(_parts(text)):
                        self._of_clusters[
                            f'{where} {name} {number}'] = part

    def all(self) -> dict[str, str]:
        """Secrets by description."""
        found = {f'sandbox {name}': value
                 for name, value in self._passwords.items()}
        for pattern in ('management/pki/*.key', 'keystone/*/*'):
            for path in self._directory.glob(pattern):
                found[str(path.relative_to(self._directory))] = (
                    path.read_text())
        for path in pathlib.Path(self.folder).glob('*.jsonl'):
            for number, line in enumerate(path.read_text().splitlines()):
                seen = json.loads(line)
                found[f"{seen['what']} {path.stem}:{number}"] = seen['value']
        return found | self._of_clusters


def _parts(text, depth=2):
    """The secrets in a document of a cluster."""
    yield from _PEM.findall(text)
    yield from _NAMED.findall(text)
    if depth:
        for run in _CODED.findall(text):
            data = base64.b64decode(run[:len(run) // 4 * 4])
            if data.isascii():
                yield from _parts(data.decode(), depth - 1)
