"""
Why a node refuses: a table of sections, in the order in which they are told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.reasons import Reasons
from dra_alloc.report.layout import MOST, UNLIMITED, cut, plural, some
from dra_alloc.report.records import Section
from dra_alloc.report.tallies import tally_lines, tally_members

__all__ = ["refusal_lines", "refusal_object", "sections_of"]


def _error(refusal: NodeRefusal, verbose: bool) -> Iterator[str]:
    if refusal.text:
        yield cut(refusal.text, verbose)


def _facts(found: Reasons, verbose: bool) -> Iterator[str]:
    texts = [text for _, text in found.facts]
    if verbose and texts:
        each = "and on each of them" if found.exact else "perhaps not on all of them"
        yield f"it rests on these facts, {each}:"
        yield from (f"  {text}" for text in texts)
    elif texts:
        more = f"; and {len(texts) - MOST} more (-v shows them)" if len(texts) > MOST else ""
        yield f"it rests on: {'; '.join(texts[:MOST])}{more}"


def _fixes(found: Reasons, verbose: bool) -> Iterator[str]:
    if found.fixes:
        yield f"fix: {', or '.join(map(str, found.fixes[:MOST]))} would be enough"


def _not_enough(found: Reasons, verbose: bool) -> Iterator[str]:
    if found.not_enough:
        yield f"not enough: {', or '.join(found.not_enough[:MOST])}"


def _untried(found: Reasons, verbose: bool) -> Iterator[str]:
    if found.untried:
        yield f"not tried, for want of budget: {some(found.untried, verbose)}"


def _hints(found: Reasons, verbose: bool) -> Iterator[str]:
    yield from (f"hint: {hint}" for hint in found.hints)


#: Sections of a refusal, and below them those of its reasons, where they were looked for.
_REFUSAL: Final = (
    partial(Section, "error", say=_error, shape=lambda refusal: {"error": refusal.text}),
    partial(Section, "tallies", say=tally_lines, shape=tally_members),
)
_REASONS: Final = (
    partial(
        Section,
        "facts",
        say=_facts,
        shape=lambda found: {"facts": [{"code": code, "text": text} for code, text in found.facts]},
    ),
    partial(
        Section,
        "fixes",
        say=_fixes,
        shape=lambda found: {"fixes": [{"steps": list(fix.steps), "cost": fix.cost} for fix in found.fixes]},
    ),
    partial(Section, "not-enough", say=_not_enough, shape=lambda found: {"notEnough": list(found.not_enough)}),
    partial(Section, "not-tried", say=_untried, shape=lambda found: {"notTried": list(found.untried)}),
    partial(Section, "hints", say=_hints, shape=lambda found: {"hints": list(found.hints)}),
)


def sections_of(refusal: NodeRefusal) -> tuple[Section, ...]:
    """Return the sections of a refusal, in the order in which they are told."""
    found = refusal.reasons
    reasons = () if found is None else tuple(make(about=found) for make in _REASONS)
    return (*(make(about=refusal) for make in _REFUSAL), *reasons)


def refusal_object(refusal: NodeRefusal) -> dict[str, Any]:
    """Return a refusal in JSON."""
    body: dict[str, Any] = {"node": refusal.node, "code": refusal.code}
    reasons: dict[str, Any] = {}
    for section in sections_of(refusal):
        (body if section.about is refusal else reasons).update(section.members())
    found = refusal.reasons
    return {**body, "reasons": None if found is None else {**reasons, "exact": found.exact}}


def refusal_lines(refusals: Sequence[NodeRefusal], verbose: bool) -> Iterator[str]:
    """Yield the reasons, most frequent first, each with the nodes that are alike."""
    groups: dict[object, list[NodeRefusal]] = {}
    for refusal in refusals:
        groups.setdefault((refusal.code, refusal.text, refusal.explanation.shape), []).append(refusal)
    ordered = sorted(groups.values(), key=len, reverse=True)
    most = UNLIMITED if verbose else MOST
    for group in ordered[:most]:
        others = f" and {plural(len(group) - 1, 'other node')} alike" if len(group) > 1 else ""
        yield f"on {group[0].node}{others}:"
        yield from (f"  {line}" for section in sections_of(group[0]) for line in section.lines(verbose))
    left = sum(map(len, ordered[most:]))
    if left:
        yield f"and other reasons on {plural(left, 'more node')} (-v shows them)"
