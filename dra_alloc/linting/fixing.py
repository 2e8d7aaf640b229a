"""
Texts in which what lint found is mended: one edit a step, each read again, and what cannot be proved is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from dra_alloc.linting.codes import rule_named
from dra_alloc.linting.rules import LintFinding, LintRule
from dra_alloc.linting.running import LintAsked, Linted, linted
from dra_alloc.manifest import Documents, Manner, load_readable
from dra_alloc.manifest.edit.places import CannotEdit
from dra_alloc.manifest.edit.rewriting import objects_in, rewritten
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.raw import Noticed, TextError

#: What is mended may show what stood behind it.
_ROUNDS: Final = 6
#: Each of these reads the whole text, where they cannot all be mended at once.
_ONE_BY_ONE: Final = 100


@dataclass(frozen=True, slots=True)
class MendedText:
    """A text before and after, and how many findings were mended in it."""

    name: str
    before: str
    after: str
    count: int


@dataclass(frozen=True, slots=True)
class _Mending:
    """How findings are mended: as they were asked for, and whether those that change the meaning, too."""

    asked: LintAsked
    unsafe: bool

    def allowed(self, findings: Sequence[LintFinding]) -> list[LintFinding]:
        """Return those that are to be mended."""
        kinds = ("safe", "unsafe") if self.unsafe else ("safe",)
        return [each for each in findings if each.fix in kinds and each.written is not None]


def mended(read: Documents, found: Linted, asked: LintAsked, *, unsafe: bool = False) -> Iterator[MendedText]:
    """
    Yield the texts in which something can be mended; mending them once more would change nothing.

    Spec: LINT-15 to LINT-18.
    """
    mending = _Mending(asked, unsafe)
    by_file: dict[str, list[LintFinding]] = {}
    for each in mending.allowed(found.findings):
        by_file.setdefault(each.where.file, []).append(each)
    for name, findings in by_file.items():
        text = read.texts.get(name)
        data = text.whole() if text is not None else None
        if text is None or data is None:
            continue
        after, count = _settled(data, text.is_json, findings, mending)
        if after != data:
            yield MendedText(name, data.decode("utf-8", "replace"), after.decode(), count)


def _settled(data: bytes, is_json: bool, findings: Sequence[LintFinding], mending: _Mending) -> tuple[bytes, int]:
    """Return a text in which nothing is left to mend, and how much was."""
    count = 0
    for _ in range(_ROUNDS):
        after, done = _mended_once(data, is_json, findings)
        if after == data:
            break
        data, count = after, count + done
        if mending.asked.known:
            break  # what is new then is not told from what is in the baseline
        manner = Manner("strict", "keep", mending.asked.settings.profile().release)
        again = linted(load_readable(["-"], stdin=BytesIO(data), manner=manner), mending.asked)
        findings = mending.allowed(again.findings)
    return data, count


def _mended_once(data: bytes, is_json: bool, findings: Sequence[LintFinding]) -> tuple[bytes, int]:
    """Return a text with as many findings mended as can be: at once, or else one after the other."""
    try:
        return _stepped(data, is_json, findings), len(findings)
    except CannotEdit:
        done = 0
        for each in findings[:_ONE_BY_ONE] if len(findings) > 1 else ():
            try:
                data, done = _stepped(data, is_json, [each]), done + 1
            except CannotEdit:
                continue
        return data, done


def _stepped(data: bytes, is_json: bool, findings: Sequence[LintFinding]) -> bytes:
    """Return a text with these findings mended, step by step. Raises: CannotEdit."""
    mends = [(each, rule_named(each.code)) for each in findings]
    for step in range(max((len(rule.mend) for _, rule in mends if rule is not None), default=0)):
        data = rewritten(data, is_json, _new(data, is_json, mends, step))
    return data


def _new(
    data: bytes, is_json: bool, mends: Sequence[tuple[LintFinding, LintRule | None]], step: int
) -> dict[Path, Any]:
    """Return what objects are to say after a step. Raises: CannotEdit."""
    wanted = {each.written.place for each, _ in mends if each.written is not None}
    try:
        said = {raw.place: value for raw, value in objects_in(data, is_json, Noticed()) if raw.place in wanted}
    except TextError as error:
        raise CannotEdit(f"it cannot be read: {error}") from None
    new: dict[Path, Any] = {}
    for each, rule in mends:
        if rule is not None and each.written is not None and step < len(rule.mend):
            place = each.written.place
            made = rule.mend[step](new.get(place, said.get(place)), each.path, each.hint)
            if made is None:
                raise CannotEdit("it is not there any more")
            new[place] = made
    return new
