"""
What would help, as it is told: whose affair each change is, and what there is to say besides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dra_alloc.explain.facts import CLASS_COST, FREEING, Whose
from dra_alloc.explain.fix import SEEN_SO_FAR, Fix, joined
from dra_alloc.explain.reasons import Reasons
from dra_alloc.scenario.refused.asides import USED_BY_PODS

#: What is told of fixes where there is room: of two changes why both, and more of each.
BESIDES: Final = ("behind", "asides")
#: Of a change that is numbered beside another one.
_LONG: Final = 80
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
        steps = [_steps(fix, besides) for fix in fixes]
        separator = "; or " if any(", " in each for each in steps) else ", or "
        yield f"fix {AFFAIRS[affair]}{where}: {separator.join(steps)}{more}"
        for fix in fixes:
            if _rests_on_unseen(fix):
                yield f"  if none of its devices fits, also {_said(fix, 1, besides)}"
            elif fix.leaves and "behind" in besides:
                yield f"  why both: {fix.leaves}"
    if found.facts and not (found.fixes or found.untried):
        yield "fix: no change or pair of changes that was tried helps"


def _affair(fix: Fix) -> Whose:
    """Return whose affair a fix is: of several changes the furthest's, or the first's if that may be enough."""
    return fix.each_whose[0] if _rests_on_unseen(fix) else fix.whose


def _rests_on_unseen(fix: Fix) -> bool:
    """Return whether slices that nobody has seen yet may make the second change needless."""
    return fix.leaves.startswith(SEEN_SO_FAR)


def _steps(fix: Fix, besides: Sequence[str]) -> str:
    """Return the changes of a fix, those first whose affair all of it is; numbered where the word between is lost."""
    if _rests_on_unseen(fix):
        return _said(fix, 0, besides)
    order = sorted(range(len(fix.steps)), key=lambda number: fix.each_whose[number] != fix.whose)
    steps = [_said(fix, number, besides) for number in order]
    if len(steps) > 1 and max(map(len, steps)) > _LONG:
        steps = [f"({number}) {step}" for number, step in enumerate(steps, 1)]
    return joined(steps)


def _said(fix: Fix, number: int, besides: Sequence[str]) -> str:
    """Return a change as somebody would make it, with what there is to say besides."""
    step, aside, whose = fix.steps[number], fix.each_aside[number], fix.each_whose[number]
    if step.startswith(FREEING) and (aside.startswith(USED_BY_PODS) or not aside):
        step, aside = _freeing(step.removeprefix("freeing "), aside.removeprefix("used by ")), ""
    more = [AFFAIRS[whose]] if whose != _affair(fix) else []
    more += [aside] if aside and "asides" in besides else []
    return f"{step} ({', '.join(more)})" if more else step


def _freeing(claim: str, pods: str) -> str:
    """Return what is done to free a claim: it goes with the last of its pods, which a controller makes anew."""
    if not pods:
        return f"deleting {claim}"
    verb = "ending" if " of " in pods else "deleting"
    return f"{verb} {pods} ({'hold' if pods.startswith('pods ') else 'holds'} {claim})"


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
