# SPDX-License-Identifier: Apache-2.0

"""Combines the members of a record into a Result.

The plugin of the e2e tests may have any name: if none is called e2e, it is the
first one whose tests belong to a SIG, as all of Kubernetes' suite do.
"""

import dataclasses

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
#: Most plugins that are listed, and most whose tests are read.
_PLUGINS, _TESTED = 100, 10
#: Document -> what to keep of it.
_KEPT = {'health': documents.Health.of, 'config': documents.version,
         'info': documents.plugins, 'server': documents.Server.of,
         'nodes': documents.systems}


@dataclasses.dataclass
class _Tests:
    """What the tests of a plugin left.

    :param budget: :class:`~.junit.Budget`.
    :param fault: why not all of it could be read.
    """

    budget: junit.Budget
    suite: junit.Suite | None = None
    log: e2elog.Log | None = None
    definition: documents.Definition = documents.Definition()
    problems: list = dataclasses.field(default_factory=list)
    fault: damage.Damage | None = None

    @property
    def e2e(self) -> bool:
        """They are those of Kubernetes."""
        return (self.log is not None and self.log.planned is not None
                or self.suite is not None
                and any(spec.sig for spec in self.suite.specs))


class Record:
    """Collects the content of members, and combines it into the Result.

    :param source: path of what is read.
    :param limits: :class:`~.limits.Limits`.
    """

    def __init__(self, source, limits):
        self._source = source
        self._limits = limits
        self._tests = {}
        self._documents = {}
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
        tests = self._tests.get(E2E)
        return (tests is not None and tests.suite is not None
                and tests.log is not None
                and not name.startswith(f'plugins/{E2E}/'))

    def _result(self, match, member, walk):
        plugin = texts.line(match['plugin'], 100)
        if plugin not in self._plugins and len(self._plugins) < _PLUGINS:
            self._plugins[plugin] = None
        if match['summary']:
            self._summary(plugin, walk)
        elif match['error']:
            self._error(plugin, match['node'], member, walk)
        elif tests := self._tests_of(plugin):
            if match['definition']:
                tests.definition = documents.Definition.of(
                    self._document(member, walk))
            elif member.size > self._limits.member:
                self._refuse(plugin, damage.Damage(
                    f'{member.name} has {member.size} bytes, more than '
                    f'{self._limits.member}', where=self._source))
            else:
                read = self.log if match['log'] else self.junit
                read(walk.content(), member.name, plugin)

    def _tests_of(self, plugin):
        """The tests of a plugin; None if they are not those of Kubernetes."""
        if plugin not in self._tests:
            if plugin != E2E and (E2E in self._documents.get('info', ())
                                  or len(self._tests) == _TESTED):
                return None
            self._tests[plugin] = _Tests(junit.Budget(self._limits))
        return self._tests[plugin]

    def _refuse(self, plugin, fault):
        """Keep a fault for later if the plugin may be of other tests."""
        if plugin == E2E:
            raise fault
        self._tests[plugin].fault = fault

    def junit(self, pieces, name, plugin=E2E):
        """Read a JUnit file; several add up."""
        tests = self._tests_of(plugin)
        parser = junit.Parser(f'{self._source}: {name}', self._limits,
                              tests.budget, tests.suite)
        for piece in pieces:
            try:
                parser.feed(piece)
            except damage.Damage as e:
                return self._refuse(plugin, e)
        try:
            tests.suite = parser.close()
        except damage.Damage as e:
            self._refuse(plugin, e)

    def log(self, pieces, name, plugin=E2E):
        """Read an e2e log."""
        tests = self._tests_of(plugin)
        scanner = e2elog.Scanner(self._limits)
        for piece in pieces:
            scanner.feed(piece)
        if tests.log is not None:
            tests.problems.append(f'there is another e2e log: {name}')
            return
        tests.log = scanner.close()

    def _chosen(self, plugins):
        """Name and tests of the e2e plugin; the name is empty without one."""
        tests = dict(sorted(self._tests.items()))
        names = [name for name in tests if tests[name].e2e]
        if E2E in tests or E2E in plugins:
            names = [E2E]
        faults = {name: one.fault for name, one in tests.items() if one.fault}
        if faults and not names:
            raise next(iter(faults.values()))
        if names and names[0] in faults:
            raise faults[names[0]]
        self._problems += [
            f'the results of the plugin {name} cannot be read: {fault.what}'
            for name, fault in faults.items()]
        if names[1:]:
            self._unread(f'the e2e tests of the plugin {names[0]} are judged, '
                         f'not those of {", ".join(names[1:])}')
        name = names[0] if names else ''
        return name, tests.get(name) or _Tests(junit.Budget(self._limits))

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
        plugins = self._plugin_results()
        plugin, tests = self._chosen([p.name for p in plugins])
        log = tests.log or e2elog.Log()
        suite = tests.suite or self._salvaged(log)
        problems = [*self._problems, *tests.problems]
        if plugin:
            # Sonobuoy counts errors of the plugin as tests as well.
            broken = any(e.where.split('/')[0] == plugin
                         for e in self._errors)
            problems += crosscheck.problems(
                tests.suite, tests.log,
                next((p for p in plugins if p.name == plugin and not broken),
                     None))
        cluster = self._cluster(log, tests.definition, kubernetes)
        mode = self._mode(suite, tests.definition)
        version = documents.version_in(tests.definition.image)
        if (mode == model.CERTIFIED and version and cluster.kubernetes
                and documents.minor(version)
                != documents.minor(cluster.kubernetes)):
            problems.append(f'the tests are of {version}, the API server is '
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
            infra_errors=tuple(self._errors), plugins=plugins, plugin=plugin,
            cluster=cluster, whole=whole,
            stand_in_images=self._stand_in(tests.definition),
            problems=tuple(problems), remarks=tuple(self._remarks),
            facts=self._facts(suite, log, tests.definition, whole))

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

    def _cluster(self, log, definition, kubernetes):
        version = (kubernetes or self._server().version or log.server
                   or documents.version_in(definition.environment.get(
                       'SONOBUOY_K8S_VERSION', '')[:100]))
        nodes = self._health().nodes or tuple(sorted(self._hosts))
        return model.Cluster(kubernetes=version, nodes=nodes,
                             cni=self._network)

    def _mode(self, suite, definition):
        if 'FocusStrings' in suite.properties:
            return documents.mode(suite.properties['FocusStrings'],
                                  suite.properties.get('SkipStrings'))
        return documents.mode_of(definition.environment)

    def _stand_in(self, definition):
        told = definition.environment.get(model.STAND_IN_VARIABLE)
        # A node image says so in /etc/os-release, and kubelet repeats that.
        system = self._documents.get('nodes', {}).get('node system', '')
        return (told == model.STAND_IN or model.STAND_IN in system
                or self._server().unbuilt)

    def _server(self):
        return self._documents.get('server') or documents.Server()

    def _health(self):
        return self._documents.get('health') or documents.Health()

    def _facts(self, suite, log, definition, whole):
        facts = {}
        if definition.image:
            facts['image of the tests'] = definition.image
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
