"""
How text reports lay out lines and lists: at most 80 columns but for places and words, no list without an end.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:  # help lays out lines, too, and loads no models
    from dra_alloc.cluster.settings import Settings

_WIDTH: Final = 80
_LONG_LINE: Final = 200
_MOST_NAMES: Final = 6
_MOST_CHARACTERS: Final = 240
#: How many items of a list are told in full without `--verbose`.
MOST: Final = 3
UNLIMITED: Final = 1_000_000
#: A file with its line and column, before what is said of it: editors open it if it is whole.
_PLACE: Final = re.compile(r"\A(?:dra-alloc: )?(?:(?!: ).)*?:\d+(?::\d+)?(?=: )")
_KEPT: Final = "\0"
#: What build servers obey: GitHub's `::` at the beginning of a line, `##[`, `##vso[` and `##teamcity[` anywhere.
_COMMAND: Final = re.compile(r"^([^\S\n]*):(?=:)|#(?=#\w*\[)", re.MULTILINE)


def printable(text: str) -> str:
    """
    Return the text with control and direction characters spelt out; line breaks stay.

    Names in manifests are strangers' text: they must not steer a terminal.
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode() for each in text
    )


def inert(text: str, spelt: str = r"\x", end: str = "") -> str:
    """Return lines as they are printed, with a character spelt out of whatever a build server takes as a command."""
    if "::" not in text and "##" not in text:
        return text
    return _COMMAND.sub(lambda found: f"{spelt}23{end}" if found[1] is None else f"{found[1]}{spelt}3a{end}", text)


def json_text(value: object) -> str:
    """Return JSON as it is printed, in which nothing is taken as a command."""
    return inert(_indented(value), r"\u00") + "\n"


def _indented(value: object) -> str:
    text = json.dumps(value, check_circular=False)
    try:
        # Python's own encoder takes three times as long once it indents.
        return msgspec.json.format(text, indent=2)
    except msgspec.DecodeError:  # what is no JSON to other readers, either: half a character, a number without an end
        return json.dumps(value, indent=2)


def wrapped_if_long(line: str) -> str:
    """Return a line of an error, broken at 80 columns if it is very long and quotes no selector."""
    return wrapped(line) if len(line) > _LONG_LINE and not line.startswith(" | ") else line


def wrapped(line: str) -> str:
    """Return an indented line broken at 80 columns, what follows indented deeper."""
    line = printable(line)
    text = line.lstrip()
    return "\n".join(wrapped_at(text.rstrip(), " " * (len(line) - len(text))))


def wrapped_at(text: str, indent: str, deeper: str = "    ") -> list[str]:
    """Return the lines of a text with an indent, what follows the first `deeper`; no place and no word is broken."""
    if 0 < len(text) <= _WIDTH - len(indent) and text.isprintable() and text.strip() == text:
        return [indent + text]
    lines = textwrap.wrap(
        _PLACE.sub(lambda found: found[0].replace(" ", _KEPT), printable(text), count=1),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + deeper,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(_KEPT, " ") for line in lines]


def cut(text: str, verbose: bool) -> str:
    """Return the text, without its middle if it is long: selectors can have thousands of characters."""
    if verbose or len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[: _MOST_CHARACTERS - 40]} ... {text[-30:]}"


def whose_answer(settings: Settings) -> str:
    """Return whose answer something is: a release, its allocator, and semantics that are not upstream's."""
    semantics = "" if settings.semantics == "upstream" else f", {settings.semantics} semantics"
    return f"Kubernetes {settings.release}, {settings.profile().channel} allocator{semantics}"


def plural(count: int, noun: str) -> str:
    """Return the count with its noun: 1 node, 2 nodes."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def some(names: Sequence[str], verbose: bool) -> str:
    """Return the first few names and how many more there are."""
    most = UNLIMITED if verbose else _MOST_NAMES
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def cut_to(lines: Sequence[str], most: int) -> Sequence[str]:
    """Return the first lines, no more than have room, without a heading of what is left out."""
    heights = [height([line]) for line in lines]
    left = sum(heights)
    if left <= most:
        return lines
    kept = len(lines) - 1
    left -= heights[kept]
    while kept > 1 and left >= most:
        kept -= 1
        left -= heights[kept]
    while kept > 1 and _indent(lines[kept]) > _indent(lines[kept - 1]):
        kept -= 1
    return [*(lines[:kept] if kept > 1 else [_first_clauses(lines[0], most - 1)]), "(cut to a screen; -v shows all)"]


def _first_clauses(line: str, most: int) -> str:
    """Return as much of a line as has room, up to the end of a clause."""
    clauses = line.split("; ")
    while len(clauses) > 1 and height(["; ".join(clauses)]) > most:
        clauses.pop()
    return "; ".join(clauses)


def height(lines: Sequence[str]) -> int:
    """Return how many lines they are on a screen, below their headline."""
    return sum(wrapped(f"  {line}").count("\n") + 1 for line in lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
