# SPDX-License-Identifier: Apache-2.0

"""What is run in a sandbox, and the expected results.

Each function is a part of the proof. It gets a box.Box and the
compare.Expected tests, and returns unexpected results, one line each, and the
run of the tests.
"""

from magnum_capi_tempest.report import model
from tests.proofs.discovery import box as box_module
from tests.proofs.discovery import compare

#: Drivers that take over the types of other drivers in Magnum's map.
SHADOWING = ('k8s_capi_beta_v1', 'k8s_capi_lenient_v1')

_REST = (r'^(?!.*\b(%s)\b)'
         % '|'.join(sorted({compare.BROKEN, *compare.ELSEWHERE})))
#: Regular expressions of "tempest run".
REST = rf'{_REST}magnum_capi_tempest\.'
UNCURED = rf'{_REST}magnum_capi_tempest\..*\b{compare.UNCURED}\b'
ONLY = r'^magnum_capi_tempest\..*\b%s\b'
#: Tests with hostile texts in images. Other tests send such texts in requests,
#: which Magnum logs unchanged.
HOSTILE = r'^magnum_capi_tempest\..*\.HostileValuesTest\.'


def cured_or_named(box, tests) -> tuple[list[str], model.Run]:
    """With the filter, only tests fail that it cannot cure.

    The audit names each of them, and with its cures they pass.
    """
    box.run(HOSTILE, 'hostile')
    unclean = compare.unclean(box.log())
    found, run = rest(box, tests)
    found += unclean
    uncured = [t for t in tests if t.uncured and not t.apart]
    found += compare.without_finding(uncured, box.audit())
    box.disable(*SHADOWING)
    box.mend_image()
    found += compare.differences(
        box.run(UNCURED, 'cured'), uncured, lambda t: False)
    found += compare.still_found(uncured, box.audit())
    return found, run


def rest(box, tests) -> tuple[list[str], model.Run]:
    """Everything but the broken driver.

    Without the filter, only tests that show a deviation fail.
    """
    run = box.run(REST, 'rest')
    return compare.differences(
        run, [t for t in tests if not t.apart],
        lambda t: t.fails(box.with_filter)), run


def earlier(box, tests) -> tuple[list[str], model.Run]:
    """An earlier Magnum: the tests that show a deviation of the newest."""
    tests = [t for t in tests if t.deviations - {compare.BROKEN}]
    run = box.run(ONLY % rf'(?!{compare.BROKEN})magnum-[a-z]\w*', 'deviations')
    return compare.differences(run, tests, lambda t: t.fails(
        box.with_filter) and t.name not in compare.NOT_EARLIER), run


def patched(box, tests) -> tuple[list[str], model.Run]:
    """The patched Magnum without the filter: as if there were no deviation.

    Runs the tests of a broken driver if there is one, else all others.
    """
    tests = [t for t in tests if t.deviations
             and (compare.BROKEN in t.deviations) is box.broken]
    run = box.run(ONLY % (compare.BROKEN if box.broken
                          else r'magnum-(?!d8\b)\w+'), 'deviations')
    return compare.differences(run, tests, lambda test: False), run


def broken(box, tests) -> tuple[list[str], model.Run]:
    """A driver that cannot be loaded, in a sandbox of its own."""
    tests = [t for t in tests if compare.BROKEN in t.deviations]
    uncured = [t for t in tests if t.uncured]
    run = box.run(ONLY % compare.BROKEN, 'broken')
    found = compare.differences(
        run, tests, lambda t: t.fails(box.with_filter))
    found += compare.without_finding(uncured, box.audit())
    box.disable(box_module.BROKEN)
    # Without the filter, a template that names it still gets it: D4.
    found += compare.differences(
        box.run(ONLY % compare.BROKEN, 'cured'), tests,
        lambda t: not (box.with_filter or t.uncured))
    found += compare.still_found(uncured, box.audit())
    return found, run
