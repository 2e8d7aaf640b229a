"""
What would help, as it is told: whose affair each change is, and what there is to say besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dra_alloc.explain.facts import CLASS_COST, Whose
from dra_alloc.explain.fix import Fix, joined
from dra_alloc.explain.pairs import SEEN_SO_FAR
from dra_alloc.explain.reasons import Reasons

#: What is told of fixes where there is room: of two changes why both, and more of each.
BESIDES: Final = ("behind", "asides")
#: Whose affair a fix is, in a few words.
AFFAIRS: Final = {
    Whose.MANIFEST: "in the manifest",
    Whose.CLUSTER: "in the cluster",
    Whose.OTHERS: "that takes from others",
}


def fix_lines(found: Reasons, verbose: bool, where: str, most: int, besides: Sequence[str]) -> Iterator[str]:
    """Yield what is enough each, whose affair it is and, of several nodes, on which, with some of what is `besides`."""
    told = _told_fixes(found, verbose, most)
    left_out = len(found.fixes) - len(told)
    left = f" ({left_out} more {'fix' if left_out == 1 else 'fixes'} with -v)" if left_out else ""
    for affair, group in itertools.groupby(told, _affair):
        fixes = list(group)
        more = left if fixes[-1] is told[-1] else ""
        if affair is None:
            for fix in fixes:
                yield from _of_several(fix, where, more if fix is fixes[-1] else "", besides)
            continue
        steps = [fix.told if "asides" in besides else str(fix) for fix in fixes]
        yield f"fix {AFFAIRS[affair]}{where}: {', or '.join(steps)}{more}"
        yield from (f"  why both: {fix.leaves}" for fix in fixes if fix.leaves and "behind" in besides)
    if found.facts and not (found.fixes or found.untried):
        yield "fix: no change or pair of changes that was tried helps"


def _affair(fix: Fix) -> Whose | None:
    """Return whose affair a fix is; None where each of its changes is told with that."""
    return None if len(fix.affairs) > 1 or fix.leaves.startswith(SEEN_SO_FAR) else fix.whose


def _of_several(fix: Fix, where: str, more: str, besides: Sequence[str]) -> Iterator[str]:
    """
    Yield a fix that is the affair of several, with whose each of its changes is.

    What is behind slices that nobody has seen yet may need no second change: it is told as what may be left then.
    """
    asides = fix.each_aside if "asides" in besides else ("",) * len(fix.steps)
    steps = [
        f"{step} ({', '.join(filter(None, (AFFAIRS[whose].removeprefix('that '), aside)))})"
        for step, whose, aside in zip(fix.steps, fix.each_whose, asides, strict=True)
    ]
    if fix.leaves.startswith(SEEN_SO_FAR):
        yield f"fix {AFFAIRS[fix.each_whose[0]]}{where}: {fix.steps[0]}{more}"
        yield f"  if that brings nothing that fits, also {' and '.join(steps[1:])}"
        return
    yield f"fix{where}: {joined(steps)}{more}"
    yield from [f"  why both: {fix.leaves}"] if fix.leaves and "behind" in besides else ()


def _told_fixes(found: Reasons, verbose: bool, most: int) -> Sequence[Fix]:
    """Return the fixes that are told: without `verbose` a few, one of each affair; no class if there are others."""
    handy = [fix for fix in found.fixes if fix.cost < CLASS_COST] or found.fixes
    first = sorted({fix.whose: fix for fix in reversed(handy)}.values(), key=lambda fix: fix.order)
    told = [*first, *(fix for fix in handy if fix not in first)]
    return found.fixes if verbose else sorted(told[:most], key=lambda fix: fix.order)


def fix_objects(found: Reasons) -> dict[str, Any]:
    """Return fixes in JSON."""
    return {
        "fixes": list(map(_fix_object, found.fixes)),
        "behind": [fix.leaves for fix in found.fixes if fix.leaves],
    }


def _fix_object(fix: Fix) -> dict[str, Any]:
    """Return a fix in JSON; `affairs` and `asides` are of its steps, one each."""
    return {
        "steps": list(fix.steps),
        "cost": fix.cost,
        "whose": fix.whose.name.lower(),
        "affairs": [each.name.lower() for each in fix.each_whose],
        "asides": list(fix.each_aside),
    }
