"""
From what a document says and what it is to say to the edits of its text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from dra_alloc.manifest.edit import block, flow
from dra_alloc.manifest.edit.nodes import Form, TextNode
from dra_alloc.manifest.edit.places import CannotEdit, Draft

Pair = tuple[TextNode, TextNode]


def change(draft: Draft, node: TextNode, old: Any, new: Any, done: set[int]) -> None:
    """
    Note the edits that make a value of a text another.

    What moves between the levels of a mapping keeps its text. Nodes that are `done` are left alone: what aliases
    share is changed once.

    Raises: CannotEdit.
    """
    node = node.real
    if old == new or id(node) in done:
        return
    done.add(id(node))
    if node.form is Form.MAP and isinstance(old, dict) and isinstance(new, dict):
        _change_members(draft, node, old, new, done)
    elif node.form is Form.LIST and isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for item, one, other in zip(node.items, old, new, strict=True):
            change(draft, item, one, other, done)
    elif node.form is Form.WORD and isinstance(old, str) and isinstance(new, str):
        _replace(draft, node, new)
    elif node.form is Form.WORD and isinstance(new, str) and isinstance(old, int):
        draft.put(node.start, node.end, json.dumps(new))
    elif node.form is Form.MAP and isinstance(old, dict) and new == [old]:
        (flow if node.flow else block).listed(draft, node)
    elif node.form is Form.WORD and isinstance(new, dict) and list(new.values()) == [old]:
        flow.wrap(draft, node, *new)
    else:
        raise CannotEdit("a value would have to be written anew")


def _change_members(draft: Draft, node: TextNode, old: dict[str, Any], new: dict[str, Any], done: set[int]) -> None:
    gone = {name: member for name, member in old.items() if name not in new}
    came = {name: member for name, member in new.items() if name not in old}
    _rename(draft, node, gone, came)
    for name, member in new.items():
        if name in old and (pair := node.member(name)):
            entering = _entering(node, gone, old[name], member)
            if entering and _enter(draft, node, entering, pair[1]):
                old = {**old, name: {**old[name], **{key.word: gone.pop(key.word) for key, _ in entering}}}
            if _is_wrapped(old[name], member) and pair[1].real.form is Form.MAP:
                flow.unwrap(draft, pair)
            else:
                change(draft, pair[1], old[name], member, done)
    way = flow if node.flow else block
    for name, inner in list(came.items()):
        if isinstance(inner, dict) and inner and inner.keys() <= gone.keys():
            moved = [pair for pair in node.pairs if pair[0].word in inner]
            for key, value in moved:
                change(draft, value, gone[key.word], inner[key.word], done)
            if moved and node.member("<<") and len(moved) < len(inner):
                raise CannotEdit("<< would no longer give all that it gives")
            if moved:  # else all are merged in, and move where they stand
                way.nest(draft, node, moved, name)
            gone = {each: member for each, member in gone.items() if each not in inner}
            del came[name]
    for name, inner in list(gone.items()):
        if isinstance(inner, dict) and inner and inner.keys() <= came.keys():
            if pair := node.member(name):
                _lift(draft, (pair, way), inner, came, done)
            came = {each: member for each, member in came.items() if each not in inner}
            del gone[name]
    if left := [pair for name in gone if (pair := node.member(name))]:
        way.drop(draft, node, left)
    for name, member in came.items():
        way.add(draft, node, name, json.dumps(member))


def _entering(node: TextNode, gone: dict[str, Any], old: Any, new: Any) -> list[Pair]:
    """Return the members that go and come as they are in a mapping beside them."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return []
    names = {name for name, member in gone.items() if name in new and name not in old and new[name] == member}
    return [pair for pair in node.pairs if pair[0].word in names]


def _enter(draft: Draft, node: TextNode, moved: list[Pair], target: TextNode) -> bool:
    """Note the edits that put members as they are written into a mapping beside them; return whether that is known."""
    if target.of is not None or not target.pairs:
        return False
    if not node.flow and not target.flow and all(draft.begins_line(key.start) for key, _ in moved):
        block.enter(draft, node, moved, target)
        return True
    if all(value.form is Form.WORD and "\n" not in draft.text[key.start : value.end] for key, value in moved):
        for key, value in moved:
            (flow if target.flow else block).add(draft, target, key.word, draft.text[value.start : value.end])
        (flow if node.flow else block).drop(draft, node, moved)
        return True
    return False


def _is_wrapped(old: Any, new: Any) -> bool:
    """Return whether a word is to be taken out of the mapping around it."""
    return isinstance(old, dict) and not isinstance(new, dict) and list(old.values()) == [new]


def _rename(draft: Draft, node: TextNode, gone: dict[str, Any], came: dict[str, Any]) -> None:
    """Note the edits that give members other names, and take these out of what goes and comes."""
    for before, after in list(zip(gone, came, strict=False)) if len(gone) == len(came) else ():
        pair = node.member(before)
        if gone[before] == came[after] and pair is not None and pair[0].of is None:
            _replace(draft, pair[0], after)
            del gone[before], came[after]


def _lift(draft: Draft, at: tuple[Pair, Any], old: dict[str, Any], new: dict[str, Any], done: set[int]) -> None:
    """Note the edits that put the members of a member in its place, each changed to what it becomes there."""
    pair, way = at
    if pair[1].of is not None:
        raise CannotEdit("an alias stands there")
    for key, value in pair[1].pairs:
        if key.word in old:
            change(draft, value, old[key.word], new[key.word], done)
    way.unnest(draft, pair)


_PROPERTIES: Final = re.compile(r"(?:[&!]\S*\s+)*")


def _replace(draft: Draft, node: TextNode, word: str) -> None:
    """Note the edit that writes another word, quoted as the one before; anchor and tag stay."""
    properties = _PROPERTIES.match(draft.text, node.start, node.end)
    start = properties.end() if properties else node.start
    quote = draft.text[start : start + 1]
    if quote in ("|", ">"):
        raise CannotEdit("it is a block of text")
    quoted = {'"': json.dumps(word), "'": "'" + word.replace("'", "''") + "'"}
    draft.put(start, node.end, quoted.get(quote, word))
