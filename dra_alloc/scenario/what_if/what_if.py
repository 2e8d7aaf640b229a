"""
What a change does: every workload before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Final

from dra_alloc.cluster.edits.cluster_state import ClusterState, joined
from dra_alloc.cluster.edits.objects import DELETED
from dra_alloc.cluster.edits.step import Stepping
from dra_alloc.cluster.edits.steps import after_each
from dra_alloc.errors import Problem
from dra_alloc.manifest import Documents
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import Check
from dra_alloc.scenario.what_if.asking import OneSide, asked
from dra_alloc.scenario.what_if.draining import evicted_by_drain
from dra_alloc.scenario.what_if.leaning import bereft, unpublished_notes
from dra_alloc.scenario.what_if.made_anew import MadeAnew
from dra_alloc.scenario.what_if.pod_counts import PodCount, WorkloadName
from dra_alloc.scenario.what_if.quotas import relieved
from dra_alloc.scenario.what_if.reading import Scenario
from dra_alloc.scenario.what_if.shapes import patterns
from dra_alloc.work import evenly

_AS_USUAL: Final = CheckOptions()


class Fate(StrEnum):
    """
    What a change does to a workload.

    Those that are `worse` end a gate; `of` many it reads otherwise than of one.

    `LOST`: fewer of its pods run than before. `GONE`: pods of nobody were
    evicted, which nobody makes anew. `REFUSED`: what is new of it does not fit.
    `BEREFT`: all of it runs, and what its pods need to be made again was taken away.
    `UNDECIDED`: the budget ran out. `LACKING`: as before, not all of it runs.
    `FITS`: it is new, and fits. `GROWS`, `SHRINKS`: it has more or fewer pods,
    and all of them fit. `GAINED`: more of it runs than before. `MOVES`: all of
    its evicted pods find a place. `DELETED`: somebody deleted it. `STAYS`.
    """

    LOST = "no longer fits"
    GONE = "gone for good"
    REFUSED = "does not fit"
    BEREFT = "would not come back"
    UNDECIDED = "undecided"
    LACKING = "did not fit before"
    FITS = "fits"
    GROWS = "grows"
    SHRINKS = "shrinks"
    GAINED = "fits now"
    MOVES = "moves"
    DELETED = "deleted"
    STAYS = "stays"

    @property
    def worse(self) -> bool:
        """Whether it is worse than before, or does not do what was asked for."""
        return self in (Fate.LOST, Fate.GONE, Fate.REFUSED, Fate.BEREFT)

    def of(self, count: int) -> str:
        """Return what becomes of so many."""
        return self.value if count == 1 else _OF_MANY.get(self, self.value)


_OF_MANY: Final = {
    Fate.LOST: "no longer fit",
    Fate.REFUSED: "do not fit",
    Fate.FITS: "fit",
    Fate.GROWS: "grow",
    Fate.SHRINKS: "shrink",
    Fate.GAINED: "fit now",
    Fate.MOVES: "move",
    Fate.STAYS: "stay",
}


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """
    One workload before and after; `evicted` are its pods that lost their place, with why.

    `is_there` says that it is still there after the change, though it may want no pods; `lacks` what its pods would
    need to be made again.
    """

    subject: WorkloadName
    before: PodCount
    after: PodCount
    evicted: Mapping[str, str] = field(default_factory=dict)
    is_there: bool = True
    lacks: str = ""

    @property
    def fate(self) -> Fate:
        """What the change does to it."""
        was, now = self.before, self.after
        if not now.wanted and not self.is_there:
            is_gone = self.subject.kind == "Pod" and self.evicted and DELETED not in self.evicted.values()
            return Fate.GONE if is_gone else Fate.DELETED
        could_run = now.running + len(now.undecided) + len(now.old)
        if len(now.refused) > len(was.refused):
            return Fate.LOST if could_run < was.running else Fate.REFUSED
        if now.undecided:
            return Fate.UNDECIDED
        if now.refused:  # of fewer pods that it wants fewer may run, but no fewer than these
            return Fate.LOST if could_run < min(was.running, now.wanted) else Fate.LACKING
        if was.undecided and not was.refused:
            return Fate.UNDECIDED
        return self._all_run()

    def _all_run(self) -> Fate:
        was, now = self.before, self.after
        if self.lacks and now.wanted:
            return Fate.BEREFT
        if was.wanted < now.wanted:
            return Fate.GROWS if was.wanted else Fate.FITS
        if was.refused and now.running > was.running:
            return Fate.GAINED
        if was.wanted > now.wanted:
            return Fate.SHRINKS
        return Fate.MOVES if self.evicted and now.placed else Fate.STAYS


@dataclass(frozen=True, slots=True)
class WhatIf:
    """
    The changes of all workloads, the cluster before and after them, and pods that a drain does not get away.

    `unsure` are those of which it is not known whether it does; `now` is what was asked after the change.
    """

    changes: tuple[WorkloadChange, ...]
    before: Check
    after: Check
    notes: tuple[str, ...] = ()
    stuck: Mapping[str, str] = field(default_factory=dict)
    unsure: Mapping[str, str] = field(default_factory=dict)
    now: OneSide | None = field(default=None, repr=False)

    def count(self, fate: Fate) -> int:
        """Return how many workloads have that fate."""
        return sum(each.fate is fate for each in self.changes)


def after_steps(
    state: ClusterState,
    scenario: Scenario,
    load: Callable[[str], Documents],
    options: CheckOptions = _AS_USUAL,
) -> tuple[ClusterState, tuple[Problem, ...]]:
    """Return the state after the steps of a scenario, in order, and everything that they name and that is not there."""
    drain = partial(evicted_by_drain, start=state, options=options)
    shapes = partial(patterns, scenario.shapes)
    return after_each(state, scenario.steps, lambda: Stepping(load, shapes, drain), scenario.file)


def asked_before(before: ClusterState, options: CheckOptions) -> OneSide:
    """Return the side before a change, with the part of the budget that it has beside the other one."""
    return next(evenly((asked(before, (), {}, options) for _ in range(1)), 2))


def what_if(before: ClusterState, after: ClusterState, options: CheckOptions, was: OneSide | None = None) -> WhatIf:
    """
    Return what becomes of every workload from one state to the other.

    Both are asked the same: what is applied, the pods that wait, and all workloads that are there. `was` is what
    `asked_before` says, where that is known.

    Spec: WHATIF-1, WHATIF-8.
    Raises: as :func:`check` does.
    """
    made = MadeAnew.of(before, after)
    after = relieved(before, after)
    was = asked_before(before, options) if was is None else was
    now = asked(after, made.pods, made.evicted, options, was)
    there = {WorkloadName(each.kind, each.metadata.full_name) for each in joined(after.dump, after.manifests).workloads}
    none, lost = PodCount(), bereft(before, after)
    changes = [
        WorkloadChange(
            each,
            was.counts.get(each, none),
            now.counts.get(each, none),
            made.evicted.get(each, {}),
            each in there,
            lost.get(each, ""),
        )
        for each in dict.fromkeys((*was.counts, *now.counts))
    ]
    told = {each.subject for each in changes if each.fate is Fate.BEREFT}
    others = (f"{why}: {name.name} could make no more pods" for name, why in lost.items() if name not in told)
    notes = (*made.notes(), *others, *unpublished_notes(before, after), *now.notes)
    return WhatIf(tuple(changes), was.check, now.check, notes, after.stuck, after.unsure, now)
