"""
The problems of one file: collected while it is read, given lines at the end, never more than the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from dra_alloc.errors import Problem, Where, shortened
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.make.inspection import Flaw, number_in_words
from dra_alloc.manifest.read.json_numbers import JsonFloat
from dra_alloc.manifest.read.paths import Path, render, tokens
from dra_alloc.manifest.read.positions import Steps, positions_in_json, positions_in_yaml, words_in_yaml
from dra_alloc.manifest.read.raw import RawDocument
from dra_alloc.manifest.read.yaml_scalars import stands_for

# Messages show texts of the input cut; this is for those that other packages make.
_MESSAGE_SHOWN: Final = 4_000


#: Line and, if known, column.
_Place = tuple[int, int | None]


@dataclass(frozen=True, slots=True)
class _Entry:
    raw: RawDocument | None
    path: Path
    problem: Problem
    number: int | JsonFloat | None = None


@dataclass(slots=True)
class Complaints:
    """Problems (or warnings) of one file in the order in which they were found."""

    file: str
    limit: int
    entries: list[_Entry] = field(default_factory=list)
    dropped: int = 0

    def add(self, raw: RawDocument, name: str, finding: Flaw) -> None:
        """Note what is wrong with an object; its line is looked up later."""
        where = Where(name, render(finding.path), self.file, finding.line or raw.line, None, raw.place)
        self._keep(
            _Entry(
                None if finding.line else raw,
                finding.path,
                Problem(shortened(finding.message, _MESSAGE_SHOWN), where, finding.hint),
                finding.number,
            )
        )

    def add_problem(self, raw: RawDocument, problem: Problem, path: Path) -> None:
        """Note a problem with an object, of what stands at a path of the document."""
        where = replace(problem.where, file=self.file, line=raw.line, holder=raw.place)
        self._keep(_Entry(raw, path, replace(problem, where=where)))

    def add_line(self, message: str, line: int | None, hint: str = "") -> None:
        """Note what is wrong at a line of the text."""
        self._keep(
            _Entry(None, (), Problem(shortened(message, _MESSAGE_SHOWN), Where(file=self.file, line=line), hint))
        )

    @property
    def too_many(self) -> bool:
        """Return whether nobody counts any more."""
        return self.dropped >= DEFAULT_BUDGET.problems_counted

    def _keep(self, entry: _Entry) -> None:
        if len(self.entries) < self.limit:
            self.entries.append(entry)
        else:
            self.dropped += 1

    def resolved(self, data: bytes) -> list[Problem]:
        """Return the problems with lines, in the order of the text."""
        self._quote_as_written(data)
        places = {**self._places_in_yaml(data), **self._places_in_json()}
        problems = [_at(entry.problem, places.get(number)) for number, entry in enumerate(self.entries)]
        problems.sort(key=lambda problem: problem.where.line or 0)
        if self.dropped:
            text = f"and {self.dropped:,} more problem{'s' if self.dropped > 1 else ''} in this file"
            text += ", which is read no further" if self.too_many else ""
            problems.append(Problem(text, Where(file=self.file), count=self.dropped))
        return problems

    def _quote_as_written(self, data: bytes) -> None:
        """Let messages show numbers of YAML text as they are written: read, 99999999999999999999 is a rounded float."""
        steps = {
            position: tokens(entry.raw.place) + tokens(entry.path)
            for position, entry in enumerate(self.entries)
            if entry.number is not None and entry.raw is not None and entry.raw.text is None
        }
        words = words_in_yaml(data, steps.values()) if steps else {}
        for position, path in steps.items():
            entry = self.entries[position]
            word = words.get(path)
            if word is not None and stands_for(word, entry.number):
                read, written = number_in_words(repr(entry.number)), number_in_words(word)
                problem = replace(entry.problem, message=entry.problem.message.replace(read, written, 1))
                self.entries[position] = replace(entry, problem=problem)

    def _places_in_yaml(self, data: bytes) -> dict[int, _Place]:
        """Return the places of all entries that have a path in YAML text, in one reading."""
        steps = {
            position: tokens(entry.raw.place) + tokens(entry.path)
            for position, entry in enumerate(self.entries)
            if entry.raw is not None and entry.raw.text is None and (entry.path or len(entry.raw.place) > 1)
        }
        places = positions_in_yaml(data, steps.values()) if steps else {}
        return {position: places[path] for position, path in steps.items() if path in places}

    def _places_in_json(self) -> dict[int, _Place]:
        """Return the places of all entries that have a path in a JSON text, each text read once."""
        texts: dict[int, tuple[RawDocument, dict[int, Steps]]] = {}
        for position, entry in enumerate(self.entries):
            if entry.raw is not None and entry.raw.text is not None and entry.path:
                _, steps = texts.setdefault(id(entry.raw), (entry.raw, {}))
                steps[position] = ("0", *tokens(entry.path))
        found: dict[int, _Place] = {}
        for raw, steps in texts.values():
            places = positions_in_json(bytes(raw.text or b""), steps.values())
            there = {number: places[path] for number, path in steps.items() if path in places}
            # Where on its line the text itself begins is not known.
            found |= {
                number: (raw.line + line - 1, column if line > 1 else None) for number, (line, column) in there.items()
            }
        return found


def _at(problem: Problem, place: _Place | None) -> Problem:
    if place is None or place[0] < (problem.where.line or 0):  # the mark of a document stands before its object
        return problem
    return replace(problem, where=replace(problem.where, line=place[0], column=place[1]))
