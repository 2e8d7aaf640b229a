"""
Findings that somebody wants not to hear of again: comments with a code and a reason, and annotations in rendered files.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from yaml import YAMLError

from dra_alloc.errors import Where, did_you_mean, in_brief
from dra_alloc.linting.codes import RULES, rule_named
from dra_alloc.linting.codes.own import UNKNOWN, UNREASONED, UNUSED
from dra_alloc.linting.looking import Linting
from dra_alloc.linting.rules import FAMILIES, LintFinding, LintRule
from dra_alloc.linting.written import WrittenObject, at
from dra_alloc.manifest.edit.nodes import comment_places, yaml_nodes

#: Says the same of a whole object: ``CODE[,CODE] reason``, several in several lines.
ANNOTATION: Final = "dra-alloc/ignore"
_COMMENT: Final = re.compile(r"#\s*dra-alloc:\s*ignore(?:\[(?P<codes>[^\]]*)\])?\s*(?P<reason>.*)")
_ANNOTATED: Final = re.compile(r"(?P<codes>[\w, ]*?\w)\s+(?P<reason>\S.*)|(?P<bare>.*)")
_MARK: Final = b"dra-alloc:"


@dataclass(eq=False, slots=True)
class _Suppression:
    """The lines of a file, or the object, in which findings of some codes are suppressed; `used` are the codes met."""

    where: Where
    codes: tuple[str, ...]
    reason: str
    lines: range = range(0)
    written: WrittenObject | None = None
    used: set[str] = field(default_factory=set)

    def covers(self, finding: LintFinding) -> bool:
        """Return whether it is about a finding of its file and codes, and note that."""
        inside = finding.written is self.written if self.written is not None else finding.where.line in self.lines
        if inside:
            self.used.add(finding.code)
        return inside


def without_suppressed(
    linting: Linting, findings: Sequence[LintFinding], looked_for: Iterable[str]
) -> tuple[list[LintFinding], int]:
    """
    Return what is not suppressed, with what is wrong with suppressions themselves, and how many are suppressed.

    A code is called unused only where it was looked for, in objects that were made and of which no error is left.

    Spec: LINT-11 to LINT-13.
    """
    known = list(_suppressions(linting))
    if not known:
        return list(findings), 0
    about: dict[tuple[str, str], list[_Suppression]] = {}
    for one in known:
        for code in one.codes if one.reason else ():
            about.setdefault((one.where.file, code), []).append(one)
    left = [
        each for each in findings if not sum(one.covers(each) for one in about.get((each.where.file, each.code), ()))
    ]
    codes = set(looked_for)
    own = [each for one in known for each in _misspelt(one) if each.code in codes]
    if UNUSED.code in codes:
        hiding = _Hiding(linting, left)
        own += [each for one in known for each in _unused(one, hiding, codes)]
    return [*left, *own], len(findings) - len(left)


def _misspelt(one: _Suppression) -> Iterator[LintFinding]:
    """Yield what is wrong with a suppression, whatever there is to suppress."""
    if not one.codes or not one.reason:
        yield _of(UNREASONED, one, "a suppression names codes and a reason", "# dra-alloc: ignore[CODE] reason")
    for code in one.codes:
        if rule_named(code) is None:
            hint = did_you_mean(code, [rule.code for rule in RULES]) or "`dra-alloc rule` lists the codes"
            yield _of(UNKNOWN, one, f"there is no code {in_brief(code)}: it suppresses nothing", hint)


def _unused(one: _Suppression, hiding: _Hiding, looked_for: set[str]) -> Iterator[LintFinding]:
    left = [code for code in one.codes if code in looked_for and code not in one.used] if one.reason else []
    if left and not hiding.something_in(one):
        for code in left:
            if not hiding.unasked(code):
                yield _of(UNUSED, one, f"{code} is suppressed here, and there is none", "take it out")


def _of(rule: LintRule, one: _Suppression, said: str, hint: str) -> LintFinding:
    return LintFinding(said, one.where, hint, code=rule.code, severity=rule.severity, written=one.written)


class _Hiding:
    """Where a finding may be missing for something else that is wrong: objects that are not made, or have errors."""

    def __init__(self, linting: Linting, left: Sequence[LintFinding]) -> None:
        self._published, self._looks_back = bool(linting.published.devices), linting.previous is not None
        unknown = linting.documents.unknown  # of these nothing is made
        made = {
            each for each in linting.written if linting.is_stored(each) or f"{each.api_version} {each.kind}" in unknown
        }
        wrong = {each.written for each in left if each.severity == "error"}
        self._objects = {each for each in linting.written if each in wrong or each not in made}
        self._lines: dict[str, list[range]] = {}
        ends: dict[str, int] = {}
        for each in reversed(linting.written):
            end = ends.get(each.file, sys.maxsize)
            if each in self._objects:
                self._lines.setdefault(each.file, []).append(range(each.line, end))
            ends[each.file] = max(each.line, 1)

    def something_in(self, one: _Suppression) -> bool:
        """Return whether there is such an object where something is suppressed."""
        if one.written is not None:
            return one.written in self._objects
        return any(
            one.lines.start < lines.stop and lines.start < one.lines.stop
            for lines in self._lines.get(one.where.file, ())
        )

    def unasked(self, code: str) -> bool:
        """Return whether a code may need devices, or what was there before, and that is not known."""
        rule = rule_named(code)
        if rule is None or rule.takes is not None:
            return False
        return (rule.looks_back and not self._looks_back) or (FAMILIES[code[:2]].needs_cluster and not self._published)


def _suppressions(linting: Linting) -> Iterator[_Suppression]:
    for name, text in linting.documents.texts.items():
        if not text.is_json and text.data is not None and _MARK in text.data:
            yield from _in_comments(name, text.data.decode("utf-8", "replace"))
    for each in linting.written:
        said = at(each.value, ("metadata", "annotations", ANNOTATION))
        where = Where(each.called, f"metadata.annotations[{ANNOTATION}]", each.file, each.line)
        for line in said.splitlines() if isinstance(said, str) else ():
            found = _ANNOTATED.fullmatch(line.strip())
            if line.strip() and found is not None:
                codes = _codes(found["codes"] or found["bare"])
                yield _Suppression(where, codes, found["reason"] or "", written=each)


def _codes(text: str | None) -> tuple[str, ...]:
    return tuple(each for each in re.split(r"[\s,]+", (text or "").strip()) if each)


def _in_comments(name: str, text: str) -> Iterator[_Suppression]:
    try:
        documents = yaml_nodes(text)
    except YAMLError:
        return
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    blocks = _blocks_below(lines)
    for start, comment in comment_places(text, documents):
        found = _COMMENT.match(comment)
        if found is not None:
            number = bisect_left(starts, start + 1) - 1
            column = start - starts[number]
            where = Where("", "", name, number + 1, column + 1)
            alone = not lines[number][:column].strip(" \t-")
            covered = blocks[number] if alone else range(number + 1, number + 2)
            yield _Suppression(where, _codes(found["codes"]), found["reason"].strip(), covered)


def _blocks_below(lines: Sequence[str]) -> dict[int, range]:
    """Return, for each line that is a comment, what begins below it: one block for comments that follow each other."""
    found: dict[int, range] = {}
    waiting: list[int] = []
    opening = True
    for number, line in enumerate(lines):
        if not _says(line):
            waiting.append(number)
            continue
        if waiting:
            found |= dict.fromkeys(waiting, _block(lines, number, opening=opening))
        waiting = [] if line.partition("#")[0].strip(" \t-") else [number]  # as in "- # dra-alloc: ..."
        opening = line.startswith("---")
    return found | dict.fromkeys(waiting, range(len(lines) + 1, len(lines) + 2))


def _block(lines: Sequence[str], first: int, *, opening: bool) -> range:
    """Return the lines, from 1, of what begins in a line: all of a document of which that is the first."""
    if lines[first].startswith("---"):
        return range(first + 1, first + 2)
    indent = -1 if opening else _indent(lines[first])
    member = _is_member(lines[first])
    end = first + 1
    while end < len(lines) and not lines[end].startswith("---"):
        own = _indent(lines[end]) == indent and _is_member(lines[end]) and not member  # a key's list may stand below it
        if _says(lines[end]) and _indent(lines[end]) <= indent and not own:
            break
        end += 1
    return range(first + 1, end + 1)


def _says(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _is_member(line: str) -> bool:
    return f"{line.strip()} ".startswith("- ")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
