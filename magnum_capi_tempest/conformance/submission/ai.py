# SPDX-License-Identifier: Apache-2.0

"""Recognises a folder of CNCF's AI conformance programme, and checks its form.

That programme (cncf/k8s-ai-conformance) has no tests to run: a vendor answers
a list of requirements in PRODUCT.yaml and links the evidence. The rules are
those of its scripts/validate.go; which requirements a release has is not known
here, so that one which the file leaves out is not missed.
"""

import collections.abc
import pathlib
import re

import yaml

from magnum_capi_tempest.conformance.submission import product as products
from magnum_capi_tempest.conformance.submission import rules

NAME = 'the AI conformance programme (cncf/k8s-ai-conformance)'
#: Fields of "metadata"; those of URLS must be addresses.
FIELDS = ('kubernetesVersion', 'platformName', 'platformVersion',
          'vendorName', 'websiteUrl', 'documentationUrl', 'productLogoUrl',
          'description', 'contactEmailAddress', 'k8sConformanceUrl')
URLS = ('websiteUrl', 'repoUrl', 'documentationUrl', 'productLogoUrl')
LEVELS = ('MUST', 'SHOULD')
IMPLEMENTED, PARTLY, NOT_APPLICABLE = (
    'Implemented', 'Partially Implemented', 'N/A')
STATUSES = (IMPLEMENTED, PARTLY, 'Not Implemented', NOT_APPLICABLE)
_LOGOS = ('.svg', '.eps', '.ai')
_CONFORMANCE = re.compile(
    r'https://github\.com/cncf/k8s-conformance/tree/(?:master|main)/'
    r'v\d+\.\d+/[^/]+/?')
_WORDS = re.compile(r'(?<=[a-z0-9])(?=[A-Z])')


def check(folder: str | pathlib.Path) -> tuple[rules.Finding, ...] | None:
    """Judge a submission to that programme.

    :param folder: ``v1.NN/product``, or the one that contains it.
    :returns: findings, whose rule is the part of the file; None if the folder
        is not one of that programme.
    """
    files = [file for pattern in ('', 'v1.*/*/', '*/')
             for file in sorted(pathlib.Path(folder).glob(
                 f'{pattern}{products.NAME}'))]
    if not files or not files[0].is_file() or files[0].is_symlink():
        return None
    with open(files[0], 'rb') as stream:
        root, broken = products.compose(
            stream.read(products.MOST_BYTES + 1))
    fields = {} if broken else _mapping(root)
    if not {'metadata', 'spec'} <= fields.keys():
        return None
    return (*_metadata(fields['metadata'], files[0].parent.parent.name),
            *_spec(fields['spec'], files[0].parent))


def _mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Nodes by key, of a node that may be anything."""
    return {key.value: value for key, value in node.value
            if isinstance(key, yaml.ScalarNode)
            } if isinstance(node, yaml.MappingNode) else {}


def _text(node: yaml.Node | None) -> str:
    """The text of a node, empty if it is none."""
    return node.value.strip() if isinstance(node, yaml.ScalarNode) and (
        node.tag != 'tag:yaml.org,2002:null') else ''


def _finding(rule: str, text: str, node: yaml.Node, level: str = rules.ERROR
             ) -> rules.Finding:
    return rules.Finding(rule, text, products.NAME,
                         node.start_mark.line + 1, level)


def _metadata(node: yaml.Node, release: str
              ) -> collections.abc.Iterator[rules.Finding]:
    known = _mapping(node)
    for field in dict.fromkeys((*FIELDS, *URLS)):
        # Both spellings are accepted, "websiteUrl" and "website_url".
        found = known.get(field, known.get(
            _WORDS.sub('_', field).lower()))
        value = _text(found)
        if not value:
            if field in FIELDS:
                yield _finding('metadata', f'the field {field} is missing '
                               'or empty', found or node)
        elif problem := _problem(field, value, release):
            yield _finding('metadata', f'{field}: {problem}', found)


def _problem(field: str, value: str, release: str) -> str:
    """Why a value is not valid; empty if it is."""
    if value.startswith('[') and value.endswith(']'):
        return f'{value} is the placeholder of the template'
    if field == 'kubernetesVersion':
        return '' if not rules.RELEASE.fullmatch(release) or (
            value == release) else f'{value}, but the folder is for {release}'
    if field == 'k8sConformanceUrl':
        return '' if _CONFORMANCE.fullmatch(value) else (
            'the form is https://github.com/cncf/k8s-conformance/tree/master/'
            'v1.NN/product')
    if field == 'contactEmailAddress':
        return products.email_problem(value)
    if field == 'productLogoUrl' and not value.lower().endswith(_LOGOS):
        return 'the logo must be of SVG, EPS or AI'
    return products.url_problem(value) if field in URLS else ''


def _spec(node: yaml.Node, folder: pathlib.Path
          ) -> collections.abc.Iterator[rules.Finding]:
    categories = _mapping(node)
    if not categories:
        yield _finding('spec', 'there are no requirements', node)
    for category, requirements in categories.items():
        if not isinstance(requirements, yaml.SequenceNode):
            yield _finding('spec', f'{category} is not a list of '
                           'requirements', requirements)
            continue
        for requirement in requirements.value:
            yield from _requirement(requirement, category, folder)


def _requirement(node: yaml.Node, category: str, folder: pathlib.Path
                 ) -> collections.abc.Iterator[rules.Finding]:
    known = _mapping(node)
    name, level, status, notes = (
        _text(known.get(key)) for key in ('id', 'level', 'status', 'notes'))
    listed = known.get('evidence')
    evidence = [link for one in (
        listed.value if isinstance(listed, yaml.SequenceNode) else ())
        if (link := _text(one))]
    what = f'{level or "requirement"} {name or "without an id"} of {category}'
    if not name or level not in LEVELS:
        yield _finding('spec', f'{what} needs an id, and a level of '
                       f'{" or ".join(LEVELS)}', node)
        return
    if level == 'SHOULD' and not status and not evidence:
        return      # It may be left open.
    if status not in STATUSES:
        yield _finding('status', f'{what}: {status or "nothing"!r} is not one '
                       f'of {", ".join(STATUSES)}', node)
    elif level == 'MUST' and status != IMPLEMENTED:
        yield _finding('status', f'{what} is {status}, and must be '
                       f'{IMPLEMENTED}', node)
    if status == NOT_APPLICABLE and not notes:
        yield _finding('status', f'{what} is {status}, and needs notes', node)
    if status in (IMPLEMENTED, PARTLY) and not evidence:
        yield _finding('evidence', f'{what} has no evidence; the programme\'s '
                       'check lets it pass', node, rules.WARNING)
    for link in evidence:
        if link.startswith(('http://', 'https://')):
            problem = products.url_problem(link)
        else:
            path = link.removeprefix('file://').partition('#')[0]
            problem = ('' if (folder / path).exists()
                       else 'there is no such file')
        if problem:
            yield _finding('evidence', f'{what}: {link}: {problem}', node)
