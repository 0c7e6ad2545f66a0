# SPDX-License-Identifier: Apache-2.0


import io
import json
import tarfile

from tests.unit.offline.images import base
from tools.offline.images import archive
from tools.offline.images import layer


class TestLayer(base.TestCase):

    def setUp(self):
        super().setUp()
        self.out = self.folder() / 'layer.tar'

    def test_has_files_folders_and_links(self):
        source = self.folder() / 'program'
        source.write_bytes(b'\x7fELF')
        layer.write(self.out, [
            layer.Entry('/usr/bin/p', source), layer.Entry('/tmp', None,
                                                           0o1777),
            layer.Entry('/etc/text', b'hello\n', 0o644),
            layer.Entry('/p', link='usr/bin/p')])

        with tarfile.open(self.out) as tar:
            found = {i.name: i for i in tar}
        self.assertEqual(
            ['etc', 'etc/text', 'p', 'tmp', 'usr', 'usr/bin', 'usr/bin/p'],
            list(found))
        self.assertEqual(
            (0o1777, 0o755, 0o644, 'usr/bin/p'),
            (found['tmp'].mode, found['usr/bin/p'].mode,
             found['etc/text'].mode, found['p'].linkname))
        self.assertEqual({(0, 0, 0)},
                         {(i.mtime, i.uid, i.gid) for i in found.values()})

    def test_same_content_same_bytes(self):
        entries = [layer.Entry('/b', b'1'), layer.Entry('/a', b'2')]
        layer.write(self.out, entries)
        first = self.out.read_bytes()
        layer.write(self.out, reversed(entries))

        self.assertEqual(first, self.out.read_bytes())

    def test_last_of_one_path_counts(self):
        layer.write(self.out, [layer.Entry('/bin/sh', link='busybox'),
                               layer.Entry('bin/sh', link='bash')])

        with tarfile.open(self.out) as tar:
            self.assertEqual('bash', tar.getmember('bin/sh').linkname)

    def test_reads_through_links(self):
        """Debian: /bin -> usr/bin, and certificates by two links."""
        with tarfile.open(self.out, 'w') as tar:
            for name, link in (('./bin', 'usr/bin'),
                               ('./usr/bin/sh', '/usr/bin/dash')):
                info = tarfile.TarInfo(name)
                info.type, info.linkname = tarfile.SYMTYPE, link
                tar.addfile(info)
            for name in './usr', './usr/bin':
                info = tarfile.TarInfo(name)
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            info = tarfile.TarInfo('./usr/bin/dash')
            info.size = 4
            tar.addfile(info, io.BytesIO(b'dash'))

        self.assertEqual(
            {'/bin/sh': b'dash'},
            layer.read(self.out, ['/bin/sh', '/bin/none', '/bin']))

    def test_a_circle_of_links_is_nothing(self):
        layer.write(self.out, [layer.Entry('/a', link='b'),
                               layer.Entry('/b', link='a')])

        self.assertEqual({}, layer.read(self.out, ['/a']))


class TestArchive(base.TestCase):

    def setUp(self):
        super().setUp()
        self.recipe = base.recipe(
            references=('docker.io/library/busybox:1', 'quay.io/a/b:2'),
            version='1.2', kubernetes='v1.34.9', entrypoint=('/x',),
            environment={'A': 'b'}, user='1:2', ports=('80/tcp',))
        self.out = self.folder() / 'archive.tar'
        self.layer, self.image_id = self.write(self.out, self.recipe)

    def read(self, name):
        with tarfile.open(self.out) as tar:
            return json.load(tar.extractfile(name))

    def blob(self, digest):
        return self.read('blobs/' + digest.replace(':', '/'))

    def test_docker_finds_image_and_names(self):
        entry, = self.read('manifest.json')

        self.assertEqual(['busybox:1', 'quay.io/a/b:2'], entry['RepoTags'])
        self.assertEqual(f'blobs/sha256/{self.image_id}', entry['Config'])
        self.assertEqual([f'blobs/sha256/{self.layer.sha256}'],
                         entry['Layers'])

    def test_containerd_finds_the_same_image_and_whole_names(self):
        manifests = self.read('index.json')['manifests']
        self.assertEqual(
            ['docker.io/library/busybox:1', 'quay.io/a/b:2'],
            [m['annotations']['io.containerd.image.name']
             for m in manifests])
        manifest = self.blob(manifests[0]['digest'])

        self.assertEqual(f'sha256:{self.image_id}',
                         manifest['config']['digest'])
        self.assertEqual(
            [(f'sha256:{self.layer.sha256}', self.layer.size)],
            [(x['digest'], x['size']) for x in manifest['layers']])
        self.assertEqual('1.0.0',
                         self.read('oci-layout')['imageLayoutVersion'])

    def test_says_that_it_is_a_stand_in(self):
        run = self.blob(f'sha256:{self.image_id}')['config']

        self.assertEqual('true', run['Labels']['io.magnum-capi.stand-in'])
        self.assertEqual(
            '1.2', run['Labels']['org.opencontainers.image.version'])
        self.assertEqual('v1.34.9', run['Labels']['io.magnum-capi.kubernetes'])

    def test_config_runs_what_the_recipe_says(self):
        run = self.blob(f'sha256:{self.image_id}')['config']

        self.assertEqual((['/x'], '1:2', {'80/tcp': {}}),
                         (run['Entrypoint'], run['User'],
                          run['ExposedPorts']))
        self.assertIn('A=b', run['Env'])
        self.assertNotIn('Cmd', run)

    def test_what_it_is_is_read_back(self):
        found = archive.read(self.out)
        self.assertEqual(archive.Archive(
            'small', self.out, self.recipe.references, '1.2', 'v1.34.9',
            self.image_id), found)
        self.assertIsNone(found.fault())

    def test_what_is_none_or_not_whole(self):
        whole = self.out.read_bytes()
        for content in b'', b'no tar', whole[:700], whole[:12000]:
            self.out.write_bytes(content)
            self.assertIsNone(archive.read(self.out), len(content))

    def test_an_image_of_somebody_else(self):
        """Who saves one beside ours does not lose it."""
        configuration = archive.config(self.recipe, [self.layer], 'amd64')
        del configuration['config']['Labels'][archive.STAND_IN]
        archive.write(self.out, configuration, [self.layer], ('mine:1',))
        self.assertIsNone(archive.read(self.out))

    def test_other_content(self):
        found = archive.read(self.out)
        whole = bytearray(self.out.read_bytes())
        whole[whole.rindex(b'x')] = ord('y')
        self.out.write_bytes(whole)
        self.assertIn(self.layer.sha256, found.fault())

    def test_a_layer_that_is_there_twice_is_stored_once(self):
        archive.write(self.out, archive.config(
            self.recipe, [self.layer] * 2, 'amd64'), [self.layer] * 2,
            self.recipe.references)

        with tarfile.open(self.out) as tar:
            names = tar.getnames()
        self.assertEqual(len(set(names)), len(names))
