# SPDX-License-Identifier: Apache-2.0

"""What is wrong with a build that has ended, by its result and its logs."""

import collections
import json
import re
import urllib.parse
import urllib.request

from tests.unit.zuul import content
from tests.zuul import expectations


def problems(build) -> list[str]:
    """What is wrong with a build.

    :param build: as the API lists it.
    """
    name, logs = build['job_name'], build['log_url']
    out = []
    if build['result'] != expectations.result(name):
        detail = build.get('error_detail')
        out.append(f'{build["result"]}, expected {expectations.result(name)}'
                   + (f': {detail}' if detail else ''))
    links = [found['url'] for found in build['artifacts']]
    if not links and any(_links(book) for book in content.playbooks(
            name, expectations.known()) if (content.TOP / book).exists()):
        out.append('no report is linked')
    if not logs:
        return [*out, 'no log is linked: see the report, and zuul/ beside '
                'it']
    out += _task_problems(logs, expectations.failure(name))
    return out + [problem for link in (*links, 'job-output.txt')
                  for problem in _broken(urllib.parse.urljoin(logs, link))]


def _links(book):
    """Whether a playbook or one of its roles links a report."""
    paths = [content.TOP / book, *(
        content.TOP / 'roles' / role / 'tasks/zuul.yaml'
        for role in content.roles_of(book))]
    return any('zuul_return' in path.read_text()
               for path in paths if path.exists())


def _task_problems(logs, wanted):
    """Tasks that failed and should not have, and the other way round.

    :param logs: URL of the folder.
    :param wanted: the one that must fail, None: none.
    """
    try:
        with urllib.request.urlopen(
                urllib.parse.urljoin(logs, 'job-output.json'),
                timeout=60) as response:
            found = failed(json.load(response))
    except (OSError, ValueError) as e:
        return [f'job-output.json cannot be read: {e}']
    out = [_sentence('failed', *task) for task in found if task != wanted]
    if wanted and wanted not in found:
        out.append(_sentence('did not fail', *wanted))
    return out


def _sentence(verb, phase, task, code):
    tail = '' if code is None else f' with exit code {code}'
    return f'{phase}: "{task}" {verb}{tail}'


def failed(output) -> list[tuple[str, str, int | None]]:
    """Tasks that failed, those that were rescued among them.

    :param output: job-output.json, of Zuul's callback zuul_json.
    :returns: phase, name and exit code of each, None: it has none.
    """
    return [(book['phase'], task['task']['name'], result.get('rc'))
            for book in output for play in book['plays']
            for task in play['tasks'] for result in task['hosts'].values()
            if result.get('failed') or result.get('unreachable')]


def _broken(link):
    try:
        with urllib.request.urlopen(link, timeout=60) as response:
            if not response.read(1):
                yield f'{link} is empty'
    except (OSError, ValueError) as e:
        yield f'{link} does not open: {e}'


def said(log, build, lines=60) -> str:
    """What the executor said of a build, with tracebacks.

    Only there is what fails before the first task or behind the last.

    :param log: path of its log, which need not exist.
    :param build: uuid.
    :param lines: the last ones.
    """
    found, ours = collections.deque(maxlen=lines), False
    if log.exists():
        with log.open(errors='replace') as f:
            for line in f:
                # A line without a time belongs to the one before.
                if re.match(r'\d{4}-\d\d-\d\d ', line):
                    ours = f'[build: {build}] ' in line
                if ours:
                    found.append(re.sub(r'\[(e|build): \w+\] ', '', line))
    return ''.join(found).rstrip()
