"""
Texts of manifests with their objects in another version, and nothing else of them changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from yaml import YAMLError

from dra_alloc.errors import Problem, Where
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.convert.objects import Goal, converted, list_version
from dra_alloc.manifest.documents import object_name
from dra_alloc.manifest.edit.block import step_of
from dra_alloc.manifest.edit.changes import change
from dra_alloc.manifest.edit.nodes import Form, TextNode, comments_in, json_nodes, node_at, yaml_nodes
from dra_alloc.manifest.edit.places import CannotEdit, Draft
from dra_alloc.manifest.edit.rewriting import objects_in
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SERVED, names_a_list
from dra_alloc.manifest.make.complaints import Complaints
from dra_alloc.manifest.make.hints import NOT_RENDERED, PASSED_OVER, hint_for_text
from dra_alloc.manifest.make.inspection import Flaw
from dra_alloc.manifest.read.inputs import InputBytes
from dra_alloc.manifest.read.json_reader import looks_like_json, repeated_keys
from dra_alloc.manifest.read.members import says_plain
from dra_alloc.manifest.read.paths import Path, render, with_positions
from dra_alloc.manifest.read.raw import Duplicate, Noticed, RawDocument, TextError

_BY_HAND: Final = "write it in another form, or convert it by hand"
#: A list whose own version changes may hold nothing.
_TYPED_LIST: Final = re.compile("|".join(f"{kind}List" for kind in SERVED).encode())
#: Each reads the whole text.
_MOST_PROOFS: Final = 40


@dataclass(frozen=True, slots=True)
class Change:
    """An object that has another version now: the apiVersion it was written in, and the one it has."""

    where: Where
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ConvertedText:
    """
    A text before and after; after is before where there is a problem.

    `kept` are the apiVersions of objects of resource.k8s.io that stay as they are. What is `unrendered` is a
    template, which the problem says.
    """

    name: str
    before: str
    after: str
    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()
    kept: frozenset[str] = frozenset()
    unrendered: bool = False


def convert_text(source: InputBytes, goal: Goal) -> ConvertedText:
    """
    Return a text whose objects of resource.k8s.io have the versions of the goal.

    What is written by positions is read again: every object has to say what it
    is to say, all others what they said, and every comment has to be there.

    Spec: CONV-34 to CONV-36.
    """
    turning = _Turning(source)
    after = ""
    try:
        if RESOURCE_GROUP.encode() in source.data:
            turning.read(goal)
        after = source.data.decode() if turning.wrong.entries else turning.written()
    except TextError as error:
        hint = error.hint or hint_for_text(source.data, error.line, error.message)
        turning.wrong.add_line(error.message, error.line, hint)
    except UnicodeDecodeError as error:
        turning.wrong.add_line("text is not UTF-8", source.data.count(b"\n", 0, error.start) + 1)
    before = source.data.decode("utf-8", "replace")
    if turning.wrong.entries:
        problems = tuple(turning.wrong.resolved(source.data))
        # One is told by braces where it cannot be read, or in a value that does not fit.
        unrendered = next((each for each in problems if each.hint == NOT_RENDERED or "{{" in each.message), None)
        if unrendered is not None:
            said = Where(file=source.name, line=unrendered.where.line)
            problems = (Problem(PASSED_OVER, said, NOT_RENDERED),)
        return ConvertedText(source.name, before, before, problems=problems, unrendered=unrendered is not None)
    return ConvertedText(source.name, before, after, tuple(turning.changes()), kept=frozenset(turning.kept))


@dataclass(slots=True)
class _Object:
    """An object of a text, with what it says and what it is to say."""

    raw: RawDocument
    old: Any
    new: Any
    version: tuple[str, str]

    @property
    def called(self) -> str:
        metadata = self.old.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        kind = says_plain(self.old, self.raw.list_kind)[1]
        return object_name(kind or "object", names.get("namespace"), names.get("name"))


class _Turning:
    """One text under way."""

    def __init__(self, source: InputBytes) -> None:
        self._data = source.data
        self._name = source.name
        self._is_json = looks_like_json(source.data)
        self._said: list[tuple[Path, Any]] = []
        self._lists: list[tuple[TextNode, Change]] = []
        self._documents: list[TextNode | None] = []
        self._breaks: list[int] = []
        self.turned: list[_Object] = []
        self.kept: set[str] = set()
        self.wrong = Complaints(source.name, DEFAULT_BUDGET.problems_per_file)

    def read(self, goal: Goal) -> None:
        """Read all objects, and find out what they are to become. Raises: TextError."""
        noticed = Noticed()
        try:
            found = list(objects_in(self._data, self._is_json, noticed))
        except TextError as error:
            if not self._is_json:
                raise
            # YAML may begin with a bracket, too.
            self._is_json = False
            try:
                found = list(objects_in(self._data, False, noticed))
            except TextError:
                raise error from None
        for fault in noticed.faults:
            self.wrong.add_line(fault.message, fault.line, fault.hint or hint_for_text(self._data, fault.line))
        doubles = _by_object(noticed, {raw.place for raw, _ in found})
        for raw, value in found:
            self._take(raw, value, goal, doubles.get(raw.place, ()))
        if self.turned or _TYPED_LIST.search(self._data):
            text = self._data.decode()
            self._breaks = [found.start() for found in re.finditer("\n", text)]
            self._documents = json_nodes(text) if self._is_json else yaml_nodes(text)
            self._find_lists(goal)

    def _take(self, raw: RawDocument, value: Any, goal: Goal, doubles: Iterable[Duplicate]) -> None:
        """Note what an object is to say, and what is wrong with it."""
        api_version, kind = says_plain(value, raw.list_kind)
        if names_a_list(kind):  # what is left of one without its members
            after = list_version(api_version, kind, goal)
            self._said.append((raw.place, value if after is None else {**value, "apiVersion": after}))
            return
        made = converted(value, goal, raw.list_kind)
        self._said.append((raw.place, value if made is None else made[0]))
        if made is None:
            return
        if made[0] is value and not made[1]:
            self.kept.add(api_version)
            return
        to = "" if made[1] else goal(kind, api_version.rpartition("/")[2])
        item = _Object(raw, value, made[0], (api_version, f"{RESOURCE_GROUP}/{to}"))
        self.turned.append(item)
        for flaw in (*made[1], *_repeated(raw, value, doubles)):
            self.wrong.add(raw, item.called, flaw)

    def _find_lists(self, goal: Goal) -> None:
        """Note the typed lists whose own version changes."""
        for node in self._documents:
            api_version, kind = _said(node, "apiVersion") or "", _said(node, "kind") or ""
            after = list_version(api_version, kind, goal)
            if node is not None and node.member("items") is not None and after not in (None, api_version):
                self._lists.append((node, Change(self._where(kind, node), api_version, str(after))))

    def written(self) -> str:
        """Return the text with its objects turned, or note which of them cannot be. Raises: TextError."""
        text = self._data.decode()
        if not self.turned and not self._lists:
            return text
        draft, refused = self._drafted(text, self.turned)
        for item, why in refused:
            self._left_alone(item, f": {why}")
        if self.wrong.entries:
            return text
        after = self._proved(draft)
        if after is None:
            self._blame(text)
        return text if after is None else after

    def _drafted(self, text: str, items: Sequence[_Object]) -> tuple[Draft, list[tuple[_Object, str]]]:
        """Return the text with the edits that turn these objects, and which there can be none of, and why."""
        draft, refused = Draft(text, quoted=self._is_json), []
        done: set[int] = set()
        for item in items:
            try:
                self._note(draft, item, done)
            except CannotEdit as error:
                refused.append((item, str(error)))
        for node, each in self._lists:
            pair = node.member("apiVersion")
            if pair is not None:
                change(draft, pair[1], each.before, each.after, done)
        return draft, refused

    def _proved(self, draft: Draft) -> str | None:
        """Return the text with its edits, if it says what it is to say."""
        try:
            after = draft.written()
            return after if self._proves(after) else None
        except (CannotEdit, TextError, YAMLError, UnicodeError):
            return None

    def _note(self, draft: Draft, item: _Object, done: set[int]) -> None:
        node = node_at(self._documents, item.raw.place)
        if node is None:
            raise CannotEdit("it is merged in from elsewhere")
        draft.step = step_of([node], draft) or draft.step
        change(draft, node, item.old, item.new, done)

    def _left_alone(self, item: _Object, why: str = "") -> None:
        said = f"cannot be rewritten so that nothing else of its text changes{why}; the document is left as it is"
        self.wrong.add(item.raw, item.called, Flaw((), said, _BY_HAND))

    def _proves(self, text: str) -> bool:
        """Return whether a text says what it is to say, and has the comments that were there. Raises: TextError."""
        data, noticed = text.encode(), Noticed()
        found = [(raw.place, value) for raw, value in objects_in(data, self._is_json, noticed)]
        if noticed.faults or found != self._said:
            return False
        bare = self._is_json or ("#" not in text and b"#" not in self._data)
        if bare and not self._lists:
            return True
        documents = json_nodes(text) if self._is_json else yaml_nodes(text)
        versions = [_said(node, "apiVersion") for node in documents]
        lists = {id(node): each.after for node, each in self._lists}
        wanted = [lists.get(id(node), version) for node, version in zip(self._documents, versions, strict=True)]
        if bare or wanted != versions:
            return wanted == versions
        return comments_in(text, documents) == comments_in(self._data.decode(), self._documents)

    def _blame(self, text: str) -> None:
        """
        Note the objects that cannot be turned by themselves, or all where only together they cannot.

        They are looked for by halves; where too many are wrong, the last groups are named as wrong together.
        """
        said, before = self._said, dict(_objects_by_place(self._data, self._is_json))
        groups, alone, asked = deque([self.turned]), list[_Object](), 0
        while groups and asked < _MOST_PROOFS:
            group = groups.popleft()
            staying = {item.raw.place for item in self.turned} - {item.raw.place for item in group}
            self._said = [(place, before[place] if place in staying else value) for place, value in said]
            asked += 1
            draft, refused = self._drafted(text, group)
            if not refused and self._proved(draft) is not None:
                continue
            if len(group) > 1:
                groups += (group[: len(group) // 2], group[len(group) // 2 :])
            else:
                alone += group
        self._said = said
        together = [item for group in groups for item in group] or ([] if alone else self.turned)
        for item in alone:
            self._left_alone(item)
        for item in together:
            self._left_alone(item, " together with the others")

    def changes(self) -> Iterator[Change]:
        """Yield what was changed: objects, and lists none of whose members is."""
        for item in self.turned:
            node = node_at(self._documents, item.raw.place)
            if node is not None:
                yield Change(self._where(item.called, node), *item.version)
        inside = {id(self._documents[int(item.raw.place[0])]) for item in self.turned}
        yield from (each for node, each in self._lists if id(node) not in inside)

    def _where(self, called: str, node: TextNode) -> Where:
        """Return where an object says its version, or begins."""
        pair = node.member("apiVersion")
        at = pair[0].start if pair is not None else node.start
        line = bisect_left(self._breaks, at)
        column = at - (self._breaks[line - 1] if line else -1)
        return Where(called, "", self._name, line + 1, column)


def _objects_by_place(data: bytes, is_json: bool) -> Iterator[tuple[Path, Any]]:
    for raw, value in objects_in(data, is_json, Noticed()):
        yield raw.place, value


def _by_object(noticed: Noticed, places: Collection[Path]) -> dict[Path, list[Duplicate]]:
    """Return the keys that are given twice by the place of the object that they are in."""
    found: dict[Path, list[Duplicate]] = {}
    for double in noticed.duplicates:
        above = (double.place[:depth] for depth in range(1, len(double.place)))
        place = next((each for each in above if each in places), None)
        if place is not None:
            found.setdefault(place, []).append(double)
    return found


def _repeated(raw: RawDocument, value: Any, doubles: Iterable[Duplicate]) -> Iterator[Flaw]:
    """Yield the keys that an object gives twice; those of JSON are looked for here."""
    found: list[tuple[Path, int]] = [(double.place[len(raw.place) :], double.line) for double in doubles]
    if raw.text is not None:
        found = [(path, raw.line + line - 1) for path, line in repeated_keys(raw.text, value)]
    for steps, line in found:
        path = with_positions(steps, value)
        yield Flaw(path, f'duplicate field "{render(path)}"', line=line)


def _said(node: TextNode | None, name: str) -> str | None:
    """Return the word of a member of a document; the empty one for a list or mapping."""
    pair = node.member(name) if node is not None and node.form is Form.MAP else None
    return pair[1].real.word if pair is not None else None
