# SPDX-License-Identifier: Apache-2.0
"""The benchmarks find their own modules beside themselves, so these do too."""

import pathlib
import sys

_BENCHMARKS = pathlib.Path(__file__).resolve().parents[3] / 'benchmarks'
if str(_BENCHMARKS) not in sys.path:
    # Last: the names of the scripts there are common words.
    sys.path.append(str(_BENCHMARKS))
