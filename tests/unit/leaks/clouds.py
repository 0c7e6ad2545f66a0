# SPDX-License-Identifier: Apache-2.0

"""A cloud of lists, for those who send it GETs."""

import collections


class Cloud:
    """``asked`` are the services and paths, in turn.

    :param answers: by the key of the list in the answer: the list, an error,
        or a list of these, which are answered in turn, the last one again and
        again.
    """

    def __init__(self, **answers):
        self.answers = collections.defaultdict(list, answers)
        self.asked = []

    def get(self, service, path):
        self.asked.append(f'{service} {path}')
        name = path.partition('?')[0].removesuffix('/detail').rpartition(
            '/')[2]
        key = name.removeprefix('os-').replace('-', '_')
        answer = self.answers[key]
        if isinstance(answer, list) and answer and isinstance(
                answer[0], (list, Exception)):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if isinstance(answer, Exception):
            raise answer
        return {key: answer}
