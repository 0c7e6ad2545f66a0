# SPDX-License-Identifier: Apache-2.0

"""Submissions and certified archives made by hand, small and complete."""

import dataclasses

from magnum_capi_tempest.conformance import model
from magnum_capi_tempest.conformance import required
from magnum_capi_tempest.conformance.submission import product
from magnum_capi_tempest.conformance.submission import rules
from tests.unit.conformance import archives
from tests.unit.conformance import by_hand

RELEASE, NAME = 'v1.34', 'turbo-encabulator'
FOLDER = f'{RELEASE}/{NAME}'
TITLE = f'Conformance results for {FOLDER}'
LOG = f'{FOLDER}/e2e.log'
JUNIT = f'{FOLDER}/junit_01.xml'
PRODUCT = f'{FOLDER}/PRODUCT.yaml'
FIELDS = {
    'vendor': 'Yoyodyne', 'name': 'Turbo Encabulator', 'version': 'v1.7.4',
    'type': 'distribution', 'description': 'Superb.',
    'website_url': 'https://yoyo.example/te',
    'documentation_url': 'https://yoyo.example/te/docs',
    'contact_email_address': 'te@yoyo.example'}
CERTIFIED = (('FocusStrings', '\\[Conformance\\]'), ('SkipStrings', ''),
             ('ParallelTotal', '1'))


def product_yaml(**changes):
    """A PRODUCT.yaml; a field set to None is left out."""
    return ''.join(f'{name}: {value}\n' for name, value in
                   (FIELDS | changes).items() if value is not None).encode()


#: The log of a run of two specs.
END = model.Log(
    planned=2, ran=2, counts={'Passed': 2, 'Failed': 0},
    end='SUCCESS! -- 2 Passed | 0 Failed | 0 Pending | 5 Skipped')


def result(*specs, log=END, **kwargs):
    """A result of two conformance tests that passed, or of these specs."""
    specs = specs or (by_hand.passed('a [Conformance]', line=3),
                      by_hand.passed('b [Conformance]', line=4))
    return by_hand.result(*specs, log=log, **kwargs)


def submission(**changes):
    """A submission that breaks no rule, but for the changes."""
    files = tuple(rules.File(f'{FOLDER}/{name}', 10) for name in rules.FILES)
    good = rules.Submission(
        title=TITLE, files=files, product=product.parse(product_yaml()),
        result=result(), required=('a [Conformance]', 'b [Conformance]'),
        latest='v1.36')
    return dataclasses.replace(good, **changes)


def junit(*more, broken=(), names=None):
    """The JUnit file of a certified run, a case a line.

    :param broken: indices of required tests that failed.
    :param names: of the tests that ran; those that are required by default.
    """
    listed = []
    for at, name in enumerate(names or required.of(RELEASE)):
        bad = ('failed', '<failure>x</failure>') if at in broken else ()
        listed.append(archives.case(f'[It] {_escaped(name)}', *bad))
    return archives.junit('\n', '\n'.join([*listed, *more]),
                          properties=CERTIFIED)


def _escaped(name):
    return (name.replace('&', '&amp;').replace('<', '&lt;')
            .replace('>', '&gt;').replace('"', '&#34;').replace("'", '&#39;'))


def certified(broken=(), version='v1.34.9', names=None, **changes):
    """Members of the archive of a certified run; None leaves one out."""
    names = names or required.of(RELEASE)
    count = len(names)
    members = archives.files() | {
        archives.SERVER: archives.files()[archives.SERVER].replace(
            b'v1.34.9', version.encode()),
        archives.JUNIT: junit(broken=broken, names=names),
        archives.LOG: archives.log(count, count - len(broken), len(broken),
                                   count)} | changes
    return {name: content for name, content in members.items()
            if content is not None}


def write(folder, release=RELEASE, **changes):
    """Write the four files below a folder; returns the product's folder."""
    files = {'README.md': b'# How\n', 'PRODUCT.yaml': product_yaml(),
             'e2e.log': certified()[archives.LOG],
             'junit_01.xml': junit()} | changes
    place = folder / release / NAME
    place.mkdir(parents=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
    return place
