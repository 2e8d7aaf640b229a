"""
Members of mappings in brackets, of YAML and JSON, moved one level down or up, dropped and added.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.manifest.edit.nodes import TextNode
from dra_alloc.manifest.edit.places import CannotEdit, Draft

Pair = tuple[TextNode, TextNode]


def nest(draft: Draft, node: TextNode, moved: Sequence[Pair], name: str) -> None:
    """Note the edits that put members below a new one; others between them come before it."""
    first, start, end = moved[0], moved[0][0].start, _end(moved[-1])
    at = node.pairs.index(first)
    before = ""
    for pair, following in zip(node.pairs[at:], node.pairs[at + 1 :], strict=False):
        if pair not in moved and pair[0].start < end:
            before += draft.text[pair[0].start : following[0].start]
            draft.drop(pair[0].start, following[0].start)
    opening = f"{before}{draft.named(node, name)}:{_gap(draft, first)}{{"
    if not draft.begins_line(start):
        blank = " " if draft.text.startswith("{ ", node.start) else ""
        draft.put(start, start, opening + blank)
        draft.put(end, end, blank + "}")
        return
    margin, broken = draft.margin(start), draft.line_break(start)
    deeper = margin.removeprefix(draft.margin(node.start)) or " " * draft.step
    draft.put(start, start, f"{opening}{broken}{margin}{deeper}")
    for line in draft.lines(draft.next_line(start), end):
        draft.put(line, line, deeper)
    draft.put(end, end, f"{broken}{margin}}}")


def unnest(draft: Draft, pair: Pair) -> None:
    """Note the edits that put the members of a member in its place."""
    key, child = pair
    _bare(draft, child)
    first, end = child.pairs[0][0], _end(child.pairs[-1])
    draft.drop(key.start, first.start)
    draft.drop(end, child.end)
    if not draft.begins_line(first.start):
        return
    margin, inner = draft.margin(key.start), draft.margin(first.start)
    if not inner.startswith(margin):
        return
    for line in draft.lines(draft.next_line(first.start), end):
        if draft.text.startswith(inner, line):
            draft.put(line + len(margin), line + len(inner), "")


def drop(draft: Draft, node: TextNode, pairs: Sequence[Pair]) -> None:
    """Note the edits that take members out."""
    kept = [at for at, pair in enumerate(node.pairs) if pair not in pairs]
    if not kept:
        draft.drop(node.pairs[0][0].start, node.end - 1)
        return
    for pair, following in zip(node.pairs[: kept[-1]], node.pairs[1:], strict=False):
        if pair in pairs:
            draft.drop(pair[0].start, following[0].start)
    if kept[-1] + 1 < len(node.pairs):
        draft.drop(_end(node.pairs[kept[-1]]), _end(node.pairs[-1]))


def add(draft: Draft, node: TextNode, name: str, value: str) -> None:
    """Note the edit that puts a member after the last one."""
    if not node.pairs:
        draft.put(node.end - 1, node.end - 1, f"{draft.named(node, name)}: {value}")
        return
    last, end = node.pairs[-1], _end(node.pairs[-1])
    own = draft.begins_line(last[0].start)
    apart = draft.line_break(last[0].start) + draft.margin(last[0].start) if own else _gap(draft, last)
    draft.put(end, end, f",{apart}{draft.named(node, name)}:{_gap(draft, last)}{value}")


def listed(draft: Draft, node: TextNode) -> None:
    """Note the edits that make a mapping the only member of a list in brackets."""
    if not draft.text.startswith("{", node.start):
        raise CannotEdit("it has an anchor or a tag")
    draft.put(node.start, node.start, "[")
    draft.put(node.end, node.end, "]")


def wrap(draft: Draft, node: TextNode, name: str) -> None:
    """Note the edits that make a value the member of a mapping in brackets."""
    draft.put(node.start, node.start, f"{{{draft.named(node, name)}: ")
    draft.put(node.end, node.end, "}")


def unwrap(draft: Draft, pair: Pair) -> None:
    """Note the edits that put the value of the only member of a mapping in its place."""
    key, child = pair
    value = child.pairs[0][1]
    if child.flow:
        _bare(draft, child)
        draft.drop(child.start, value.start)
        draft.drop(value.end, child.end)
    else:
        draft.drop(draft.text.index(":", key.end) + 1, value.start)
        draft.put(value.start, value.start, " ")


def _bare(draft: Draft, child: TextNode) -> None:
    if not child.flow or not draft.text.startswith("{", child.start):
        raise CannotEdit("it has an anchor or a tag")


def _end(pair: Pair) -> int:
    return max(pair[0].end, pair[1].end)


def _gap(draft: Draft, pair: Pair) -> str:
    """Return what stands between the colon of a member and its value: a blank, or nothing."""
    between = draft.text[pair[0].end : pair[1].start]
    return "" if between == ":" else " "
