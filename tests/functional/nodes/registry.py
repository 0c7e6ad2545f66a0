# SPDX-License-Identifier: Apache-2.0

"""A registry that serves one image, without TLS, on loopback.

``python registry.py ARCHIVE PORT`` serves an image archive, which is an OCI
layout in a tar file. It has what ``docker pull`` by digest asks for:
https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md
"""

import http.server
import sys
import tarfile


class Handler(http.server.BaseHTTPRequestHandler):

    blobs = {}

    def do_HEAD(self):
        self._answer(body=False)

    def do_GET(self):
        self._answer(body=True)

    def _answer(self, body):
        if self.path == '/v2/':
            return self._send(b'{}', 'application/json', body)
        parts = self.path.split('/')
        content = self.blobs.get(parts[-1].removeprefix('sha256:'))
        if content is None:
            return self.send_error(404)
        return self._send(
            content, 'application/vnd.oci.image.manifest.v1+json'
            if parts[-2] == 'manifests' else 'application/octet-stream', body)

    def _send(self, content, kind, body):
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(content)))
        if not self.path.endswith('/v2/'):
            self.send_header('Docker-Content-Digest',
                             self.path.rpartition('/')[2])
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, format, *args):
        pass


def main(archive, port):
    with tarfile.open(archive) as tar:
        for info in tar:
            name = info.name.rpartition('/')[2]
            Handler.blobs[name] = tar.extractfile(info).read()
    http.server.ThreadingHTTPServer(
        ('127.0.0.1', int(port)), Handler).serve_forever()


if __name__ == '__main__':
    main(*sys.argv[1:])
