"""
From paths to objects: every document read, every problem reported at once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import msgspec

from dra_alloc.api import ResourceSlice
from dra_alloc.errors import ManifestError, Problem, Where, first_few, in_brief
from dra_alloc.manifest.budget import DEFAULT_BUDGET, YAML_INSTEAD, ReadBudget
from dra_alloc.manifest.convert.conversion import document_path
from dra_alloc.manifest.documents import Documents, Place, object_name
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SLICE, Kind, Unserved, assumed_version, names_a_list, recognise
from dra_alloc.manifest.lost import Losses
from dra_alloc.manifest.make.complaints import Complaints
from dra_alloc.manifest.make.hints import hint_for_text
from dra_alloc.manifest.make.holdings import Holding, holding_of, holdings_of
from dra_alloc.manifest.make.inspection import Flaw, in_words, number_of
from dra_alloc.manifest.make.layouts import Layout, Layouts
from dra_alloc.manifest.make.objects import Made, make
from dra_alloc.manifest.make.records import slice_from_json
from dra_alloc.manifest.make.workloads import kept_as_written
from dra_alloc.manifest.manner import AS_KUBECTL, Manner, Validate
from dra_alloc.manifest.progress import watched
from dra_alloc.manifest.read.inputs import InputBytes, SkippedInput, UnreadableInput, sources, without_empty
from dra_alloc.manifest.read.json_reader import looks_like_json, plain_from_json, read_json, repeated_keys
from dra_alloc.manifest.read.members import completed, cut, is_foreign, says, says_plain, unlisted
from dra_alloc.manifest.read.paths import Path, holds, render, tokens, with_positions
from dra_alloc.manifest.read.raw import Noticed, RawDocument, TextError
from dra_alloc.manifest.read.texts import Text
from dra_alloc.manifest.read.yaml_reader import read_yaml
from dra_alloc.manifest.repetition import Repeated, without_repetitions
from dra_alloc.manifest.snapshot.header import SnapshotError, looks_like_snapshot
from dra_alloc.manifest.snapshot.packed import unpack
from dra_alloc.manifest.validate.objects import validate_object

_NO_DASHES: Final = 'if another document begins there, put a line with "---" before it'
_FAST_VERSION: Final = f"{RESOURCE_GROUP}/v1"


def load(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    stdin: BinaryIO | None = None,
    validate: Validate = "strict",
    repeated: Repeated = "replace",
    limits: ReadBudget = DEFAULT_BUDGET,
) -> Documents:
    """
    Return the objects in files, folders and standard input (``-``), v1-shaped and with defaults.

    `validate` and `repeated` are those of `Manner`. Types are always checked; the
    API server's further rules are not, since a dump was admitted already: see
    `validate_object`.

    Spec: CONV-1 to CONV-26, DEF-1 to DEF-4, YAML, JSON. Raises: ManifestError, with every problem of every file.
    """
    documents, problems = load_readable(paths, stdin=stdin, manner=Manner(validate, repeated), limits=limits)
    if problems:
        raise ManifestError(problems)
    return documents


def load_readable(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    stdin: BinaryIO | None = None,
    manner: Manner = AS_KUBECTL,
    limits: ReadBudget = DEFAULT_BUDGET,
) -> tuple[Documents, tuple[Problem, ...]]:
    """Return the objects that could be read, as `load` does, what is `lost`, and every problem with that."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    loading = _Loading(manner, limits)
    with gc_paused(settle=True):
        for source in without_empty(sources(given, stdin, limits)):
            if isinstance(source, UnreadableInput):
                loading.problems.append(source.problem)
                loading.lost.anything = True
            elif isinstance(source, SkippedInput):
                loading.warnings.append(source.warning)
            else:
                loading.read(source)
        return loading.documents(), tuple(loading.problems)


@dataclass(slots=True)
class _Loading:
    """One call of `load` under way."""

    manner: Manner
    budget: ReadBudget
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    found: list[tuple[Kind, Any, Place]] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    texts: dict[str, Text] = field(default_factory=dict)
    layouts: dict[int, tuple[ResourceSlice, Layout]] = field(default_factory=dict)
    layouts_made: Layouts = field(default_factory=Layouts)
    holdings: dict[int, Holding] = field(default_factory=dict)
    lost: Losses = field(default_factory=Losses)
    passed_over: list[str] = field(default_factory=list)

    def read(self, source: InputBytes) -> None:
        """Read one file to its end, or to where it cannot be read on."""
        if looks_like_snapshot(source.data):
            self._unpack(source)
            return
        reading = _Reading(self, source, as_json=looks_like_json(source.data))
        reading.run()
        if reading.is_json and reading.nothing_read and len(source.data) <= YAML_INSTEAD:
            instead = _Reading(self, source, as_json=False)
            instead.run()
            reading = reading if instead.nothing_read else instead
        self.problems += reading.wrong.resolved(source.data)
        self.warnings += reading.doubtful.resolved(source.data)
        self.lost.take(reading.lost)
        self.texts[source.name] = Text.of(source, is_json=reading.is_json)

    def _unpack(self, source: InputBytes) -> None:
        """Take the objects of a snapshot."""
        try:
            objects, unknown, doubt = unpack(source)
            self.unknown.update(unknown)
            if doubt:
                self.warnings.append(Problem(doubt, Where(file=source.name)))
            for kind, item, place, outline in objects:
                self.keep(kind, item, place)
                if outline is not None:
                    self.layouts[id(item)] = item, Layout(self.layouts_made.shared(outline))
        except SnapshotError as error:
            self.problems.append(Problem(str(error), Where(file=source.name), error.hint))
            self.lost.anything = True

    def keep(self, kind: Kind, item: Any, place: Place) -> None:
        """Take an object, and note of a claim what it holds."""
        self.found.append((kind, item, place))
        if kind.member == "claims":
            self.holdings[id(item)] = holding_of(item)

    def count(self, kind: Kind | None, api_version: str, name: str) -> None:
        """Count what nobody reads, or `admit` alone."""
        if kind is None or kind.member == "queueing":
            self.unknown[f"{in_brief(api_version)} {in_brief(name)}"] += 1

    def documents(self) -> Documents:
        """Return what could be read."""
        kept, problems, warnings = without_repetitions(self.found, self.manner.repeated)
        self.problems += problems
        if self.passed_over:
            passed_over = first_few(self.passed_over)
            self.warnings.append(Problem(f"passed over, having neither kind nor metadata nor spec: {passed_over}"))
        members: dict[str, list[Any]] = {}
        for kind, item, _ in kept:
            members.setdefault(kind.member, []).append(item)
        read = {name: tuple(items) for name, items in members.items()}
        return Documents(
            **read,
            unknown=MappingProxyType(dict(self.unknown)),
            warnings=(*self.warnings, *warnings),
            places=MappingProxyType({id(item): place for _, item, place in kept}),
            texts=MappingProxyType(self.texts),
            layouts=MappingProxyType(self.layouts),
            noted=holdings_of(read.get("claims", ()), self.holdings),
            lost=self.lost.done(),
        )


class _Reading:
    """One file under way."""

    def __init__(self, loading: _Loading, source: InputBytes, as_json: bool) -> None:
        self._loading = loading
        self._source = source
        self._findings = Noticed()
        self.is_json = as_json
        self._slice_before = False
        self._faults_before = 0
        self._ours = False
        # Documents that are no objects, of a file that nobody named: it may be of another program.
        self._foreign: list[tuple[RawDocument, Any]] | None = [] if source.found else None
        self.nothing_read = True  # the text failed before its first object
        self.wrong = Complaints(source.name, loading.budget.problems_per_file)
        self.doubtful = Complaints(source.name, loading.budget.problems_per_file)
        self.lost = Losses()

    def run(self) -> None:
        """Take every document of the file."""
        data, budget = self._source.data, self._loading.budget
        raws = read_json(data) if self.is_json else read_yaml(data, budget, self._findings)
        try:
            for raw in watched(raws, self._source):
                self.nothing_read = False
                self._check_list(raw)
                # Before asking whether it is a list, which reads the text once more.
                if self._slice_before and self._take_slice(raw):
                    continue
                for member in unlisted(raw, 0):
                    self._take(member)
                    if self.wrong.too_many:
                        self.lost.anything = True
                        return
        except TextError as error:
            self.wrong.add_line(error.message, error.line, error.hint or hint_for_text(data, error.line, error.message))
            self.lost.anything = True
        for fault in self._findings.faults:
            self.wrong.add_line(fault.message, fault.line, fault.hint or hint_for_text(data, fault.line))
        self._settle_foreign()

    def _settle_foreign(self) -> None:
        """Pass over a file of a folder in which nothing is an object of the API, or complain about what is not."""
        foreign, self._foreign = self._foreign, None
        if not foreign:
            return
        if self._ours or self.lost.anything or self._findings.faults:
            for raw, value in foreign:
                self._take_value(raw, value, None)
        else:
            self._loading.passed_over.append(self._source.name)

    def _take(self, raw: RawDocument) -> None:
        """Read one object and keep it, count it, or complain about it."""
        if self._slice_before and self._take_slice(raw):
            return
        api_version, name = says(raw)
        try:
            kind = None if names_a_list(name) else recognise(api_version, name)
        except Unserved as error:
            self._report(raw, object_name(name, None, None), Flaw(("apiVersion",), str(error), error.hint))
            self.lost.add(name, raw.value)
            return
        if kind is not None and kind.member == "slices" and not self._slice_before and self._take_slice(raw):
            return
        value = raw.value
        if raw.text is not None:
            try:
                value = plain_from_json(raw.text)
            except TextError as error:
                hint = error.hint or hint_for_text(bytes(raw.text), error.line, error.message)
                self.wrong.add_line(error.message, raw.line + (error.line or 1) - 1, hint)
                self.lost.add(name, None)
                return
        self._take_value(raw, value, kind)

    def _take_slice(self, raw: RawDocument) -> bool:
        """
        Keep a v1 slice in JSON the quickest way; say whether that was possible.

        After one slice the next object is tried as a slice without asking what
        it is: dumps are long runs of slices, and asking reads the text once more.
        """
        self._slice_before = False
        if raw.text is None or self._loading.manner.release is not None:
            return False
        try:
            item = slice_from_json(raw.text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return False
        if completed(item.api_version, item.kind, raw.list_kind) != (_FAST_VERSION, SLICE.name):
            return False
        if not item.kind:
            item = msgspec.structs.replace(item, api_version=_FAST_VERSION, kind=SLICE.name)  # type: ignore[type-var]
        self._slice_before = True
        self._check_repeated(raw, item, lambda: object_name(SLICE.name, None, item.metadata.name))
        self._keep(raw, SLICE, item, "v1")
        self._loading.layouts[id(item)] = item, self._loading.layouts_made.of(item.spec.devices)
        return True

    def _take_value(self, raw: RawDocument, value: Any, kind: Kind | None) -> None:
        """Keep, count or complain about an object whose values were read."""
        faulty = len(self._findings.faults) > self._faults_before
        self._faults_before = len(self._findings.faults)
        if self._foreign is not None and len(raw.place) == 1 and is_foreign(value):
            self._foreign.append((raw, value))
            return
        self._ours = True
        if not isinstance(value, dict):
            if value is not None or self.is_json or len(raw.place) > 1:
                said = f"expected an object with apiVersion and kind, got {in_words(value)}"
                self._report(raw, render(raw.place[1:]), Flaw((), said, number=number_of(value)))
                self.lost.anything = True
            return
        api_version, kind_name = says_plain(value, raw.list_kind)
        metadata = value.get("metadata")
        names = metadata if isinstance(metadata, dict) else {}
        called = object_name(kind_name or "object", names.get("namespace"), names.get("name"))
        if len(raw.place) > 1 and not (kind_name and names.get("name")):
            called = f"{called} in {render(raw.place[1:])}"
        if names_a_list(kind_name):
            self._check_items(raw, value, called)
            return
        if not api_version and self._loading.manner.assumes and (api_version := assumed_version(kind_name)):
            self.doubtful.add(raw, called, Flaw((), f"apiVersion is missing, read as {api_version}"))
            kind = recognise(api_version, kind_name)
        missing = [name for name, given in (("apiVersion", api_version), ("kind", kind_name)) if not given]
        if missing:
            for each in missing:
                self._report(raw, called, Flaw((each,), f"{each} is missing or no string"))
            self.lost.add(kind_name, value)
            return
        kind = kind or kept_as_written(api_version, kind_name, value)
        self._loading.count(kind, api_version, kind_name)
        if kind is None:
            self.lost.anything |= faulty
            return
        made = self._made(raw, value, (kind, version := api_version.rpartition("/")[2]), called)
        if self._judge(raw, called, made) and not faulty:
            self._keep(raw, kind, made.item, version)
        else:
            self.lost.add(kind.name, value)

    def _check_items(self, raw: RawDocument, value: Any, called: str) -> None:
        """Complain about what stands where a list has its members, and of a list that was cut; none are needed."""
        items, left_out = value.get("items"), cut(value)
        if left_out is not None:
            self.doubtful.add(raw, called, Flaw(("metadata", "continue"), *left_out))
        if items is not None:
            said = f"expected a list, got {in_words(items)}"
            self._report(raw, called, Flaw(("items",), said, number=number_of(items)))
            self.lost.anything = True

    def _made(self, raw: RawDocument, value: Any, written_as: tuple[Kind, str], called: str) -> Made:
        """Make an object of its values, and complain about what shows on the way."""
        kind, version = written_as
        self._check_repeated(raw, value, lambda: called)
        made = make(value, kind, version, self._loading.budget.nesting, self._loading.manner.release)
        self._judge_rest(raw, value, (kind.name, version), made)
        return made

    def _judge(self, raw: RawDocument, called: str, made: Made) -> bool:
        """Report what was found wrong with an object; say whether it can be used."""
        for finding in made.findings:
            self._report(raw, called, finding)
        strict = self._loading.manner.validate == "strict"
        return made.item is not None and not (strict and made.findings)

    def _judge_rest(self, raw: RawDocument, value: Any, written_as: tuple[str, str], made: Made) -> None:
        """Report what else is wrong with an object that could not be made, where it was written."""
        if made.rest is None:
            return
        wrong = [tokens(finding.path) for finding in made.findings]
        for problem in validate_object(made.rest):
            path = document_path(tokens(problem.where.path), *written_as)
            # What is missing, and what stands around a wrong value or in it, may be right once that is.
            if holds(value, path) and all(one[: len(path)] != path and path[: len(one)] != one for one in wrong):
                self.wrong.add_problem(raw, problem, path)

    def _check_repeated(self, raw: RawDocument, value: Any, called: Callable[[], str]) -> None:
        """Report keys that the object gives twice."""
        if self._loading.manner.validate == "ignore":
            return
        for path, line in self._repeated(raw, value):
            shown = render(with_positions(path, value))
            hint = _NO_DASHES if path in (("kind",), ("apiVersion",)) else ""
            finding = Flaw(path, f'duplicate field "{shown}"', hint, unknown_field=True, line=line)
            self._report(raw, called(), finding)

    def _check_list(self, raw: RawDocument) -> None:
        """Complain about keys that a list gives twice; its members were handed out, and only some may be left."""
        if not isinstance(raw.value, dict) or not isinstance(raw.value.get("items"), list):
            return
        called = object_name(says_plain(raw.value, None)[1] or "List", None, None)
        for double in self._findings.duplicates:
            if double.place[:-1] == raw.place:
                key = double.place[-1]
                said = f'duplicate field "{key}"'
                self._report(raw, called, Flaw((key,), said, _NO_DASHES, unknown_field=True, line=double.line))
                self.lost.anything = True

    def _repeated(self, raw: RawDocument, value: Any) -> list[tuple[Path, int]]:
        """Return the repeated keys of an object with their lines; those of YAML were noted while it was read."""
        if raw.text is not None:
            return [(path, raw.line + line - 1) for path, line in repeated_keys(raw.text, value)]
        noted, depth = self._findings.duplicates, len(raw.place)
        mine = [(double.place[depth:], double.line) for double in noted if double.place[:depth] == raw.place]
        noted[:] = [double for double in noted if double.place[:depth] != raw.place]
        return mine

    def _report(self, raw: RawDocument, called: str, finding: Flaw) -> None:
        """Note a finding as a problem or a warning, as the caller asked."""
        if not finding.unknown_field or self._loading.manner.validate == "strict":
            self.wrong.add(raw, called, finding)
        elif self._loading.manner.validate == "warn":
            self.doubtful.add(raw, called, finding)

    def _keep(self, raw: RawDocument, kind: Kind, item: Any, version: str) -> None:
        self._loading.keep(kind, item, Place(self._source.name, raw.place, raw.line, kind.name, version))
