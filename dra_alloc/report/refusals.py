"""
Why a node refuses: a table of sections, in the order in which they are told.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from dra_alloc.cluster.outcomes import NodeRefusal
from dra_alloc.explain.fix import SEEN_SO_FAR
from dra_alloc.explain.reasons import Reasons
from dra_alloc.report.fixes import BESIDES, fix_lines, fix_objects, in_text
from dra_alloc.report.layout import MOST, cut, cut_to, height, plural, some
from dra_alloc.report.records import Section
from dra_alloc.report.tallies import short_of_devices, tally_lines, tally_members

#: Characters of an error that is told with the cause; others are told below.
_SHORT: Final = 80
#: What is the cause where each request could have what it wants, and a defect or an All lets them not have it.
_NONE_TOGETHER: Final = "no combination of devices works"


def cause_of(refusal: NodeRefusal) -> str:
    """Return in a sentence why the node refuses, as far as there is one: what there is to say before the error."""
    found = refusal.explanation
    if found.cause or not refusal.detail:
        fixes = () if refusal.reasons is None else refusal.reasons.fixes
        cause = found.cause or refusal.error or ("" if found.requests else _NONE_TOGETHER)
        # What a request needs is not said twice.
        needs = f"{SEEN_SO_FAR}, {cause.partition(', ')[0]}, "
        seen = (fix.leaves.replace(needs, f"{SEEN_SO_FAR}, ", 1) for fix in fixes if fix.leaves.startswith(SEEN_SO_FAR))
        return "; ".join((cause, *[f"apart from that, {each}" for each in itertools.islice(seen, 1)]))
    return f'{refusal.detail} ("{refusal.error}")' if len(refusal.error) <= _SHORT else refusal.detail


def _error(refusal: NodeRefusal, verbose: bool) -> Iterator[str]:
    if refusal.error and refusal.error not in cause_of(refusal):
        yield f"the error: {cut(refusal.error, verbose)}"


def _facts(found: Reasons, verbose: bool) -> Iterator[str]:
    if verbose and found.facts:
        each = "and on each of them" if found.exact else "perhaps not on all of them"
        yield f"it rests on these facts, {each}:"
        yield from (f"  {text}" for _, text in found.facts)


def _not_enough(found: Reasons, verbose: bool) -> Iterator[str]:
    if verbose and found.not_enough:
        seen = " with the devices seen so far" if any(code == "pool-incomplete" for code, _ in found.facts) else ""
        yield f"not enough{seen}: {', or '.join(map(in_text, found.not_enough))}"


def _untried(found: Reasons, verbose: bool) -> Iterator[str]:
    if found.untried:
        yield f"not tried, to save work: {some(list(map(in_text, found.untried)), verbose)}"


def _hints(found: Reasons, verbose: bool) -> Iterator[str]:
    told = found.hints if verbose else found.hints[:MOST]
    yield from (f"hint: {in_text(hint)}" for hint in told)
    if len(found.hints) > len(told):
        yield f"  and {plural(len(found.hints) - len(told), 'more hint')} (-v shows them)"


#: Sections of reasons, where they were looked for, around the tallies, in the order in which they are told.
_HINTS: Final = partial(Section, "hints", say=_hints, shape=lambda found: {"hints": list(found.hints)})
_CHANGES: Final = (
    partial(Section, "not-enough", say=_not_enough, shape=lambda found: {"notEnough": list(found.not_enough)}),
    partial(Section, "not-tried", say=_untried, shape=lambda found: {"notTried": list(found.untried)}),
)
_TALLIES: Final = (
    partial(Section, "error", say=_error),
    partial(Section, "tallies", say=tally_lines, shape=tally_members),
)
_FACTS: Final = (
    partial(
        Section,
        "facts",
        say=_facts,
        shape=lambda found: {"facts": [{"code": code, "text": text} for code, text in found.facts]},
    ),
)


def _sections_of(
    refusal: NodeRefusal, where: str = "", most: int = MOST, besides: Sequence[str] = BESIDES
) -> tuple[Section, ...]:
    """Return the sections of a refusal below its cause, in the order in which they are told, with `most` fixes."""
    found = refusal.reasons
    fixes = partial(
        Section, "fixes", say=partial(fix_lines, where=where, most=most, besides=besides), shape=fix_objects
    )
    changes, facts = ((_HINTS, fixes, *_CHANGES), _FACTS) if found is not None else ((), ())
    return (
        *(make(about=found) for make in changes),
        *(make(about=refusal) for make in _TALLIES),
        *(make(about=found) for make in facts),
    )


def refusal_objects(refusals: Sequence[NodeRefusal]) -> list[dict[str, Any]]:
    """Return refusals in JSON; reasons that nodes have in common are put into words once."""
    known: dict[int, dict[str, Any] | None] = {id(None): None}
    for each in refusals:
        if id(each.reasons) not in known:
            known[id(each.reasons)] = _reasons_object(each)
    return [
        {
            "node": each.node,
            "code": each.code,
            "error": each.text,
            "cause": cause_of(each),
            **tally_members(each),
            "reasons": known[id(each.reasons)],
        }
        for each in refusals
    ]


def _reasons_object(refusal: NodeRefusal) -> dict[str, Any]:
    found = refusal.reasons
    told = [section.members() for section in _sections_of(refusal) if section.about is found]
    return {**{key: value for each in told for key, value in each.items()}, "exact": found is not None and found.exact}


#: What is told of a kind of node that is one of several, below its cause.
_HEADS: Final = ("hints", "fixes", "not-tried")
#: What is told of the fixes of the nearest of them, each with less than the one before.
_OF_FIRST: Final = (BESIDES, BESIDES[:1], ())
#: All that is told of a node that is told of alone, the least of it last.
_WHOLE: Final = (*_HEADS, "not-enough", "error", "tallies", "facts", *BESIDES)
_WITHOUT_COUNTS: Final = tuple(each for each in _WHOLE if each != "tallies")
_WITHOUT_ERROR: Final = tuple(each for each in _WITHOUT_COUNTS if each != "error")
#: Ways to tell of one node, each with less than the one before: kinds, and how many fixes.
_LESS_OF_ONE: Final = (
    (_WHOLE, MOST),
    (_WITHOUT_COUNTS, MOST),
    (_WITHOUT_COUNTS, 2),
    (_WITHOUT_ERROR, 2),
    *((_WITHOUT_ERROR[:-1], most) for most in (MOST, 2, 1)),
)
#: What comes before it is told which names are others elsewhere.
_NAMING: Final = (*_HEADS, "not-enough")
#: Lines on a screen for one kind of node, and for several.
_LINES: Final = 12
_LINES_OF_MANY: Final = 15
_CAUSE: Final = "cause: "
#: Codes of what no node has a say in.
_EVERYWHERE: Final = frozenset(
    {
        "quota",
        "extended-resources",
        "claim-deleted",
        "claim-not-owned",
        "admin-access",
        "claim-missing",
        "claim-in-use",
        "claim-undated",
        "volume-missing",
        "volume-unbound",
        "unknown-class",
        "scheduling-gates",
        "pod-group",
        "in-order",
        "node-name",
    }
)
#: How many kinds of node are told of (and reasons of others), and how many besides the first with fixes if as near.
_LESS_AND_LESS: Final = ((4, 3), (3, 2), (3, 1), (4, 0), (3, 0), (2, 1), (2, 0), (1, 0))
_MOST_KINDS: Final = max(most for most, _ in _LESS_AND_LESS)
_BEYOND: Final = (4,)
_RULED_OUT: Final = (5,)
_UNTRIED: Final = (6,)
_UNKNOWN: Final = (7,)
#: How far nodes are, of some that are told of and, in a clause, of others.
_DISTANCES: Final = {
    1: ("one change away", "one change is enough"),
    2: ("two changes away", "two changes are needed"),
    3: ("three changes away", "three changes are needed"),
    _BEYOND[0]: ("out of reach of two changes", "no two changes are enough"),
    _RULED_OUT[0]: ("ruled out by what nodes are", ""),
    _UNKNOWN[0]: ("fixes not looked for", "no fix was looked for, as others are nearer"),
    _UNTRIED[0]: ("not all changes tried", "not all changes were tried"),
}
_WORDS: Final = re.compile(r"[^\s,;:()]+")


class _Worded:
    """The words of what is said of nodes, those of reasons that several have in common found once."""

    def __init__(self) -> None:
        # The reasons are kept, so that no others come by the same ids.
        self._of_reasons: dict[int, tuple[Reasons | None, list[list[str]]]] = {}

    def said(self, refusal: NodeRefusal) -> tuple[object, tuple[str, ...]]:
        """Return what is said of a node without the names of what is there, and those names in their order."""
        found, tallies = refusal.reasons, refusal.explanation.requests
        pools = [pool for tally in tallies for pool in tally.pools]
        names = {refusal.node, *[pool.pool for pool in pools]}
        for pool in pools:
            for group in pool.groups:
                names.update(group.holders, group.devices)
        _, reasons = self._of_reasons.get(id(found)) or self._of_reasons.setdefault(id(found), (found, _words(found)))
        words = [_WORDS.findall(refusal.explanation.cause), *reasons]
        nameless = tuple([tuple(["" if word in names else word for word in each]) for each in words])
        named = tuple([word for each in words for word in each if word in names])
        return (found is None, nameless), named


def _words(found: Reasons | None) -> list[list[str]]:
    """Return the words of fixes, of what they leave behind, of what is not enough, and of facts."""
    if found is None:
        return [[], []]
    behind, facts = [fix.leaves for fix in found.fixes], [text for _, text in found.facts]
    return list(map(_WORDS.findall, (*map(str, found.fixes), *behind, "", *found.not_enough, "", *facts)))


def _renamed(group: Sequence[NodeRefusal], verbose: bool) -> Iterator[str]:
    """Yield which names are others on the other nodes of a group."""
    said = _Worded().said
    names = said(group[0])[1]
    told: dict[str, list[tuple[str, str]]] = {}
    for refusal in group[1:]:
        for name, other in dict.fromkeys(zip(names, said(refusal)[1], strict=True)):
            if name != other:
                told.setdefault(name, []).append((other, refusal.node))
    for name, others_of in told.items():
        if name == group[0].node and all(other == node for other, node in others_of):
            nodes, own = ("nodes", "their own names") if len(others_of) > 1 else ("node", "its own name")
            yield f"on the other {nodes}: {own} in place of {name}"
        else:
            yield f"in place of {name}: {some([f'{other} on {node}' for other, node in others_of], verbose)}"


def refusal_lines(refusals: Sequence[NodeRefusal], verbose: bool, *, named: bool = False) -> Iterator[str]:
    """
    Yield the reasons, those nearest to a fit first, each with the nodes that are alike; of several the heads.

    The first line is the cause. Without `verbose` they take a screen at most: of what is further away less is told.
    With `named` it was said already which node it is.
    """
    groups = _groups(refusals)
    if verbose or len(groups) < 2:
        several = len(groups) > 1
        heads = [_head(each, first=not number, several=several, named=named) for number, each in enumerate(groups)]
        told = list(zip(groups, heads, strict=True))
        ways = (
            [line for each in told for line in _told(*each, _Shown(kinds, most, named, verbose))]
            for kinds, most in (_LESS_OF_ONE[:1] if verbose else _LESS_OF_ONE)
        )
        lines: list[str] = []
        for lines in ways:
            if height(lines) <= _LINES:
                break
        yield from lines if verbose else cut_to(lines, _LINES)
        return
    fitting = (lines for lines in _overviews(groups) if height(lines) <= _LINES_OF_MANY)
    yield from next(fitting, None) or min(_overviews(groups), key=height)


def first_cause(refusals: Sequence[NodeRefusal], *, named: bool = False) -> str:
    """Return the cause on the nodes that are nearest to a fit, with which nodes these are; empty if there is none."""
    groups = _groups(refusals)
    head = _head(groups[0], first=True, several=len(groups) > 1, named=named) if groups else ""
    return head.removeprefix(_CAUSE) if head.startswith(_CAUSE) else ""


def _groups(refusals: Sequence[NodeRefusal]) -> list[list[NodeRefusal]]:
    """Return the refusals of nodes that are alike together, those nearest to a fit first."""
    groups: dict[object, list[NodeRefusal]] = {}
    said = _Worded().said
    for each in refusals:
        groups.setdefault((each.code, each.text, each.explanation.shape, said(each)[0]), []).append(each)
    return sorted(groups.values(), key=lambda group: (_far(group[0]), -len(group)))


def _overviews(groups: Sequence[Sequence[NodeRefusal]]) -> Iterator[list[str]]:
    """Yield ways to tell of several kinds of node, each with less than the one before; the last is cut to what fits."""
    heads = [_head(each, first=not number, several=True) for number, each in enumerate(groups[:_MOST_KINDS])]
    for (most, with_fixes), besides in itertools.product(_LESS_AND_LESS, _OF_FIRST):
        lines: list[str] = []
        for number, (group, head) in enumerate(zip(groups[:most], heads, strict=False)):
            near = number <= with_fixes and _far(group[0])[0] == _far(groups[0][0])[0]
            kinds = (_HEADS if near else ()) if number else (*_HEADS, *besides)
            lines += _told(group, head if kinds else _pointing(head, group[0]), _Shown(kinds))
        yield [*lines, *_left_out(groups[most:])]
    left = list(_left_out(groups[1:]))
    yield [*cut_to(list(_told(groups[0], heads[0], _Shown(_HEADS))), _LINES_OF_MANY - height(left)), *left]


def _head(group: Sequence[NodeRefusal], *, first: bool, several: bool, named: bool = False) -> str:
    """Return the line that tells the cause on nodes that are alike, and of several kinds how far these are."""
    told = group[0]
    nodes = f"{_nodes(group, 'and')}{' alike' if len(group) > 1 else ''}"
    away = f", {_DISTANCES[_far(told)[0]][0]}" if several and told.reasons is not None else ""
    where = "" if named or (told.code in _EVERYWHERE and not several) else f"on {nodes}{away}:"
    cause = cause_of(told)
    return " ".join(part for part in (_CAUSE.strip() if first and cause else "", where, cause) if part)


def _pointing(head: str, refusal: NodeRefusal) -> str:
    """Return the head of a node whose fixes are left out, with where these are told."""
    away = f", {_DISTANCES[_far(refusal)[0]][0]}"
    fixes = refusal.reasons is not None and bool(refusal.reasons.fixes)
    return head.replace(f"{away}:", f"{away} (see -v):", 1) if fixes else head


def _nodes(group: Sequence[NodeRefusal], word: str) -> str:
    """Return the names of nodes that are alike, with a word before the last, or how many more there are."""
    names = [each.node for each in group]
    if len(names) > MOST:
        return f"{names[0]} {word} {plural(len(names) - 1, 'other node')}"
    return f" {word} ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


class _Shown(NamedTuple):
    """What is told of nodes that are alike: which kinds of it, how many fixes, and whether it was said where."""

    kinds: Sequence[str]
    most: int = MOST
    named: bool = False
    verbose: bool = False


def _told(group: Sequence[NodeRefusal], head: str, shown: _Shown) -> Iterator[str]:
    """Yield what is told of nodes that are alike: the cause, and some of the rest; all without a cause."""
    verbose = shown.verbose
    first = group[0]
    where = "" if shown.named or first.code in _EVERYWHERE else f" for {_nodes(group, 'or')}"
    if head:
        yield head
    deeper = "" if not head or head.startswith(_CAUSE) else "  "
    told = shown.kinds if cause_of(first) else _WHOLE
    found = _sections_of(first, where, 1 if deeper else shown.most, told)
    sections = [each for each in found if each.kind in told]
    yield from (f"{deeper}{line}" for each in sections if each.kind in _NAMING for line in each.lines(verbose))
    yield from (f"{deeper}{line}" for line in _renamed(group, verbose))
    yield from (f"{deeper}{line}" for each in sections if each.kind not in _NAMING for line in each.lines(verbose))


def _far(refusal: NodeRefusal) -> tuple[int, ...]:
    """Return how many changes a node is away from a fit and what they cost whom, as far as is known."""
    found = refusal.reasons
    if found is None:
        return _UNKNOWN if refusal.code == "no-fit" else _RULED_OUT
    return found.distance or (_UNTRIED if found.untried or not found.exact else _BEYOND)


def _left_out(groups: Sequence[Sequence[NodeRefusal]]) -> Iterator[str]:
    """Yield how far the nodes are that are not told of one by one."""
    counts = Counter(itertools.chain.from_iterable([_in_short(group[0])] * len(group) for group in groups))
    more = f"and {plural(counts.total(), 'more node')} {'does' if counts.total() == 1 else 'do'} not fit (-v shows why)"
    told = counts.most_common(_MOST_KINDS)
    others = counts.total() - sum(count for _, count in told)
    said = [f"on {count} {why}" for why, count in told] + [f"on {others} for other reasons"] * (others > 0)
    if counts:
        yield f"{more}: {told[0][0] if len(counts) == 1 else '; '.join(said)}"


def _in_short(refusal: NodeRefusal) -> str:
    """Return in a few words how far a node is, or what it has against the pod."""
    tallies = refusal.explanation.requests
    if tallies and not any(each.pools for each in tallies):
        return "there is no pool of devices"
    far = _far(refusal)
    if far == _RULED_OUT:
        return cut(refusal.detail or refusal.text, verbose=False)
    known = short_of_devices(tallies) if far == _UNKNOWN else ""
    return f"{known}{known and ', and '}{_DISTANCES[far[0]][1]}"
