"""
What a question can end with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dra_alloc.api import AllocationResult
from dra_alloc.problem.publishing import published
from dra_alloc.rules import Pick


@dataclass(frozen=True, slots=True)
class Stage:
    """
    What one engine did: its work, in its own unit, and its verdict.

    Search engines count steps, CP-SAT its deterministic units.
    """

    engine: str
    work: float
    verdict: str


@dataclass(frozen=True, slots=True)
class Work:
    """
    What the answer cost: recursive search steps, and which engine gave it.

    `stages` lists what each engine that was asked did, in order.
    """

    steps: int = 0
    engine: str = "first-fit"
    stages: tuple[Stage, ...] = ()


class Solved:
    """
    Every claim got its devices; one result per claim, in order.

    Results and picks may be given as functions; then they are made when they
    are first looked at, and kept: every thread gets the same.
    """

    __slots__ = ("_picks", "_results", "work")
    __match_args__ = ("results", "picks", "work")

    def __init__(
        self,
        results: tuple[AllocationResult, ...] | Callable[[tuple[Pick, ...]], tuple[AllocationResult, ...]],
        picks: tuple[Pick, ...] | Callable[[], tuple[Pick, ...]],
        work: Work,
    ) -> None:
        self._results = results
        self._picks = picks
        self.work = work

    @property
    def picks(self) -> tuple[Pick, ...]:
        """Return the picks in order."""
        picks = self._picks
        return picks if isinstance(picks, tuple) else published(self, "_picks", picks())

    @property
    def results(self) -> tuple[AllocationResult, ...]:
        """Return the results, one per claim."""
        results = self._results
        return results if isinstance(results, tuple) else published(self, "_results", results(self.picks))

    def __repr__(self) -> str:
        return f"Solved({self.results!r}, {self.picks!r}, {self.work!r})"


@dataclass(frozen=True, slots=True)
class NoFit:
    """No way to allocate on this node; `text` is upstream's error where it gives one, else empty."""

    work: Work
    text: str = ""


@dataclass(frozen=True, slots=True)
class Aborted:
    """
    Upstream ends the whole scheduling attempt with this error.

    `code` is a stable reason code; with `on_node` only this node is given up.
    """

    text: str
    code: str
    work: Work
    on_node: bool = False


@dataclass(frozen=True, slots=True)
class OutOfBudget:
    """The budget ran out before the answer was known."""

    work: Work
    text: str = ""


SolveOutcome = Solved | NoFit | Aborted | OutOfBudget
