# SPDX-License-Identifier: Apache-2.0

"""Combines the members of a record into a Result."""

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance.results import crosscheck
from magnum_capi_tempest.conformance.results import damage
from magnum_capi_tempest.conformance.results import documents
from magnum_capi_tempest.conformance.results import e2elog
from magnum_capi_tempest.conformance.results import infra
from magnum_capi_tempest.conformance.results import junit
from magnum_capi_tempest.conformance.results import layout
from magnum_capi_tempest.conformance.results import summary
from magnum_capi_tempest import texts

E2E = model.E2E
#: Most errors of a plugin to keep; a broken plugin has one per node.
_ERRORS = 200
#: Most documents that are reported as unreadable.
_REMARKS = 20
#: Most plugins that are listed.
_PLUGINS = 100
#: Document -> what to keep of it.
_KEPT = {'health': documents.Health.of, 'config': documents.version,
         'info': documents.plugins, 'server': documents.Server.of,
         'nodes': documents.systems}


class Record:
    """Collects the content of members, and combines it into the Result.

    :param source: path of what is read.
    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, source, limits):
        self._source = source
        self._limits = limits
        self._budget = junit.Budget(limits)
        self._suite = None
        self._log = None
        self._documents = {}
        self._definition = documents.Definition()
        self._plugins = {}
        self._errors = []
        self._hosts = set()
        self._network = ''
        self._problems = []
        self._remarks = []

    # ------------------------------------------------------------- members

    def take(self, member, walk):
        """Read a member if it is wanted."""
        name = member.name
        if not layout.wanted(name):
            match = layout.HOST.match(name)
            if match and len(self._hosts) < 10_000:
                self._hosts.add(texts.line(match[1], 253))
        elif match := layout.RESULT.fullmatch(name):
            self._result(match, member, walk)
        elif kind := layout.DOCUMENTS.get(name):
            self._documents[kind] = _KEPT[kind](self._document(member, walk))
        elif not self._network:
            self._network = documents.network(self._document(member, walk))

    @property
    def foreign(self) -> bool:
        """None of it is written by Sonobuoy."""
        return not (self._plugins or self._documents or self._hosts)

    def enough(self, name):
        """Is everything read that a quick look needs, before this member?

        The folders of an archive are sorted by name: after the plugin come
        other plugins, logs and resources.
        """
        return (self._suite is not None and self._log is not None
                and not name.startswith(f'plugins/{E2E}/'))

    def _result(self, match, member, walk):
        plugin = texts.line(match['plugin'], 100)
        if plugin not in self._plugins and len(self._plugins) < _PLUGINS:
            self._plugins[plugin] = None
        if match['summary']:
            self._summary(plugin, walk)
        elif match['error']:
            self._error(plugin, match['node'], member, walk)
        elif plugin != E2E:
            return
        elif match['definition']:
            self._definition = documents.Definition.of(
                self._document(member, walk))
        elif match['log']:
            self._check(member)
            self.log(walk.content(), member.name)
        else:
            self._check(member)
            self.junit(walk.content(), member.name)

    def _check(self, member):
        if member.size > self._limits.member:
            raise damage.Damage(
                f'{member.name} has {member.size} bytes, more than '
                f'{self._limits.member}', where=self._source)

    def junit(self, pieces, name):
        """Read a JUnit file; several add up."""
        parser = junit.Parser(f'{self._source}: {name}', self._limits,
                              self._budget, self._suite)
        for piece in pieces:
            parser.feed(piece)
        self._suite = parser.close()

    def log(self, pieces, name):
        """Read an e2e log."""
        scanner = e2elog.Scanner(self._limits)
        for piece in pieces:
            scanner.feed(piece)
        if self._log is not None:
            self._problems.append(f'there is another e2e log: {name}')
            return
        self._log = scanner.close()

    def _summary(self, plugin, walk):
        counter = summary.Counter()
        for piece in walk.content():
            counter.feed(piece)
        counter.close()
        if counter.overflow:
            self._problems.append(
                f"Sonobuoy's summary of {plugin} has more levels or "
                'statuses than are read')
        if not counter.status:
            self._unread(f'plugins/{plugin}/sonobuoy_results.yaml has no '
                         'status')
        if plugin in self._plugins:
            self._plugins[plugin] = counter

    def _error(self, plugin, node, member, walk):
        if len(self._errors) < _ERRORS:
            node = texts.line(node or '', 253)
            where = plugin if node in ('', 'global') else f'{plugin}/{node}'
            self._errors.append(infra.from_document(
                self._document(member, walk), where))

    def _document(self, member, walk):
        """A JSON document, None if it is too big or invalid."""
        if member.size > self._limits.document:
            self._unread(f'{member.name} has {member.size} bytes, more than '
                         f'{self._limits.document}, and was not read')
            return None
        data = bytearray()
        for piece in walk.content():
            data += piece
        document = documents.parse(bytes(data))
        if document is None:
            self._unread(f'{member.name} is not JSON, and was not read')
        return document

    def _unread(self, what):
        if len(self._remarks) < _REMARKS:
            self._remarks.append(texts.line(what, 300))

    # -------------------------------------------------------------- result

    def result(self, title, sha256, whole, backend=model.SONOBUOY,
               kubernetes=''):
        """The Result of what was read."""
        log = self._log or e2elog.Log()
        suite = self._suite or self._salvaged(log)
        plugins = self._plugin_results()
        problems = list(self._problems)
        if E2E in self._plugins or backend != model.SONOBUOY:
            # Sonobuoy counts errors of the plugin as tests as well.
            broken = any(e.where.split('/')[0] == E2E for e in self._errors)
            problems += crosscheck.problems(
                self._suite, self._log,
                next((p for p in plugins if p.name == E2E and not broken),
                     None))
        cluster = self._cluster(log, kubernetes)
        mode = self._mode(suite)
        tests = documents.version_in(self._definition.image)
        if (mode == model.CERTIFIED and tests and cluster.kubernetes
                and documents.minor(tests)
                != documents.minor(cluster.kubernetes)):
            problems.append(f'the tests are of {tests}, the API server is '
                            f'{cluster.kubernetes}')
        return model.Result(
            title=title, source=str(self._source), backend=backend,
            backend_version=self._documents.get('config', ''),
            sha256=sha256, verified=bool(sha256), mode=mode,
            started=suite.started,
            seconds=suite.seconds if log.seconds is None else log.seconds,
            planned=log.planned, suite_finished=log.ran is not None,
            suite_succeeded=log.success,
            specs=tuple(suite.specs), suite_nodes=tuple(suite.nodes),
            infra_errors=tuple(self._errors), plugins=plugins,
            cluster=cluster, whole=whole, stand_in_images=self._stand_in(),
            problems=tuple(problems), remarks=tuple(self._remarks),
            facts=self._facts(suite, log, whole))

    def _salvaged(self, log):
        """The information in a log's summary if the JUnit file is lost."""
        suite = junit.Suite()
        suite.specs = [
            model.Spec(name, model.FAILED,
                       failure='the JUnit file is lost; this is from the '
                               'summary of the e2e log')
            for name in log.failed]
        return suite

    def _plugin_results(self):
        for name in self._documents.get('info', ()):
            self._plugins.setdefault(name, None)
        return tuple(
            model.PluginResult(name, counter.status if counter else '',
                               dict(counter.counts) if counter else {})
            for name, counter in sorted(self._plugins.items()))

    def _cluster(self, log, kubernetes):
        version = (kubernetes or self._server().version or log.server
                   or documents.version_in(self._definition.environment.get(
                       'SONOBUOY_K8S_VERSION', '')[:100]))
        nodes = self._health().nodes or tuple(sorted(self._hosts))
        return model.Cluster(kubernetes=version, nodes=nodes,
                             cni=self._network)

    def _mode(self, suite):
        if 'FocusStrings' in suite.properties:
            return documents.mode(suite.properties['FocusStrings'],
                                  suite.properties.get('SkipStrings'))
        return documents.mode_of(self._definition.environment)

    def _stand_in(self):
        told = self._definition.environment.get(model.STAND_IN_VARIABLE)
        # A node image says so in /etc/os-release, and kubelet repeats that.
        system = self._documents.get('nodes', {}).get('node system', '')
        return (told == model.STAND_IN or model.STAND_IN in system
                or self._server().unbuilt)

    def _server(self):
        return self._documents.get('server') or documents.Server()

    def _health(self):
        return self._documents.get('health') or documents.Health()

    def _facts(self, suite, log, whole):
        facts = {}
        if self._definition.image:
            facts['image of the tests'] = self._definition.image
        for fact, key in (('focus', 'FocusStrings'), ('skip', 'SkipStrings'),
                          ('processes', 'ParallelTotal'),
                          ('random seed', 'RandomSeed')):
            if suite.properties.get(key):
                facts[fact] = suite.properties[key]
        if self._server().platform:
            facts['platform'] = self._server().platform
        facts |= self._documents.get('nodes', {})
        if bad := self._health().unhealthy:
            facts['unhealthy nodes'] = ', '.join(bad[:20])
        if suite.shortened:
            facts['left out'] = f'output of {suite.shortened} specs'
        if log.last and log.ran is None:
            facts['last lines of the e2e log'] = log.last
        if not whole:
            facts['read'] = 'up to the results of the e2e tests'
        return facts
