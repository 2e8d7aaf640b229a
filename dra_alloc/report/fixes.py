"""
What would help, as it is told: whose affair each change is, and what there is to say besides.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from dra_alloc.explain.facts import CLASS_COST, FREEING, REMOVING, TOLERATING, Whose
from dra_alloc.explain.fix import SEEN_SO_FAR, Fix
from dra_alloc.explain.reasons import Reasons
from dra_alloc.scenario.refused.asides import IN_REQUESTS, SET_BY_DRIVER, USED_BY_PODS

#: What is told of fixes where there is room: of two changes why both, and more of each.
BESIDES: Final = ("behind", "asides")
#: How many changes it is said that there are.
_NUMBERS: Final = {2: ("two", "both"), 3: ("three", "all")}
#: Steps in other words: whole claims go out of the pod, as to delete them is not enough, and drivers publish.
_IN_TEXT: Final = (
    (re.compile(r"\bdropping claim ([^\s,;:]+)"), r"taking claim \1 out of the pod"),
    (re.compile(r"\bhaving (\S+) publish the missing "), r"having driver \1 publish the missing "),
)
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
        *lines, last = _of_one_affair(f"fix {AFFAIRS[affair]}{where}", fixes, besides)
        yield from itertools.chain.from_iterable(lines)
        yield f"{last[0]}{left if fixes[-1] is told[-1] else ''}"
        yield from last[1:]
    if found.facts and not (found.fixes or found.untried):
        yield "fix: no change or pair of changes that was tried helps"


def _of_one_affair(head: str, fixes: Sequence[Fix], besides: Sequence[str]) -> Iterator[list[str]]:
    """Yield the single changes in one line, then each of several changes in its own; below each what is said of it."""
    single = [fix for fix in fixes if len(fix.steps) == 1 or _rests_on_unseen(fix)]
    if single:
        steps = list(dict.fromkeys(_said(fix, 0, besides) for fix in single))
        separator = "; or " if any(", " in each for each in steps) else ", or "
        unseen = [fix for fix in single if len(fix.steps) > 1]
        yield [f"{head}: {separator.join(steps)}", *_if_unseen_do_not_fit(unseen, besides)]
    for fix in (fix for fix in fixes if fix not in single):
        count, both = _NUMBERS.get(len(fix.steps), (str(len(fix.steps)), "all"))
        order = sorted(range(len(fix.steps)), key=lambda number: fix.each_whose[number] != fix.whose)
        steps = [f"({place}) {_said(fix, number, besides)}" for place, number in enumerate(order, 1)]
        why = [f"  why {both}: {in_text(fix.leaves)}"] if fix.leaves and "behind" in besides else []
        yield [f"{head}, {count} changes: {' and '.join(steps)}", *why]


def _if_unseen_do_not_fit(unseen: Sequence[Fix], besides: Sequence[str]) -> Iterator[str]:
    """Yield, for each slice that nobody has seen, what else is needed if it has no device that fits."""
    for missing, group in itertools.groupby(unseen, lambda fix: fix.steps[0]):
        fixes = list(group)
        steps = ", or ".join(dict.fromkeys(_said(fix, 1, besides) for fix in fixes))
        slices = "slices" if " missing slices " in missing else "slice"
        yield f"  if no device of the missing {slices} fits, also {steps}"


def _affair(fix: Fix) -> Whose:
    """Return whose affair a fix is: of several changes the furthest's, or the first's if that may be enough."""
    return fix.each_whose[0] if _rests_on_unseen(fix) else fix.whose


def _rests_on_unseen(fix: Fix) -> bool:
    """Return whether slices that nobody has seen yet may make the second change needless."""
    return fix.leaves.startswith(SEEN_SO_FAR)


def in_text(step: str) -> str:
    """Return what is said of changes as it is put to people; in JSON a change has the same words forever."""
    for found, said in _IN_TEXT:
        step = found.sub(said, step)
    return step


def _said(fix: Fix, number: int, besides: Sequence[str]) -> str:
    """Return a change as somebody would make it, with what there is to say besides."""
    asides = list(filter(None, fix.each_aside[number].split("; ")))
    step = _with_own(fix.steps[number], asides, fix.leaves)
    whose = fix.each_whose[number]
    more = [AFFAIRS[whose]] if whose != _affair(fix) else []
    more += ["; ".join(asides)] if asides and "asides" in besides else []
    return f"{step} ({', '.join(more)})" if more else step


def _with_own(step: str, asides: list[str], leaves: str) -> str:
    """Return a change with the aside that is part of saying it, which is taken from the others."""
    if step.startswith(FREEING):
        others = [each for each in asides if each.startswith("used by ") and not each.startswith(USED_BY_PODS)]
        return step if others else _freeing(step.removeprefix("freeing "), _taken(asides, *USED_BY_PODS))
    if step.startswith(TOLERATING):
        where = _taken(asides, *IN_REQUESTS)
        return f"{step}{_on_seen(step.removeprefix(TOLERATING), leaves)}{where and f' {where}'}"
    if step.startswith(REMOVING) and not any(" and by " in each for each in asides):
        driver, _, devices = _taken(asides, SET_BY_DRIVER).removeprefix(SET_BY_DRIVER).partition(" on ")
        return f"having driver {driver} clear the taint {step.removeprefix(REMOVING)} on {devices}" if driver else step
    return in_text(step)


def _taken(asides: list[str], *beginnings: str) -> str:
    """Return the first aside that begins so, which is none any more; empty if there is none."""
    found = next((each for each in asides if each.startswith(beginnings)), "")
    if found:
        asides.remove(found)
    return found


def _on_seen(taint: str, leaves: str) -> str:
    """Return which devices have a taint, of those of a pool that is not seen as a whole."""
    found = re.match(rf"{SEEN_SO_FAR}, (\S+(?: and \S+)?|\d+ devices): [^;]*\b{re.escape(taint)} ", leaves)
    return f" of {found[1]}" if found else ""


def _freeing(claim: str, pods: str) -> str:
    """Return what is done to free a claim: it goes with the last of its pods, which a controller makes anew."""
    if not pods:
        return f"deleting {claim}"
    pods = pods.removeprefix("used by ")
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
