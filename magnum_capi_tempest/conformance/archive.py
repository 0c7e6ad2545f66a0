# SPDX-License-Identifier: Apache-2.0

"""Reads the record of a run into a Result, once and without unpacking it.

A record is Sonobuoy's archive, that archive unpacked, or the two files that
Hydrophone leaves. Parts that are not needed are decompressed and checked, but
not parsed; the memory needed does not depend on the size of the record.

The plugin of the e2e tests may have any name: if none is called e2e, it is the
first one whose tests belong to a SIG, as all of Kubernetes' suite do.
"""

import collections.abc
import contextlib
import dataclasses
import io
import os
import pathlib
import re
import stat
import typing

from magnum_capi import errors
from magnum_capi_tempest.conformance import crosscheck
from magnum_capi_tempest.conformance import damage
from magnum_capi_tempest.conformance import documents
from magnum_capi_tempest.conformance import junit
from magnum_capi_tempest.conformance import log as logs
from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance import tar
from magnum_capi_tempest import texts

#: The two files of the e2e tests, as CNCF wants them.
JUNIT, LOG = 'junit_01.xml', 'e2e.log'
#: The fact that shows the end of a log that was cut off.
LAST_LINES = 'last lines of the e2e log'
#: Most bytes of a file that is parsed, and of a JSON document.
MEMBER, DOCUMENT = 2 << 30, 1 << 20
#: Results of a plugin, as Sonobuoy has named them since 0.16; earlier ones do
#: not know Kubernetes 1.17, the oldest that is supported.
_RESULT = re.compile(
    r'plugins/(?P<plugin>[^/]+)/(?:'
    r'(?P<definition>(?:definition|defintion)\.json)|'
    r'(?P<summary>sonobuoy_results\.yaml)|'
    r'(?P<error>errors/(?:(?P<node>[^/]+)/)?error\.json)|'
    r'results/global/(?P<file>e2e\.log|[^/]+\.xml))')
#: Documents about the cluster: their short names and what to keep of them.
_DOCUMENTS = {
    'meta/clusterhealth.json': ('health', documents.Health.of),
    'meta/config.json': ('config', documents.version),
    'meta/info.json': ('info', documents.plugins),
    'serverversion.json': ('server', documents.Server.of),
    'resources/cluster/core_v1_nodes.json': ('nodes', documents.systems)}
_DAEMON_SETS = re.compile(r'resources/ns/[^/]+/apps_v1_daemonsets\.json')
#: Each node has files, of which only the names are needed.
_HOST = re.compile(r'hosts/([^/]+)/')
#: At the top of Sonobuoy's summary of a plugin.
_STATUS = re.compile(rb'^status: (\S{1,50})$', re.M)
#: Most that are kept: errors of plugins, documents that are reported as
#: unreadable, plugins, plugins whose tests are read, nodes.
_ERRORS, _REMARKS, _PLUGINS, _TESTED, _HOSTS = 200, 20, 100, 10, 10_000


def read(path: str | pathlib.Path, *, title: str | None = None,
         sha256: str = '', copy_to: str | pathlib.Path | None = None
         ) -> model.Result:
    """Read an archive, or a folder with one or with Hydrophone's files.

    :param path: the ``.tar.gz``, a folder that contains exactly one, an
        unpacked archive, or a folder with JUNIT and LOG.
    :param title: of the result; by default the name of the record.
    :param sha256: hex digest that the archive must have, empty if unknown.
    :param copy_to: folder for unchanged copies of JUNIT and LOG of the e2e
        tests, as far as they are there.
    :raises UsageError: there is no such file or folder.
    :raises Damage: it cannot be read, or is not safe to read.
    """
    path = local(path)
    with reading(path):
        if not path.exists():
            raise errors.UsageError('There is no such archive or folder',
                                    where=path)
        if path.is_dir() and not _loose(path) and not (
                path / 'plugins').is_dir():
            path = _only_archive(path)
        record = _Record(path, pathlib.Path(copy_to) if copy_to else None)
        if not path.is_dir():
            return _read(path, record, title, sha256)
        loose = _loose(path)
        for member in _files(path) if loose else _tree(path):
            record.take(member)
        return record.result(
            title or path.resolve().name, '',
            model.HYDROPHONE if loose else model.SONOBUOY)


@contextlib.contextmanager
def reading(path: object) -> collections.abc.Iterator[None]:
    """Turn errors of the system into a Damage.

    :param path: of the record.
    """
    try:
        yield
    except OSError as e:
        raise damage.Damage(f'Cannot read the record: {e.strerror}',
                            where=e.filename or path) from e


def local(path: str | pathlib.Path) -> pathlib.Path:
    """The path of a record that a user names.

    :raises UsageError: it is a URL.
    """
    if '://' in str(path):
        raise errors.UsageError('A record cannot be read from a URL',
                                where=path, hint='Download it first')
    return pathlib.Path(path)


def checksum(path: str | pathlib.Path) -> str:
    """SHA-256 of a gzip file in hex, decompressed to its end.

    :raises Damage: it cannot be read, or is broken.
    """
    with _open(pathlib.Path(path)) as stream, contextlib.closing(
            tar.Content(stream, path)) as content:
        content.to_end()
        return content.sha256


def _read(path: pathlib.Path, record: '_Record', title: str | None,
          sha256: str) -> model.Result:
    with _open(path) as stream:
        _recognize(path, stream.read(512))
        stream.seek(0)
        with contextlib.closing(tar.Content(stream, path)) as content:
            for member in tar.members(content):
                record.take(member)
    if record.foreign:
        raise damage.Damage('It is not a Sonobuoy archive', where=path,
                            hint='Name the .tar.gz file that "sonobuoy '
                            'retrieve" or "magnum-capi conformance run" wrote')
    if sha256 not in ('', content.sha256):
        raise damage.Damage(
            'The archive does not have the expected SHA-256', where=path,
            last_seen=content.sha256, hint='Retrieve it again')
    return record.result(
        title or path.name.removesuffix('.gz').removesuffix('.tar'),
        content.sha256)


def _loose(path: pathlib.Path) -> bool:
    return any((path / name).exists() for name in (JUNIT, LOG))


def _only_archive(path: pathlib.Path) -> pathlib.Path:
    archives = sorted(path.glob('*.tar.gz'))
    if len(archives) != 1:
        raise damage.Damage(
            f'The folder has {len(archives)} archives and no JUnit file',
            where=path, hint='Name the archive')
    return archives[0]


def _files(path: pathlib.Path) -> collections.abc.Iterator[tar.Member]:
    """The two files, as members of an archive."""
    for name in (JUNIT, LOG):
        if (path / name).exists():
            yield _member(path / name,
                          f'plugins/{model.E2E}/results/global/{name}')


def _tree(path: pathlib.Path) -> collections.abc.Iterator[tar.Member]:
    """The files of an unpacked archive; links are not followed."""
    count = 0
    for place, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            count += 1
            if count > tar.MEMBERS:
                raise damage.Damage(f'More than {tar.MEMBERS} files',
                                    where=path)
            file = pathlib.Path(place) / name
            if file.is_file() and not file.is_symlink():
                yield _member(file, file.relative_to(path).as_posix())


def _member(file: pathlib.Path, name: str) -> tar.Member:
    def pieces() -> collections.abc.Iterator[bytes]:
        size = 0
        with _open(file) as stream:
            while piece := stream.read(tar.PIECE):
                size += len(piece)
                if size > MEMBER:
                    raise damage.Damage(f'More than {MEMBER} bytes',
                                        where=file)
                yield piece
    return tar.Member(name, file.stat().st_size, pieces)


def _open(path: pathlib.Path) -> io.FileIO:
    # Opening a FIFO would wait for a writer.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise damage.Damage('It is not a regular file', where=path)
    return open(handle, 'rb', buffering=0)


def _recognize(path: pathlib.Path, head: bytes) -> None:
    """Refuse a file that is no gzip file, by what it is.

    :param head: its first 512 bytes.
    """
    if not head or head.startswith(b'\x1f\x8b'):
        return
    hint = ('Name the .tar.gz of Sonobuoy, or the folder with the '
            'junit_01.xml and e2e.log of a run')
    if head[257:262] == b'ustar':
        what = 'It is a tar archive without compression'
        hint = 'Compress it first: gzip FILE'
    elif head.startswith(b'PK\3\4'):
        what = 'It is a zip archive, not a .tar.gz'
    elif b'<testsuite' in head:
        what = 'It is a JUnit file, not an archive'
    elif _is_text(head):
        what = 'It is a text file, not an archive'
    else:
        what = 'It is not a gzip file'
    raise damage.AnotherKind(what, where=path, hint=hint)


def _is_text(head: bytes) -> bool:
    # The last character may be cut.
    text = head.decode('utf-8', 'ignore')
    return len(head) - len(text.encode()) < 4 and '\0' not in text


@dataclasses.dataclass
class _Tests:
    """What the tests of a plugin left.

    :param copies: name of a file -> path of its copy.
    """

    suite: junit.Suite | None = None
    log: model.Log | None = None
    definition: documents.Definition = documents.Definition()
    problems: list[str] = dataclasses.field(default_factory=list)
    copies: dict[str, pathlib.Path] = dataclasses.field(default_factory=dict)

    @property
    def e2e(self) -> bool:
        """They are those of Kubernetes."""
        return (self.log is not None and self.log.planned is not None
                or self.suite is not None
                and any(spec.sig for spec in self.suite.specs))


class _Record:
    """Collects the content of members, and combines it into the Result."""

    def __init__(self, source: pathlib.Path, copy_to: pathlib.Path | None
                 ) -> None:
        self._source = source
        self._copy_to = copy_to
        self._tests: dict[str, _Tests] = {}
        self._documents: dict[str, typing.Any] = {}
        self._plugins: dict[str, str] = {}
        self._errors: list[model.InfraError] = []
        self._hosts: set[str] = set()
        self._network = ''
        self._remarks: list[str] = []

    # ------------------------------------------------------------- members

    def take(self, member: tar.Member) -> None:
        """Read a member if it is needed."""
        name = member.name
        if name.rpartition('/')[2].startswith('._'):
            return      # AppleDouble: a Mac packed it.
        if match := _RESULT.fullmatch(name):
            self._result(match, member)
        elif name in _DOCUMENTS:
            kind, keep = _DOCUMENTS[name]
            self._documents[kind] = keep(self._document(member))
        elif _DAEMON_SETS.fullmatch(name):
            self._network = self._network or documents.network(
                self._document(member))
        elif (match := _HOST.match(name)) and len(self._hosts) < _HOSTS:
            self._hosts.add(texts.line(match[1], 253))

    @property
    def foreign(self) -> bool:
        """None of it is written by Sonobuoy."""
        return not (self._plugins or self._documents or self._hosts)

    def _result(self, match: re.Match[str], member: tar.Member) -> None:
        plugin = texts.line(match['plugin'], 100)
        if plugin not in self._plugins and len(self._plugins) < _PLUGINS:
            self._plugins[plugin] = ''
        if match['summary']:
            status = _STATUS.search(next(iter(member.pieces()), b'')[:4096])
            if status and plugin in self._plugins:
                self._plugins[plugin] = texts.line(
                    status[1].decode('utf-8', 'replace').strip('"\''), 50)
        elif match['error']:
            self._error(plugin, match['node'], member)
        elif tests := self._tests_of(plugin):
            if match['definition']:
                tests.definition = documents.Definition.of(
                    self._document(member))
            else:
                self._file(tests, match['file'], member)

    def _tests_of(self, plugin: str) -> _Tests | None:
        """The tests of a plugin; None if they are not those of Kubernetes."""
        if plugin not in self._tests:
            if plugin != model.E2E and (
                    model.E2E in self._documents.get('info', ())
                    or len(self._tests) == _TESTED):
                return None
            self._tests[plugin] = _Tests()
        return self._tests[plugin]

    def _file(self, tests: _Tests, file: str, member: tar.Member) -> None:
        """Read a log or a JUnit file; several JUnit files add up."""
        if member.size > MEMBER:
            raise damage.Damage(
                f'{member.name} has {member.size} bytes, more than '
                f'{MEMBER}', where=self._source)
        if file != LOG:
            parser = junit.Parser(f'{self._source}: {member.name}',
                                  tests.suite)
            self._pass(tests, file, member, parser.feed)
            tests.suite = parser.close()
            return
        reader = logs.Reader()
        self._pass(tests, file, member, reader.feed)
        if tests.log is not None:
            tests.problems.append(f'there is another e2e log: {member.name}')
        else:
            tests.log = reader.close()

    def _pass(self, tests: _Tests, file: str, member: tar.Member,
              feed: collections.abc.Callable[[bytes], None]) -> None:
        """Pass the content of a file on to its reader, and copy it."""
        with self._copy(tests, file) as keep:
            for piece in member.pieces():
                keep(piece)
                feed(piece)

    @contextlib.contextmanager
    def _copy(self, tests: _Tests, file: str) -> collections.abc.Iterator[
            collections.abc.Callable[[bytes], object]]:
        """A function that writes pieces to the copy of a file."""
        if self._copy_to is None or file not in (JUNIT, LOG):
            yield lambda piece: None
            return
        number = list(self._tests.values()).index(tests)
        tests.copies[file] = self._copy_to / f'.{number}-{file}'
        with open(tests.copies[file], 'wb') as stream:
            yield stream.write

    def _error(self, plugin: str, node: str | None, member: tar.Member
               ) -> None:
        if len(self._errors) < _ERRORS:
            node = texts.line(node or '', 253)
            where = plugin if node in ('', 'global') else f'{plugin}/{node}'
            self._errors.append(documents.error(
                self._document(member), where))

    def _document(self, member: tar.Member) -> object:
        """A JSON document, None if it is too big or invalid."""
        if member.size > DOCUMENT:
            self._unread(f'{member.name} has {member.size} bytes, more than '
                         f'{DOCUMENT}, and was not read')
            return None
        document = documents.parse(b''.join(member.pieces()))
        if document is None:
            self._unread(f'{member.name} is not JSON, and was not read')
        return document

    def _unread(self, what: str) -> None:
        if len(self._remarks) < _REMARKS:
            self._remarks.append(texts.line(what, 300))

    # -------------------------------------------------------------- result

    def result(self, title: str, sha256: str,
               backend: str = model.SONOBUOY) -> model.Result:
        """The Result of what was read."""
        for name in self._documents.get('info', ()):
            self._plugins.setdefault(name, '')
        plugin, tests = self._chosen()
        self._keep_copies(tests)
        log, definition = tests.log, tests.definition
        suite = tests.suite or junit.Suite()
        problems = list(tests.problems)
        if plugin:
            problems += crosscheck.problems(tests.suite, log)
        server = self._documents.get('server') or documents.Server()
        cluster = model.Cluster(
            kubernetes=(server.version or log and log.server
                        or documents.version_in(definition.environment.get(
                            'SONOBUOY_K8S_VERSION', '')[:100])),
            nodes=self._health.nodes or tuple(sorted(self._hosts)),
            cni=self._network)
        mode = _mode(suite, definition)
        version = documents.version_in(definition.image)
        if (mode == model.CERTIFIED and version and cluster.kubernetes
                and required.release(version)
                != required.release(cluster.kubernetes)):
            problems.append(f'the tests are of {version}, the API server is '
                            f'{cluster.kubernetes}')
        return model.Result(
            title=title, source=str(self._source), backend=backend,
            backend_version=self._documents.get('config', ''),
            sha256=sha256, mode=mode, started=suite.started,
            seconds=(suite.seconds if not log or log.seconds is None
                     else log.seconds),
            specs=tuple(suite.specs), suite_nodes=tuple(suite.nodes),
            infra_errors=tuple(self._errors),
            plugins=tuple(model.PluginResult(*item)
                          for item in sorted(self._plugins.items())),
            plugin=plugin, cluster=cluster, log=log,
            image=definition.image,
            stand_in_images=self._stand_in(definition, server),
            problems=tuple(problems), remarks=tuple(self._remarks),
            facts=self._facts(suite, log, definition, server))

    def _chosen(self) -> tuple[str, _Tests]:
        """Name and tests of the e2e plugin; the name is empty without one."""
        tests = dict(sorted(self._tests.items()))
        found = [name for name in tests if tests[name].e2e]
        if model.E2E in tests or model.E2E in self._plugins:
            found = [model.E2E]
        if not found:
            return '', _Tests()
        name, *others = found
        if others:
            self._unread(f'the e2e tests of the plugin {name} are judged, '
                         f'not those of {", ".join(others)}')
        return name, tests.get(name) or _Tests()

    def _keep_copies(self, chosen: _Tests) -> None:
        """Name the copies of the e2e plugin's files, and remove others."""
        for tests in self._tests.values():
            for file, copy in tests.copies.items():
                if tests is chosen:
                    copy.rename(copy.with_name(file))
                else:
                    copy.unlink()

    @property
    def _health(self) -> documents.Health:
        return self._documents.get('health') or documents.Health()

    def _stand_in(self, definition: documents.Definition,
                  server: documents.Server) -> bool:
        declared = definition.environment.get(model.STAND_IN_VARIABLE)
        # A node image says so in /etc/os-release, and kubelet repeats that.
        system = self._documents.get('nodes', {}).get('node system', '')
        return (declared == model.STAND_IN or model.STAND_IN in system
                or server.unbuilt)

    def _facts(self, suite: junit.Suite, log: model.Log | None,
               definition: documents.Definition, server: documents.Server
               ) -> dict[str, str]:
        options = suite.properties
        facts = {
            'image of the tests': definition.image,
            'focus': options.get('FocusStrings'),
            'skip': options.get('SkipStrings'),
            'processes': options.get('ParallelTotal'),
            'random seed': options.get('RandomSeed'),
            'platform': server.platform,
            **self._documents.get('nodes', {}),
            'unhealthy nodes': ', '.join(self._health.unhealthy[:20]),
            'left out': f'output of {suite.shortened} specs'
            if suite.shortened else '',
            LAST_LINES: log.last
            if log and log.ran is None else ''}
        return {fact: value for fact, value in facts.items() if value}


def _mode(suite: junit.Suite, definition: documents.Definition) -> str:
    if 'FocusStrings' in suite.properties:
        return documents.mode(suite.properties['FocusStrings'],
                              suite.properties.get('SkipStrings'))
    return documents.mode_of(definition.environment)
