# SPDX-License-Identifier: Apache-2.0

"""The problems of a submission: with their rule, file and line."""

import dataclasses

#: The bot rejects the pull request, or the run would certify nothing.
ERROR = 'error'
#: The bot accepts it, but reviewers may not.
WARNING = 'warning'

#: The bot's scenarios, numbered as in its feature file. The two named
#: "instructions" are requirements 10 and 14 of instructions.md of
#: cncf/k8s-conformance, which have no scenario; the third is a technical
#: requirement of its reviewing.md.
LOG_VERSION = 'instructions 10'
LOG_MATCH = 'instructions 14'
LOG_SUCCESS = 'reviewing 5'
SECRETS = 'secrets'
RULES = {
    '1': 'the pull request has a title',
    '2': 'all four files are there and not empty',
    '3': 'there is no other file',
    '4': 'the files are in v1.NN/product/',
    '5': 'there is one folder only',
    '6': 'title and folder name the same release',
    '7': 'PRODUCT.yaml has every field that is required',
    '8': 'addresses in PRODUCT.yaml are well-formed',
    '9': 'addresses in PRODUCT.yaml lead to web pages',
    '10': 'the type of the product is one of three',
    '11': 'the title names a release and a product',
    '12': 'the release is still certified',
    '13': 'every required test is in junit_01.xml and passed',
    '14': 'no conformance test failed',
    LOG_VERSION: 'e2e.log is of that release',
    LOG_MATCH: 'e2e.log and junit_01.xml are of one run',
    LOG_SUCCESS: 'e2e.log ends with success',
    SECRETS: 'nothing looks like a secret',
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One problem.

    :param rule: key of RULES.
    :param text: what is wrong and what is required.
    :param file: path from the root of the submission, empty if no file is to
        blame.
    :param line: number of the offending line, from 1; None if there is none
        (something is missing).
    :param level: ERROR or WARNING.
    """

    rule: str
    text: str
    file: str = ''
    line: int | None = None
    level: str = ERROR

    @property
    def place(self) -> str:
        """``file:line``, in the form of editors and compilers."""
        return ':'.join(str(p) for p in (self.file, self.line) if p)

    def __str__(self):
        rule = (f'rule {self.rule}' if self.rule.isdigit() else self.rule)
        where = f'{self.place}: ' if self.place else ''
        return f'{self.level}: {where}{self.text} [{rule}]'
