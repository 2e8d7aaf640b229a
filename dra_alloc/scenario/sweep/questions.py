"""
What a sweep asks, and what it says of each question: both travel between processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dra_alloc.api import FrozenMap
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.manifest import Validate
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.work import DEFAULT_WORK


@dataclass(frozen=True, slots=True)
class SweepQuestion:
    """
    One change to one cluster, as `what-if` takes it.

    `cluster` are the files of its dump, best a packed snapshot; who answers reads them once for all questions
    that name them. `steps` is a scenario as a document, ``{"steps": [...]}``, whose paths count from `folder`;
    `manifests` and `base` are files that are applied, and what they replace. `budget` is the work that the question
    may take, in units. `called` is what rows call the cluster; else it is called by its files.
    """

    name: str
    cluster: tuple[str, ...]
    steps: Mapping[str, Any] = field(default_factory=FrozenMap)
    manifests: tuple[str, ...] = ()
    base: tuple[str, ...] = ()
    settings: Settings = DEFAULT_SETTINGS
    namespace: str = "default"
    taught: tuple[Taught, ...] = ()
    validate: Validate = "strict"
    budget: int = DEFAULT_WORK
    folder: str = "."
    called: str = ""

    @property
    def shown(self) -> str:
        """What its cluster is called."""
        return self.called or " ".join(self.cluster)


class Difference(NamedTuple):
    """What a change does to one workload, in words of `Fate`: how many of its pods run, are wanted and are evicted."""

    kind: str
    name: str
    fate: str
    ran: int
    wanted_before: int
    runs: int
    wanted: int
    evicted: int
    cause: str = ""


@dataclass(frozen=True, slots=True)
class SweepRow:
    """
    What a sweep says of one question, whose place among all it has.

    `fates` says how many workloads have each fate; `differences` are those that a change makes, the worst first:
    what stays, or did not fit before, is none. `stuck` are pods that hold up a drain, with why,
    and `unsure` those of which the budget leaves that undecided.
    `wrong` is what was wrong with the question, which has no answer
    then; `unanswered` says why there is none though nothing was wrong with it.
    """

    place: int
    name: str
    cluster: str
    release: str
    gates: Mapping[str, bool]
    fates: Mapping[str, int] = field(default_factory=FrozenMap)
    differences: tuple[Difference, ...] = ()
    stuck: Mapping[str, str] = field(default_factory=FrozenMap)
    unsure: Mapping[str, str] = field(default_factory=FrozenMap)
    notes: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unanswered: str = ""

    @classmethod
    def of(cls, place: int, question: SweepQuestion, **said: Any) -> SweepRow:
        """Return the row of a question."""
        settings = question.settings
        return cls(place, question.name, question.shown, settings.release, settings.gates, **said)

    def members(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "place": self.place,
            "scenario": self.name,
            "cluster": self.cluster,
            "release": self.release,
            "gates": dict(self.gates),
            "summary": dict(self.fates),
            "differences": [_members(each) for each in self.differences],
            "stuck": dict(self.stuck),
            "unsure": dict(self.unsure),
            "notes": list(self.notes),
            "wrong": list(self.wrong),
            "unanswered": self.unanswered,
        }


def _members(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.kind,
        "name": difference.name,
        "fate": difference.fate,
        "before": {"running": difference.ran, "wanted": difference.wanted_before},
        "after": {"running": difference.runs, "wanted": difference.wanted},
        "evicted": difference.evicted,
        "cause": difference.cause,
    }


def in_order(rows: Iterable[SweepRow]) -> list[SweepRow]:
    """Return rows in the order of their questions, in whichever they came."""
    return sorted(rows, key=lambda each: each.place)
