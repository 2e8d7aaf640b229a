"""
Members of mappings without brackets, moved one level down or up, dropped and added: lines move with their comments.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Final

from dra_alloc.manifest.edit.nodes import TextNode
from dra_alloc.manifest.edit.places import CannotEdit, Draft

Pair = tuple[TextNode, TextNode]


def nest(draft: Draft, node: TextNode, moved: Sequence[Pair], name: str) -> None:
    """Note the edits that put members below a new one; others between them come before it."""
    first, last = moved[0][0], moved[-1]
    column = draft.column(first.start)
    begins, bound = draft.begins_line(first.start), _end_before(draft, node, moved[0])
    start = draft.comments_above(first.start, column, bound) if begins else first.start
    # Comments right of a member that follows belong to what stands above them.
    below = column if last is node.pairs[-1] else column + 1
    end = draft.comments_below(draft.next_line(draft.content_end(last)), below)
    between = node.pairs[node.pairs.index(moved[0]) : node.pairs.index(last)]
    staying = [_lines_of(draft, node, pair, column) for pair in between if pair not in moved]
    before = "".join(draft.text[one:other] for one, other in staying)
    broken, margin = draft.line_break(first.start), " " * column
    name = draft.named(node, name)
    step = " " * (step_of([value for _, value in moved], draft) or draft.step)
    if begins:
        draft.put(start, start, f"{before}{margin}{name}:{broken}")
    else:
        draft.put(start, start, f"{before[column:]}{margin if before else ''}{name}:{broken}{margin}{step}")
    for one, other in staying:
        draft.put(one, other, "")
    for line in draft.lines(start if begins else draft.next_line(start), end):
        if len(draft.margin(line)) >= column and not any(one <= line < other for one, other in staying):
            draft.put(line, line, step)


def enter(draft: Draft, node: TextNode, moved: Sequence[Pair], target: TextNode) -> None:
    """Note the edits that put members into a mapping beside them, those before it first, with their comments."""
    inner = draft.column(target.pairs[0][0].start)
    behind = draft.comments_below(draft.next_line(draft.content_end(target.pairs[-1])), inner)
    for pair in moved:
        column = draft.column(pair[0].start)
        start, end = _lines_of(draft, node, pair, column)
        end = draft.comments_below(end, column + 1)
        lines = [draft.text[line : draft.next_line(line)] for line in draft.lines(start, end)]
        text = "".join(" " * inner + line[column:] if line.strip() else line for line in lines)
        if not text.endswith("\n"):
            text += draft.line_break(start)
        before = pair[0].start < target.start
        at = draft.comments_above(target.pairs[0][0].start, inner, node.start) if before else behind
        draft.put(at, at, text)
        draft.put(start, end, "")


def unnest(draft: Draft, pair: Pair) -> None:
    """Note the edits that put the members of a member in its place."""
    key, child = pair
    if child.flow:
        _spread(draft, key, child)
        return
    if child.start != child.pairs[0][0].start:
        raise CannotEdit("it has an anchor or a tag")
    column, inner = draft.column(key.start), draft.column(child.start)
    colon = draft.text.index(":", key.end)
    comment = draft.comment_in(colon + 1)
    body = draft.next_line(colon)
    if comment is not None:
        draft.put(key.start, comment, "")
    elif draft.begins_line(key.start):
        draft.put(draft.line_start(key.start), body, "")
    else:
        # After the dash of a list: what comes first comes here.
        joined = next(line for line in draft.lines(body, child.end) if not draft.is_blank(line))
        first = joined + len(draft.margin(joined))
        draft.put(key.start, first, "")
        body = draft.next_line(first)
    for line in draft.lines(body, draft.comments_below(draft.next_line(draft.content_end(pair)), inner)):
        width = len(draft.margin(line))
        if width >= inner:
            draft.put(line, line + inner - column, "")
        elif width > column and width == draft.line_end(line) - line:
            draft.put(line + column, line + width, "")


def _spread(draft: Draft, key: TextNode, child: TextNode) -> None:
    """Put each member of a mapping in brackets on a line of its own."""
    if not draft.text.startswith("{", child.start):
        raise CannotEdit("it has an anchor or a tag")
    margin = draft.line_break(key.start) + " " * draft.column(key.start)
    draft.drop(key.start, child.pairs[0][0].start)
    ends = [max(one.end, other.end) for one, other in child.pairs]
    for end, (following, _) in zip(ends, child.pairs[1:], strict=False):
        draft.drop(end, following.start)
        draft.put(following.start, following.start, margin)
    draft.drop(ends[-1], child.end)


def drop(draft: Draft, node: TextNode, pairs: Sequence[Pair]) -> None:
    """Note the edits that take members out; comments behind them stay."""
    kept = [pair for pair in node.pairs if pair not in pairs]
    if not kept:
        draft.drop(node.pairs[0][0].start, draft.content_end(node.pairs[-1]))
        draft.put(node.pairs[0][0].start, node.pairs[0][0].start, "{}")
        return
    for pair in pairs:
        start, end = pair[0].start, draft.content_end(pair)
        comment = draft.comment_in(end)
        if start < kept[0][0].start and not draft.begins_line(node.pairs[0][0].start):
            continue  # what comes first after the dash of a list takes the place of all before it
        if comment is not None:
            draft.drop(start, comment)
        else:
            line = draft.line_start(start)
            draft.drop(draft.line_end(line - 1) if line else 0, draft.line_end(end) if line else draft.next_line(end))
    if kept[0] is not node.pairs[0] and not draft.begins_line(node.pairs[0][0].start):
        draft.drop(node.pairs[0][0].start, kept[0][0].start)


def add(draft: Draft, node: TextNode, name: str, value: str) -> None:
    """Note the edit that puts a member after the last one."""
    key = node.pairs[-1][0]
    end = draft.line_end(draft.content_end(node.pairs[-1]))
    draft.put(
        end, end, f"{draft.line_break(key.start)}{' ' * draft.column(key.start)}{draft.named(node, name)}: {value}"
    )


def listed(draft: Draft, node: TextNode) -> None:
    """Note the edits that make a mapping the only member of a list: lines move with their comments."""
    first, last = node.pairs[0][0].start, node.pairs[-1]
    if node.start != first or not draft.begins_line(first):
        raise CannotEdit("it does not begin a line")
    column = draft.column(first)
    if column - 2 >= _key_above(draft, first):
        draft.put(first - 2, first, "- ")
        return
    draft.put(first, first, "- ")
    for line in draft.lines(
        draft.next_line(first), draft.comments_below(draft.next_line(draft.content_end(last)), column)
    ):
        if not draft.is_blank(line):
            draft.put(line, line, "  ")


_BEFORE_KEY: Final = re.compile(r"[ \t]*(?:- +)*")


def _key_above(draft: Draft, at: int) -> int:
    """Return the column of the key whose value begins in a line of its own."""
    line = draft.line_start(at)
    while line:
        line = draft.line_start(line - 1)
        found = _BEFORE_KEY.match(draft.text, line)
        if found and not draft.is_blank(line) and draft.text[found.end()] != "#":
            return found.end() - line
    return 0


def _lines_of(draft: Draft, node: TextNode, pair: Pair, column: int) -> tuple[int, int]:
    """Return the lines of a member that begins one, with the comments above it."""
    start = draft.comments_above(pair[0].start, column, _end_before(draft, node, pair))
    return start, draft.next_line(draft.content_end(pair))


def _end_before(draft: Draft, node: TextNode, pair: Pair) -> int:
    """Return where the member before one ends, or the mapping begins."""
    at = node.pairs.index(pair)
    return draft.content_end(node.pairs[at - 1]) if at else draft.line_start(node.start)


def step_of(nodes: Sequence[TextNode], draft: Draft) -> int:
    """Return how many columns deeper mappings without brackets stand in each other, in the first that do; 0 if none."""
    waiting = deque(nodes)
    while waiting:
        here = waiting.popleft()
        if here.flow:
            continue  # all in brackets is in brackets
        for key, value in here.pairs:
            if not value.flow and value.pairs:
                return max(draft.column(value.pairs[0][0].start) - draft.column(key.start), 1)
            waiting.append(value)
        waiting.extend(here.items)
    return 0
