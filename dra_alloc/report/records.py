"""
What every format is made of: a report has findings, a finding has sections.

A format knows nothing but these: how a section reads and what it is in JSON
stands in one place, beside its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from dra_alloc.errors import Where

if TYPE_CHECKING:
    from dra_alloc.scenario.picture import Picture

#: Grows when a member of JSON changes its meaning or goes; new members may come without.
SCHEMA_VERSION: Final = 1

#: How bad it is, in SARIF's words; `none` is what is as it should be.
Level = Literal["none", "note", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Section:
    """
    One part of a finding, such as its headline, a tally, facts or fixes.

    `about` is what it tells of; `say` makes its lines, cut to what is told
    without `--verbose` unless asked for all, `shape` its members in JSON.
    """

    kind: str
    about: Any
    say: Callable[[Any, bool], Iterable[str]]
    shape: Callable[[Any], Mapping[str, Any]] = lambda _: {}

    def lines(self, verbose: bool = False) -> Iterator[str]:
        """Yield its lines; what is indented belongs to the line above."""
        yield from self.say(self.about, verbose)

    def members(self) -> Mapping[str, Any]:
        """Return its members in JSON, always complete."""
        return self.shape(self.about)


@dataclass(frozen=True, slots=True)
class Finding:
    """
    What a command says of one thing it was asked about.

    `code` is stable: the reason's code, or the verdict where all is well;
    `where` is the place in the input, as far as it is known. What has no
    `fingerprint` of its own gets one of its file, subject and code. `cause` is
    what a headline alone does not say, in a sentence; empty if there is nothing.
    """

    subject: str
    level: Level
    code: str
    sections: tuple[Section, ...]
    where: Where = field(default_factory=Where)
    fingerprint: str = ""
    cause: str = ""

    @property
    def title(self) -> str:
        """Return the headline with the cause, in a line."""
        headline = next(self.lines(), self.subject)
        return f"{headline}: {self.cause}" if self.cause else headline

    def lines(self, verbose: bool = False) -> Iterator[str]:
        """Yield the lines of its sections."""
        for section in self.sections:
            yield from section.lines(verbose)

    def members(self) -> dict[str, Any]:
        """Return the members of its sections in JSON."""
        return {key: value for section in self.sections for key, value in section.members().items()}


@dataclass(frozen=True, slots=True)
class Report:
    """
    All that a command found; `whole` is the answer as text and JSON have it, around the findings.

    `notes` say what the answer does not look at, or how the input was read: every format has them. `picture` makes
    what pages show of nodes, where the answer is of some.
    """

    findings: tuple[Finding, ...]
    whole: Section
    notes: tuple[str, ...] = ()
    picture: Callable[[], Picture] | None = None
