"""
Whether some order of the workloads fits where the one they came in does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from dra_alloc.api import Pod
from dra_alloc.cluster.attempts.scheduling import Saved
from dra_alloc.errors import first_few
from dra_alloc.pods.groups import group_name
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.check import check
from dra_alloc.scenario.checking import Checking
from dra_alloc.scenario.gang.gang import can_place
from dra_alloc.scenario.gang.types import Member, Verdict
from dra_alloc.scenario.prepare.pipeline import Prepared, prepare
from dra_alloc.scenario.what_if.asking import OneSide
from dra_alloc.scenario.what_if.pod_counts import WorkloadName
from dra_alloc.work import is_spent, sparing

#: So many workloads are asked at most, each after some others.
ORDER_TRIES: Final = 2_000


class OrderVerdict(StrEnum):
    """What is known of orders: the one at hand fits, another does, none does, or it is not known."""

    AS_GIVEN = "as given"
    FOUND = "another order"
    NONE = "no order"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """
    The verdict, the order that fits, how many workloads were asked after others, and why it is not known.

    Workloads of one group are asked together, and stand together.
    """

    verdict: OrderVerdict
    order: tuple[WorkloadName, ...] = ()
    tried: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Workloads that are asked together, with the names of their pods and claims."""

    workloads: tuple[WorkloadName, ...]
    names: frozenset[str]


def any_order(side: OneSide, options: CheckOptions, tries: int = ORDER_TRIES) -> AnyOrder:
    """
    Return whether everything that a side asks for fits in some order of its workloads.

    First it is tried to ask whoever is refused earlier; then all orders, up to so many `tries`. That none fits is
    known, too, where not all can be placed at once. What is found is asked once more, by a check of its own.

    Spec: ORDER-1 to ORDER-3.
    Raises: as :func:`check` does.
    """
    if not any(count.refused or count.undecided for count in side.counts.values()):
        return AnyOrder(OrderVerdict.AS_GIVEN)
    asked = {each.name for each in side.check.placements}
    barred = [name.name for name, count in side.counts.items() if any(each.name not in asked for each in count.asked)]
    if barred:
        return AnyOrder(OrderVerdict.NONE, why=f"{first_few(barred)}: not asked, as something is wrong with it")
    settings, dump, units = side.state.settings, side.state.dump, _units(side)
    options = replace(options, settings=settings, reasons=False)
    given = Prepared(side.manifests, dump, settings, options.namespace, taught=options.taught)
    trying = _Trying(prepare(given).required(), options, tries)
    found = trying.earlier(units)
    if found is None and trying.cannot_at_once():
        return AnyOrder(OrderVerdict.NONE, (), trying.tried, "not all can have their devices at once")
    found = trying.every(units) if found is None else found
    if found is None:
        return AnyOrder(OrderVerdict.UNDECIDED if trying.doubt else OrderVerdict.NONE, (), trying.tried, trying.doubt)
    again = check(side.manifests, dump, replace(options, turns=tuple([each.names for each in found])))
    if any(each.verdict != "allocated" for each in again.placements):
        return AnyOrder(OrderVerdict.UNDECIDED, (), trying.tried, "what was found did not hold when asked once more")
    return AnyOrder(OrderVerdict.FOUND, tuple([name for each in found for name in each.workloads]), trying.tried)


def _units(side: OneSide) -> list[_Unit]:
    """Return what is asked together: the pods of a workload, and workloads with pods of one group."""
    groups = {each.name: group_name(each.pod) for each in side.check.pods}
    found: list[_Unit] = []
    for name, count in side.counts.items():
        names = frozenset(each.name for each in count.asked)
        of = {groups[each] for each in names if groups.get(each)}
        alike = [each for each in found if of & {groups.get(other) for other in each.names}]
        if alike:
            workloads = (*(other for each in alike for other in each.workloads), name)
            first = found.index(alike[0])
            found[first] = _Unit(workloads, names.union(*(each.names for each in alike)))
            found = [each for number, each in enumerate(found) if number == first or each not in alike]
        elif names:
            found.append(_Unit((name,), names))
    return found


class _Trying:
    """Orders under trial on one cluster that fills up and is emptied; `doubt` is why an order may have been missed."""

    def __init__(self, prepared: Prepared, options: CheckOptions, tries: int) -> None:
        self._prepared = prepared
        self._checking = Checking(prepared, options)
        self._left = tries
        self.tried = 0
        self.doubt = ""
        self._checking.ask_others()

    def earlier(self, units: Sequence[_Unit]) -> Sequence[_Unit] | None:
        """Return an order that fits, of those in which whoever is refused is asked first the next time."""
        order, seen = tuple(units), set[tuple[_Unit, ...]]()
        while order not in seen and not self._is_over():
            seen.add(order)
            start = self._saved()
            refused = next((each for each in order if self._is_over() or not self._fits(each)), None)
            self._go_back(start)
            if refused is None:
                return order
            order = (refused, *(each for each in order if each is not refused))
        self.doubt = ""  # what was left undecided is asked again
        return None

    def every(self, units: Sequence[_Unit]) -> Sequence[_Unit] | None:
        """Return the first order that fits, of all of them; None, too, where the tries or the budget are over."""
        path: list[_Unit] = []
        levels = [(self._saved(), list(units))]
        while levels:
            saved, left = levels.pop()
            self._go_back(saved)
            if not left:
                path = path[: len(levels) - 1] if levels else []
                continue
            if self._is_over():
                self.doubt = f"there are more orders than the {self.tried:,} workloads that were asked after others"
                return None
            unit = left.pop(0)
            levels.append((self._saved(), left))
            if self._fits(unit):
                path = [*path[: len(levels) - 1], unit]
                rest = [each for each in units if each not in path]
                if not rest:
                    return path
                levels.append((self._saved(), rest))
        return None

    def cannot_at_once(self) -> bool:
        """Say whether the devices that all ask for cannot be had together, whoever is asked first. Spec: ORDER-2."""
        if self._prepared.rollouts:
            return False  # pods that go on the way leave room
        own = [
            (each.name, tuple([it for it in each.claims if not isinstance(it, str) and it.status.allocation is None]))
            for each in self._prepared.subjects
        ]
        with sparing():
            return can_place(self._prepared.cluster, [Member(*each) for each in own if each[1]]) is Verdict.NONE

    def _fits(self, unit: _Unit) -> bool:
        self.tried += 1
        subjects = [each for each in self._prepared.subjects if each.name in unit.names]
        verdicts = {each.verdict for each in self._checking.asked(subjects, ())}
        if "undecided" in verdicts:
            self.doubt = "the budget ran out on some pods"
        return verdicts <= {"allocated"}

    def _is_over(self) -> bool:
        return self.tried >= self._left or is_spent()

    def _saved(self) -> tuple[Saved, Mapping[str, Pod]]:
        scheduling = self._checking.scheduling
        return scheduling.saved(), dict(scheduling.there)

    def _go_back(self, saved: tuple[Saved, Mapping[str, Pod]]) -> None:
        scheduling = self._checking.scheduling
        scheduling.go_back(saved[0])
        scheduling.there = dict(saved[1])
