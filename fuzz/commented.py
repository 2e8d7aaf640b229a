"""
Manifests as people write them: an object as YAML with comments, quotes, brackets and blank lines wherever they may be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

_SAID: Final = ("why", "TODO: 1", "{not: yaml}", "été \U0001f600", "- a: b", "# twice", "'quoted'", "")
_NO_WORDS: Final = ("true", "false", "null", "y", "n", "yes", "no", "on", "off")
#: Members that are moved, with those that they are moved out of or into; what is around them is no place for a comment.
_MOVED_OUT: Final = ("basic", "exactly")


@dataclass(slots=True)
class Style:
    """
    How a file is written: `step` columns a level, `ending` of lines, how `often` it has comments, quotes and blanks.

    In a `tidy` one no comment stands at the edges of what conversion moves, where there and back it may change sides.
    """

    random: Random
    step: int = 2
    dashed: bool = True
    ending: str = "\n"
    often: float = 0.3
    quoted: bool = False
    blank: str = ""
    tidy: bool = True
    moved: bool = False

    @classmethod
    def drawn(cls, random: Random) -> Style:
        """Return one at random."""
        ending = random.choice(("\n", "\n", "\r\n"))
        often, blank = random.choice((0, 0.1, 0.4)), random.choice(("", "", " "))
        step, dashed, quoted = random.choice((1, 2, 2, 4)), random.random() < 0.5, random.random() < 0.1
        return cls(random, step, dashed, ending, often, quoted, blank)


def commented(style: Style, value: Mapping[str, Any]) -> str:
    """Return an object as the text of one document."""
    lines = _map(style, value, 0)
    marks = ["---"] if style.random.random() < 0.5 else []
    text = style.ending.join([*_comments(style, 0), *marks, *lines])
    return text + style.ending * style.random.choice((0, 1, 1, 1, 2))


def _map(style: Style, value: Mapping[str, Any], column: int) -> list[str]:
    """Return the lines of a mapping that has members, at a column."""
    lines: list[str] = []
    for name, member in value.items():
        # The first line of what is moved may have come from outside, or stay there.
        first_inside = style.moved
        style.moved = style.tidy and name in _MOVED_OUT
        if not (first_inside or style.moved):
            lines += _comments(style, column)
        lines += _member(style, name, member, column)
        style.moved = False
    return lines


def _member(style: Style, name: str, value: Any, column: int) -> list[str]:
    key = f"{' ' * column}{_key(style, name)}:"
    moved = style.tidy and name in _MOVED_OUT
    behind = "" if moved else _behind(style)
    flat = not moved and (not value or style.random.random() < 0.2)
    if isinstance(value, dict) and value and not flat:
        return [key + behind, *_map(style, value, column + style.step)]
    if isinstance(value, list) and value and not flat and all(isinstance(each, dict) and each for each in value):
        dash = column + (style.step if style.dashed else 0)
        return [key + behind, *(line for each in value for line in _item(style, each, dash))]
    if isinstance(value, str) and " " in value and style.random.random() < 0.5:
        inner = " " * (column + style.step)
        return [f"{key} |-{behind}", f"{inner}{value}"]
    return [f"{key} {_inline(style, value)}{behind}"]


def _item(style: Style, value: Mapping[str, Any], column: int) -> list[str]:
    lines = _map(style, value, column + 2)
    first = next(at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    above = [line[2:] if line.strip() else line for line in lines[:first]]
    return [*above, f"{' ' * column}- {lines[first][column + 2 :]}", *lines[first + 1 :]]


def _inline(style: Style, value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, dict):
        blank = style.blank if value else ""
        members = (f"{_key(style, name)}: {_inline(style, member)}" for name, member in value.items())
        return f"{{{blank}{', '.join(members)}{blank}}}"
    if isinstance(value, list):
        return f"[{', '.join(_inline(style, each) for each in value)}]"
    return _word(style, value) if isinstance(value, str) else json.dumps(value)


def _key(style: Style, name: str) -> str:
    plain = name.isalnum() and name not in _NO_WORDS
    return name if plain and not style.quoted else json.dumps(name, ensure_ascii=False)


def _word(style: Style, word: str) -> str:
    """Return a word, plain where it can be, or quoted."""
    ways = [json.dumps(word, ensure_ascii=False), "'" + word.replace("'", "''") + "'"]
    plain = word.replace("-", "").replace(".", "").replace("/", "").isalnum() and word[0].isalpha()
    if plain and word not in _NO_WORDS:
        ways += [word] * 4
    return style.random.choice(ways)


def _comments(style: Style, column: int) -> list[str]:
    """Return lines that say nothing: comments at a column, and empty ones."""
    lines: list[str] = []
    while style.random.random() < style.often:
        said = style.random.choice(_SAID)
        lines.append(style.random.choice((f"{' ' * column}# {said}", f"{' ' * column}#{said}", "")))
    return lines


def _behind(style: Style) -> str:
    """Return a comment behind what a line says, or nothing."""
    return f"  # {style.random.choice(_SAID)}" if style.random.random() < style.often else ""
